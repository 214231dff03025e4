//! `malloc` and its relatives as symbols of a shared library for LD_PRELOAD.
//!
//! benchctl replaces CRATE and PREFIX_. The crate's C functions have a prefix, and rustc exports only
//! its own functions from a cdylib, so each one is forwarded by a jump.

use core::ffi::{c_int, c_void};
use CRATE as _;

macro_rules! forward {
    ($($name:ident => $to:literal ($($arg:ident: $kind:ty),*) $(-> $out:ty)?;)*) => {
        mod allocator {
            use super::{c_int, c_void};
            extern "C" { $(#[link_name = $to] pub fn $name($($arg: $kind),*) $(-> $out)?;)* }
        }
        $(
            #[no_mangle]
            pub unsafe extern "C" fn $name($($arg: $kind),*) $(-> $out)? {
                // SAFETY: the caller and the allocator agree on the contract of the C function.
                unsafe { allocator::$name($($arg),*) }
            }
        )*
    };
}

forward! {
    malloc => "PREFIX_malloc" (size: usize) -> *mut c_void;
    calloc => "PREFIX_calloc" (count: usize, size: usize) -> *mut c_void;
    realloc => "PREFIX_realloc" (old: *mut c_void, size: usize) -> *mut c_void;
    free => "PREFIX_free" (old: *mut c_void);
    posix_memalign => "PREFIX_posix_memalign" (to: *mut *mut c_void, align: usize, size: usize) -> c_int;
    aligned_alloc => "PREFIX_aligned_alloc" (align: usize, size: usize) -> *mut c_void;
    memalign => "PREFIX_memalign" (align: usize, size: usize) -> *mut c_void;
    malloc_usable_size => "PREFIX_malloc_usable_size" (old: *mut c_void) -> usize;
}

const PAGE: usize = 4096;

#[no_mangle]
pub unsafe extern "C" fn valloc(size: usize) -> *mut c_void {
    // SAFETY: a page is a power of two.
    unsafe { allocator::memalign(PAGE, size) }
}

#[no_mangle]
pub unsafe extern "C" fn pvalloc(size: usize) -> *mut c_void {
    // SAFETY: as in `valloc`.
    unsafe { allocator::memalign(PAGE, size.next_multiple_of(PAGE)) }
}
