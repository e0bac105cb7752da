//! From an [`crate::Adapter`] to the exports of a component, or to the one of a library.

use std::cell::RefCell;

use crate::Manifest;

/// Makes a component's exports of an [`crate::Adapter`].
///
/// Also puts the adapter's name, aliases and wanted environment variables into the custom section `hookhost:adapter`,
/// one `key=value` a line, so that a host knows them without running anything.
///
/// Built for any other target than WebAssembly, the crate's `cdylib` exports one C function instead, whose name holds
/// the contract line. It is left out where panics abort: a library must not end the process that loaded it.
#[macro_export]
macro_rules! export_adapter {
    ($adapter:ty) => {
        const _: () = {
            #[cfg(target_arch = "wasm32")]
            #[unsafe(link_section = "hookhost:adapter")]
            #[used]
            static DECLARATION: [u8; $crate::declaration_len(&<$adapter as $crate::Adapter>::MANIFEST)] =
                $crate::declaration(&<$adapter as $crate::Adapter>::MANIFEST);

            #[cfg(target_arch = "wasm32")]
            type Exported = $crate::component::Exported<$adapter>;
            #[cfg(target_arch = "wasm32")]
            $crate::export_world!(Exported);

            #[cfg(all(not(target_arch = "wasm32"), panic = "unwind"))]
            #[unsafe(export_name = "hookhost_adapter_0_1")]
            unsafe extern "C" fn answer(
                request: *const u8,
                request_length: usize,
                bytes: *const u8,
                bytes_length: usize,
                take: $crate::native::Take,
                to: *mut ::std::ffi::c_void,
            ) -> u32 {
                // SAFETY: both functions ask the same of their caller.
                unsafe { $crate::native::answer::<$adapter>(request, request_length, bytes, bytes_length, take, to) }
            }
        };
    };
}

/// The exports of the whole world.
#[cfg(not(feature = "hooks-only"))]
#[doc(hidden)]
#[macro_export]
macro_rules! export_world {
    ($exported:ident) => {
        $crate::bindings::export_component!($exported with_types_in $crate::bindings);
    };
}

/// The exports of the part that hooks need. The build that wants this part adds the type of the component.
#[cfg(feature = "hooks-only")]
#[doc(hidden)]
#[macro_export]
macro_rules! export_world {
    ($exported:ident) => {
        $crate::bindings::exports::hookhost::adapter::hooks::__export_hookhost_adapter_hooks_0_1_0_cabi!(
            $exported with_types_in $crate::bindings::exports::hookhost::adapter::hooks
        );
    };
}

/// The length of [`declaration`].
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated when the adapter is compiled; a wrong index stops the build"
)]
#[must_use]
pub const fn declaration_len(manifest: &Manifest) -> usize {
    let mut length = "name=\n".len() + manifest.name.len();
    let mut at = 0;
    while at < manifest.aliases.len() {
        length += "alias=\n".len() + manifest.aliases[at].len();
        at += 1;
    }
    at = 0;
    while at < manifest.env.len() {
        length += "env=\n".len() + manifest.env[at].len();
        at += 1;
    }
    length
}

/// The lines that [`export_adapter!`] puts into the component.
#[allow(
    clippy::indexing_slicing,
    reason = "evaluated when the adapter is compiled; a wrong index stops the build"
)]
#[must_use]
pub const fn declaration<const LENGTH: usize>(manifest: &Manifest) -> [u8; LENGTH] {
    let mut out = [0; LENGTH];
    let mut end = line(&mut out, 0, "name=", manifest.name);
    let mut at = 0;
    while at < manifest.aliases.len() {
        end = line(&mut out, end, "alias=", manifest.aliases[at]);
        at += 1;
    }
    at = 0;
    while at < manifest.env.len() {
        end = line(&mut out, end, "env=", manifest.env[at]);
        at += 1;
    }
    out
}

const fn line(out: &mut [u8], at: usize, key: &str, value: &str) -> usize {
    let at = copy(out, at, key.as_bytes());
    let at = copy(out, at, value.as_bytes());
    copy(out, at, b"\n")
}

#[allow(
    clippy::indexing_slicing,
    reason = "evaluated when the adapter is compiled; a wrong index stops the build"
)]
const fn copy(out: &mut [u8], mut at: usize, bytes: &[u8]) -> usize {
    let mut from = 0;
    while from < bytes.len() {
        out[at] = bytes[from];
        at += 1;
        from += 1;
    }
    at
}

/// The glue between wit-bindgen's traits and [`crate::Adapter`].
pub mod component {
    use super::*;
    use crate::bindings::exports::hookhost::adapter::{hooks, identity, registration, sessions, transcripts};
    use crate::bindings::hookhost::adapter::types::HookContext;
    use crate::lines::Reading;
    use crate::{Adapter, Context, Event, Fault, Invocation, Json, Object, Pattern, RegistrationPlan, Scope, Start};
    use std::marker::PhantomData;

    /// The type that implements wit-bindgen's traits for an adapter.
    pub struct Exported<A>(PhantomData<A>);

