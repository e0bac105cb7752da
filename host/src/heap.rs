//! The memory of the static binary.
//!
//! musl's own allocator asks the system for each few blocks, which is a tenth of a hook's time and more of a transcript's.
#![allow(
    unsafe_code,
    clippy::undocumented_unsafe_blocks,
    reason = "GlobalAlloc has no safe interface; what its implementation says holds for each block"
)]

use std::alloc::{GlobalAlloc, Layout};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dlmalloc::Dlmalloc;

/// How much is asked of the system at a time, in bytes: all that a hook needs. Pages that nobody touches cost nothing.
const GRANULARITY: usize = 1 << 20;

/// dlmalloc under the standard library's lock. The one that it brings along is POSIX's, which takes as long as an
/// allocation.
pub(crate) struct Heap(Mutex<Dlmalloc>);

impl Heap {
    /// With nothing from the system yet.
    pub(crate) const fn new() -> Self {
        let mut heap = Dlmalloc::new();
        heap.set_granularity(GRANULARITY);
        Self(Mutex::new(heap))
    }

    /// Nothing panics under the lock, so it is never poisoned; and an allocator must not panic.
    #[inline]
    fn lock(&self) -> MutexGuard<'_, Dlmalloc> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// SAFETY: all that GlobalAlloc asks for is what dlmalloc promises for the same arguments, and one thread at a time is in
// it. Linux's locks do not allocate.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe { self.lock().malloc(layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        unsafe { self.lock().free(block, layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        unsafe { self.lock().calloc(layout.size(), layout.align()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        unsafe { self.lock().realloc(block, layout.size(), layout.align(), new_size) }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    static HEAP: Heap = Heap::new();

    /// Takes, grows and gives back blocks with this byte in them.
    fn use_blocks(byte: u8) {
        for size in 1..2000 {
            let (small, large) = (
                Layout::from_size_align(size, 8).unwrap(),
                Layout::from_size_align(3 * size, 8).unwrap(),
            );
            unsafe {
                let zeros = HEAP.alloc_zeroed(small);
                let block = HEAP.alloc(small);
                block.write_bytes(byte, size);
                let grown = HEAP.realloc(block, small, large.size());
                assert_eq!(std::slice::from_raw_parts(zeros, size), vec![0; size]);
                assert_eq!(std::slice::from_raw_parts(grown, size), vec![byte; size]);
                HEAP.dealloc(grown, large);
                HEAP.dealloc(zeros, small);
            }
        }
    }

    #[test]
    fn threads_keep_what_is_in_their_blocks() {
        thread::scope(|scope| {
            for byte in 1..=4 {
                scope.spawn(move || use_blocks(byte));
            }
        });
    }
}
