//! The global allocator: chosen by cargo feature in this one file, and observed, never assumed.
//!
//! A binary that links this crate gets the allocator of the enabled feature; there is nothing to declare.
//! [`observe`] allocates a block and asks the allocator whether the block is its own, so a feature that did not
//! reach the binary shows as another name.

#[cfg(any(
    all(feature = "jemalloc", feature = "mimalloc"),
    all(feature = "jemalloc", feature = "mimalloc-v2"),
    all(feature = "mimalloc", feature = "mimalloc-v2")
))]
compile_error!(
    "features `jemalloc`, `mimalloc` and `mimalloc-v2` exclude each other: a program has one global allocator"
);

use crate::describe::{Allocator, Axis, Value};

#[cfg(all(
    feature = "jemalloc",
    not(any(feature = "mimalloc", feature = "mimalloc-v2"))
))]
mod chosen {
    use std::ffi::{c_uint, c_void};

    pub(super) fn name() -> &'static str {
        "jemalloc"
    }

    #[global_allocator]
    static GLOBAL: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    pub(super) fn version() -> Option<String> {
        let text = tikv_jemalloc_ctl::version::read().ok()?;
        // The crate hands the text out with the NUL that ends it in C.
        Some(text.trim_end_matches('\0').to_owned())
    }

    /// `arenas.lookup` answers with an arena only for memory that jemalloc manages.
    pub(super) fn owns(block: *const u8) -> bool {
        let mut arena: c_uint = 0;
        let mut arena_size = size_of::<c_uint>();
        let mut address = block.cast::<c_void>();
        // SAFETY: the name ends in NUL, and every pointer is to a local of the size that `arenas.lookup` reads or writes.
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

#[cfg(all(
    any(feature = "mimalloc", feature = "mimalloc-v2"),
    not(feature = "jemalloc")
))]
mod chosen {
    /// Which of its two lines the library itself says it is: `mi_version` is asked, not the feature.
    pub(super) fn name() -> &'static str {
        if version().is_some_and(|version| version.starts_with("2.")) {
            "mimalloc-v2"
        } else {
            "mimalloc"
        }
    }

    #[global_allocator]
    static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

    /// `mi_version` packs a version as decimal digits: 227 is 2.2.7, and 30205 is 3.2.5.
    pub(super) fn version() -> Option<String> {
        // SAFETY: the call takes no argument and only returns a constant.
        let packed = unsafe { libmimalloc_sys::mi_version() };
        let (major, minor) = if packed >= 10_000 {
            (10_000, 100)
        } else {
            (100, 10)
        };
        (packed > 0).then(|| {
            format!(
                "{}.{}.{}",
                packed / major,
                packed % major / minor,
                packed % minor
            )
        })
    }

    pub(super) fn owns(block: *const u8) -> bool {
        // SAFETY: the call only looks the address up, and `block` is alive.
        unsafe { libmimalloc_sys::mi_is_in_heap_region(block.cast()) }
    }
}

#[cfg(any(
    all(
        feature = "jemalloc",
        any(feature = "mimalloc", feature = "mimalloc-v2")
    ),
    not(any(feature = "jemalloc", feature = "mimalloc", feature = "mimalloc-v2"))
))]
mod chosen {
    pub(super) fn name() -> &'static str {
        "system"
    }

    /// The system allocator is versioned with the C library.
    #[cfg(target_env = "gnu")]
    pub(super) fn version() -> Option<String> {
        // SAFETY: glibc returns a pointer to a constant text that ends in NUL and is never freed.
        let text = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        text.to_str().ok().map(|text| format!("glibc {text}"))
    }

    #[cfg(not(target_env = "gnu"))]
    pub(super) fn version() -> Option<String> {
        None
    }

    /// `malloc` comes from the C library, unless something was loaded before it (`LD_PRELOAD`).
    #[cfg(target_env = "gnu")]
    pub(super) fn owns(_block: *const u8) -> bool {
        // SAFETY: `Dl_info` is a plain C struct of pointers, for which all zeros is a valid value.
        let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
        let malloc = libc::malloc as *const libc::c_void;
        // SAFETY: `dladdr` only looks the address up and fills the local.
        let found = unsafe { libc::dladdr(malloc, &raw mut info) } != 0;
        if !found || info.dli_fname.is_null() {
            return true;
        }
        // SAFETY: `dladdr` returned a path that ends in NUL and lives as long as the object is loaded.
        let object = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) }.to_bytes();
        let file = object.rsplit(|&byte| byte == b'/').next().unwrap_or(object);
        file.starts_with(b"libc.so")
            || file.starts_with(b"libc-")
            || !file.windows(3).any(|part| part == b".so")
    }

    #[cfg(not(target_env = "gnu"))]
    pub(super) fn owns(_block: *const u8) -> bool {
        true
    }
}

/// The allocator that really served an allocation of this process, and what its own version call returns.
///
/// The name is `unknown` if a freshly allocated block is not the chosen allocator's.
#[must_use]
pub fn observe() -> Allocator {
    let block = std::hint::black_box(Box::new([1_u8; 4096]));
    let name = if chosen::owns(block.as_ptr()) {
        chosen::name()
    } else {
        "unknown"
    };
    Allocator {
        name: name.to_owned(),
        version: chosen::version(),
    }
}

/// The axis `allocator` of this binary. It acts on the build: the other values say which feature they need.
#[must_use]
pub fn axis() -> Axis {
    let value = |name: &str, about: &str| {
        let mut value = Value::available(name, about);
        if name != chosen::name() {
            value.unavailable = Some(match name {
                "system" => format!("this binary was built with feature `{}`", chosen::name()),
                _ => format!("this binary was built without feature `{name}`"),
            });
        }
        value
    };
    Axis {
        about: "global allocator, chosen at build time".to_owned(),
        values: vec![
            value("system", "the C library's malloc"),
            value("jemalloc", "tikv-jemallocator"),
            value("mimalloc", "mimalloc 3"),
            value("mimalloc-v2", "mimalloc 2"),
        ],
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_chosen_allocator_serves_allocations() {
        let expected = if cfg!(feature = "jemalloc") {
            "jemalloc"
        } else if cfg!(feature = "mimalloc") {
            "mimalloc"
        } else if cfg!(feature = "mimalloc-v2") {
            "mimalloc-v2"
        } else {
            "system"
        };
        let seen = super::observe();
        assert_eq!(seen.name, expected);
        let version = seen.version.unwrap_or_default();
        assert!(!version.is_empty() || cfg!(not(target_env = "gnu")));
        assert!(!version.contains(char::is_control), "{version:?}");
    }

    #[test]
    fn memory_of_another_kind_is_not_claimed() {
        static CONSTANT: [u8; 64] = [0; 64];
        if cfg!(any(
            feature = "jemalloc",
            feature = "mimalloc",
            feature = "mimalloc-v2"
        )) {
            assert!(!super::chosen::owns(CONSTANT.as_ptr()));
        }
    }
}
