//! Keeps the time of calls.
//!
//! Compiled code compares a counter of the engine, the epoch, with a number of its own in every loop and call. A timer
//! that goes off increments the counter; the running guest then stops and asks whether its time is up. All calls of the
//! process share the timer, which is set to the earliest deadline.
//!
//! On Unix the timer is a signal whose handler does nothing but increment the counter: no thread has to be started for
//! a hook. Elsewhere a thread sleeps until the deadline.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The deadlines of the calls that are running.
static RUNNING: Mutex<Vec<Instant>> = Mutex::new(Vec::new());

/// The deadline of one call; ends when it is dropped.
pub(super) struct Deadline(Instant);

impl Deadline {
    /// Starts the time. The epoch at which the guest stops has to be set before.
    pub(super) fn start(limit: Duration) -> Self {
        let now = Instant::now();
        // A limit beyond what the clock can say is none.
        let at = now
            .checked_add(limit)
            .unwrap_or(now + Duration::from_secs(365 * 24 * 3600));
        let mut running = running();
        if running.iter().all(|other| at < *other) {
            timer::set(at.saturating_duration_since(now));
        }
        running.push(at);
        Self(at)
    }

    /// When the time is up.
    pub(super) fn at(&self) -> Instant {
        self.0
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        let mut running = running();
        if let Some(index) = running.iter().position(|other| *other == self.0) {
            running.swap_remove(index);
        }
        match running.iter().min() {
            None => timer::clear(),
            Some(next) if *next > self.0 => timer::set(next.saturating_duration_since(Instant::now())),
            Some(_) => {}
        }
    }
}

/// After the timer went off for another call: sets it for the next one.
pub(super) fn go_on() {
    let running = running();
    let now = Instant::now();
    if let Some(next) = running.iter().filter(|at| **at > now).min() {
        timer::set(next.saturating_duration_since(now));
    }
}

fn running() -> MutexGuard<'static, Vec<Instant>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn time_is_up() {
    if let Some(engine) = super::precompiled::engine_if_running() {
        engine.increment_epoch();
    }
}

#[cfg(unix)]
mod timer {
    //! `ITIMER_REAL` and its signal.
    #![allow(
        unsafe_code,
        reason = "timers and signal handlers have no safe interface in std or rustix"
    )]

    use std::ptr;
    use std::sync::Once;
    use std::time::Duration;

    /// Goes off after `time`, and every 10 ms from then on until it is set anew: a guest that was between two stores of
    /// its epoch when the signal came is met by the next one.
    pub(super) fn set(time: Duration) {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(install_handler);
        let value = libc::timeval {
            tv_sec: time.as_secs().min(i32::MAX as u64) as _,
            // Zero would switch the timer off.
            tv_usec: time.subsec_micros().max(1) as _,
        };
        let interval = libc::timeval {
            tv_sec: 0,
            tv_usec: 10_000,
        };
        write(interval, value);
    }

    pub(super) fn clear() {
        let zero = libc::timeval { tv_sec: 0, tv_usec: 0 };
        write(zero, zero);
    }

    fn write(it_interval: libc::timeval, it_value: libc::timeval) {
        let timer = libc::itimerval { it_interval, it_value };
        // SAFETY: the pointer is to a live value, and the old timer is not asked for. Setting a timer fails only for
        // numbers that are no times, so there is no result to look at.
        unsafe {
            libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut());
        }
    }

    extern "C" fn on_signal(_: libc::c_int) {
        super::time_is_up();
    }

    fn install_handler() {
        // SAFETY: the handler increments an atomic number and touches nothing else, so it may run at any point of the
        // program. All fields of the structures are set: zeroed bytes are valid for them, and the mask is made empty.
        // The signal may have been blocked by whoever started us.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
            libc::sigemptyset(&raw mut action.sa_mask);
            libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut());
            let mut alarm: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut alarm);
            libc::sigaddset(&raw mut alarm, libc::SIGALRM);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const alarm, ptr::null_mut());
        }
    }
}

#[cfg(any(not(unix), test))]
#[cfg_attr(unix, allow(dead_code, reason = "compiled in tests so that it cannot rot"))]
mod watchdog {
    //! A thread that sleeps until the deadline.

    use std::sync::{Condvar, Mutex, Once, PoisonError};
    use std::thread;
    use std::time::{Duration, Instant};

    static DEADLINE: Mutex<Option<Instant>> = Mutex::new(None);
    static CHANGED: Condvar = Condvar::new();

    pub(super) fn set(time: Duration) {
        static THREAD: Once = Once::new();
        THREAD.call_once(|| {
            // Without a thread there is no deadline, but still an answer.
            let _ = thread::Builder::new().name("deadline".to_owned()).spawn(watch);
        });
        replace(Instant::now().checked_add(time));
    }

    pub(super) fn clear() {
        replace(None);
    }

    fn replace(deadline: Option<Instant>) {
        *DEADLINE.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
        CHANGED.notify_one();
    }

    fn watch() {
        let mut deadline = DEADLINE.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now = Instant::now();
            deadline = match *deadline {
                None => CHANGED.wait(deadline).unwrap_or_else(PoisonError::into_inner),
                Some(at) if at > now => {
                    let waited = CHANGED.wait_timeout(deadline, at - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => {
                    super::time_is_up();
                    *deadline = now.checked_add(Duration::from_millis(10));
                    deadline
                }
            };
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_watchdog_increments_the_epoch_until_it_is_called_off() {
            let engine = super::super::super::precompiled::engine().unwrap();
            let mut store = wasmtime::Store::new(engine, ());
            store.set_epoch_deadline(1);
            set(Duration::from_millis(5));
            thread::sleep(Duration::from_millis(200));
            clear();
            assert!(DEADLINE.lock().unwrap().is_none());
        }
    }
}

#[cfg(not(unix))]
use watchdog as timer;
