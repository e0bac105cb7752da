//! The end of the process.
#![allow(unsafe_code, reason = "ending without running anything else has no safe interface")]

/// Ends the process now. What is not written yet is lost, and nothing is dropped: the system takes memory and files
/// back faster than we could give them, and a hook waits for it.
pub(super) fn now(code: u8) -> ! {
    // SAFETY: there is no precondition; no destructor or exit handler of ours has anything to do that anybody would
    // notice, since our output is not buffered.
    #[cfg(unix)]
    unsafe {
        libc::_exit(i32::from(code))
    }
    #[cfg(not(unix))]
    std::process::exit(i32::from(code))
}
