//! An adapter that imports more than the contract, as tool chains for other languages make them.

use hookhost_sdk::{Adapter, Capabilities, Context, Event, EventKind, Fault, Hook, Manifest, Payload};

/// What wit-bindgen makes of the import.
#[allow(
    unsafe_code,
    clippy::undocumented_unsafe_blocks,
    clippy::allow_attributes_without_reason,
    reason = "generated code"
)]
mod foreign {
    wit_bindgen::generate!({
        inline: "
            package test:foreign;
            world extra {
                import wasi:random/random@0.2.0;
            }
            package wasi:random@0.2.0 {
                interface random {
                    get-random-u64: func() -> u64;
                }
            }
        ",
        world: "test:foreign/extra",
        generate_all,
    });
}

/// The guest.
#[derive(Default)]
pub struct ForeignImport;

impl Adapter for ForeignImport {
    const MANIFEST: Manifest = Manifest {
        name: "foreign-import",
        display_name: "Foreign Import",
        description: "Imports what it is not given",
        hooks: &[Hook::known("Pure", "pure")],
        capabilities: Capabilities::HOOKS,
        ..Manifest::EMPTY
    };

    fn parse(&mut self, hook: &str, _: &Payload<'_>, _: &Context) -> Result<Vec<Event>, Fault> {
        let id = match hook {
            "Pure" => "1".to_owned(),
            "Random" => foreign::wasi::random::random::get_random_u64().to_string(),
            _ => return Ok(vec![]),
        };
        Ok(vec![Event::new(EventKind::TurnEnd, id)])
    }
}

hookhost_sdk::export_adapter!(ForeignImport);
