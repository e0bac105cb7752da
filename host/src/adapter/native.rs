//! Adapters as libraries, without a sandbox. The one door to libloading.
//!
//! Such an adapter can do all that the user can: there is no limit on its memory and none on what it touches, and what
//! it prints reaches the agent. So none is loaded but the file that the user's own settings name together with its
//! digest ([`Config::native_adapter`]), and nothing here runs when they name none. `library` checks and loads,
//! `worker` keeps time, `v0_1` speaks the contract line.
//!
//! What is left of the limits: an answer that is too large is not taken, a panic is that call's error, and a call that
//! takes too long is waited for no longer. Its thread cannot be stopped; it runs on until the process ends, which on
//! the hook path is at once. A crash ends the process: a hook then leaves its last words and exits with 0.

mod image;
mod library;
mod v0_1;
mod worker;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Adapter, AdapterError, Answer, FailureKind, Limits};
use crate::config::{Config, NativeAdapter};
use crate::model::Description;
use library::Library;

/// A library that was checked and loaded, and what it says about itself.
#[derive(Clone, Debug)]
pub struct Native {
    library: Arc<Library>,
    pub(super) description: Arc<Description>,
}

impl Native {
    /// Loads the library that the settings name for the adapter `name`, unless this process has done so already.
    ///
    /// # Errors
    /// [`FailureKind::Load`]: the library is not the one whose digest the settings hold, it cannot be loaded, or it is
    /// another adapter. [`FailureKind::Contract`]: it speaks no contract line that this host knows.
    pub(super) fn open(name: &str, named: &NativeAdapter, config: &Config) -> Answer<Self> {
        static OPENED: Mutex<BTreeMap<String, Native>> = Mutex::new(BTreeMap::new());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(native) = opened.get(&named.sha256) {
            return native.clone().checked(name, named);
        }
        let library = Library::load(name, named, config)?;
        let library = Arc::new(library);
        let description = v0_1::NativeAdapter::new(name, Arc::clone(&library), config.limits()).describe()?;
        let native = Self {
            library,
            description: Arc::new(description),
        };
        opened.insert(named.sha256.clone(), native.clone());
        native.checked(name, named)
    }

    /// An instance. Nothing of it runs before the first call.
    pub(super) fn adapter(&self, called: &str, limits: Limits) -> Box<dyn Adapter> {
        Box::new(v0_1::NativeAdapter::new(called, Arc::clone(&self.library), limits))
    }

    /// One adapter's library under another's name would file sessions under the wrong agent.
    fn checked(self, name: &str, named: &NativeAdapter) -> Answer<Self> {
        let own = &self.description.name;
        if own == name {
            return Ok(self);
        }
        Err(AdapterError {
            adapter: name.to_owned(),
            kind: FailureKind::Load,
            message: format!(
                "{} is the adapter {own}. Write [native.{own}] in the settings, in place of [native.{name}]",
                named.file.display()
            ),
        })
    }
}
