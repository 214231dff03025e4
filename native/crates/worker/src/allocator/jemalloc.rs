//! jemalloc, by the crate `tikv-jemallocator`.

use std::ffi::{c_uint, c_void};

#[global_allocator]
static GLOBAL: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

pub(super) struct Kind;

impl super::Kind for Kind {
    fn name(&self) -> &'static str {
        "jemalloc"
    }

    fn version(&self) -> Option<String> {
        let text = tikv_jemalloc_ctl::version::read().ok()?;
        // The crate returns the text with the NUL that ends it in C.
        Some(text.trim_end_matches('\0').to_owned())
    }

    /// `arenas.lookup` succeeds only for memory that jemalloc manages.
    fn owns(&self, block: *const u8) -> bool {
        let mut arena: c_uint = 0;
        let mut arena_size = size_of::<c_uint>();
        let mut address = block.cast::<c_void>();
        // SAFETY: the name ends in NUL, and every pointer is to a local of the size that `arenas.lookup` reads or
        // writes.
        let status = unsafe {
            tikv_jemalloc_sys::mallctl(
                c"arenas.lookup".as_ptr(),
                (&raw mut arena).cast(),
                &raw mut arena_size,
                (&raw mut address).cast(),
                size_of::<*const c_void>(),
            )
        };
        status == 0
    }
}