    // One adapter an instance; a guest has one thread and is never called again before a call has returned. In a
    // library, every thread that calls it is an instance.
    thread_local! {
        static ADAPTER: RefCell<Option<Box<dyn std::any::Any>>> = const { RefCell::new(None) };
    }

    pub(crate) fn with<A: Adapter, T>(call: impl FnOnce(&mut A) -> T) -> T {
        #[cfg(target_arch = "wasm32")]
        report_panics();
        ADAPTER.with_borrow_mut(|slot| {
            let any = slot.get_or_insert_with(|| Box::new(A::default()));
            match any.downcast_mut::<A>() {
                Some(adapter) => call(adapter),
                None => call(&mut A::default()),
            }
        })
    }

    /// Gives up the instance; the next call makes another one.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn forget() {
        ADAPTER.set(None);
    }

    /// A panic's text reaches the host before the trap.
    #[cfg(target_arch = "wasm32")]
    fn report_panics() {
        use crate::bindings::hookhost::adapter::log::{Level, log};
        std::panic::set_hook(Box::new(|info| log(Level::Error, &info.to_string())));
    }

    impl<A: Adapter> identity::Guest for Exported<A> {
        fn describe() -> identity::Description {
            A::MANIFEST.description()
        }
    }

    impl<A: Adapter> hooks::Guest for Exported<A> {
        fn parse(hook: String, payload: String, context: HookContext) -> Result<Vec<Event>, Fault> {
            let context = Context::from(context);
            with::<A, _>(|adapter| {
                let hook = A::MANIFEST.native_hook(&hook);
                match Object::parse(&payload) {
                    Ok(object) => adapter.parse(hook, &object, &context),
                    Err(_) => adapter.parse_other(hook, &payload, &context),
                }
            })
        }

        fn finish(context: HookContext) -> Result<Vec<Event>, Fault> {
            with::<A, _>(|adapter| adapter.finish(&context.into()))
        }

        fn reply(hook: String, message: Option<String>) -> Result<Vec<u8>, Fault> {
            with::<A, _>(|adapter| adapter.reply(A::MANIFEST.native_hook(&hook), message.as_deref()))
        }
    }

    impl<A: Adapter> sessions::Guest for Exported<A> {
        fn session_id(input: String) -> Result<Option<String>, Fault> {
            let object = Json::parse(&input)
                .and_then(|json| json.object().ok_or_else(|| "not an object".to_owned()))
                .map_err(|reason| Fault::Malformed(format!("the hook input is not a JSON object: {reason}")))?;
            with::<A, _>(|adapter| adapter.session_id(&object))
        }

        fn session_dir(repo_path: String, context: Context) -> Result<String, Fault> {
            with::<A, _>(|adapter| adapter.session_dir(&repo_path, &context))
        }

        fn session_file(dir: String, id: String, context: Context) -> Result<Vec<Pattern>, Fault> {
            with::<A, _>(|adapter| adapter.session_file(&dir, &id, &context))
        }

        fn resume_command(id: String) -> Result<String, Fault> {
            with::<A, _>(|adapter| adapter.resume_command(&id))
        }

        fn subagent_transcripts(
            session_ref: String,
            subagents_dir: Option<String>,
            context: Context,
        ) -> Result<Vec<Pattern>, Fault> {
            with::<A, _>(|adapter| adapter.subagent_transcripts(&session_ref, subagents_dir.as_deref(), &context))
        }

        fn transcript_source(session_ref: String, context: Context) -> Result<sessions::TranscriptLocation, Fault> {
            with::<A, _>(|adapter| adapter.transcript_source(&session_ref, &context))
        }
    }

    impl<A: Adapter> transcripts::Guest for Exported<A> {
        type Reading = ExportedReading<A>;
    }

    /// A reading, or the fault that every call of it answers with.
    pub struct ExportedReading<A> {
        reading: RefCell<Result<Box<dyn Reading>, Fault>>,
        adapter: PhantomData<A>,
    }

    impl<A: Adapter> ExportedReading<A> {
        fn call<T>(&self, call: impl FnOnce(&mut dyn Reading) -> Result<T, Fault>) -> Result<T, Fault> {
            match &mut *self.reading.borrow_mut() {
                Ok(reading) => call(reading.as_mut()),
                Err(fault) => Err(fault.clone()),
            }
        }
    }

    impl<A: Adapter> transcripts::GuestReading for ExportedReading<A> {
        fn new(start: Start) -> Self {
            let reading = with::<A, _>(|adapter| adapter.transcript(start));
            Self {
                reading: RefCell::new(reading),
                adapter: PhantomData,
            }
        }

        fn push(&self, chunk: Vec<u8>) -> Result<Vec<crate::Entry>, Fault> {
            self.call(|reading| reading.push(&chunk))
        }

        fn finish(&self) -> Result<Vec<crate::Entry>, Fault> {
            self.call(|reading| reading.finish())
        }

        fn position(&self) -> u64 {
            self.call(|reading| Ok(reading.position())).unwrap_or_default()
        }
    }

    impl<A: Adapter> registration::Guest for Exported<A> {
        fn plan(invocation: Invocation, scope: Scope, context: Context) -> Result<RegistrationPlan, Fault> {
            with::<A, _>(|adapter| adapter.registration(&invocation, scope, &context))
        }
    }
}
