//! The C library's malloc.

pub(super) struct Kind;

impl super::Kind for Kind {
    fn name(&self) -> &'static str {
        "system"
    }

    /// The system allocator has the version of the C library.
    #[cfg(target_env = "gnu")]
    fn version(&self) -> Option<String> {
        // SAFETY: glibc returns a pointer to a constant text that ends in NUL and is never freed.
        let text = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        text.to_str().ok().map(|text| format!("glibc {text}"))
    }

    #[cfg(not(target_env = "gnu"))]
    fn version(&self) -> Option<String> {
        None
    }

    /// `malloc` comes from the C library, unless another library was loaded before it (`LD_PRELOAD`).
    #[cfg(target_env = "gnu")]
    fn owns(&self, _block: *const u8) -> bool {
        // SAFETY: `Dl_info` is a plain C struct of pointers, for which all zeros is a valid value.
        let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
        let malloc = libc::malloc as *const libc::c_void;
        // SAFETY: `dladdr` only looks the address up and fills the local.
        let known = unsafe { libc::dladdr(malloc, &raw mut info) } != 0;
        if !known || info.dli_fname.is_null() {
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
    fn owns(&self, _block: *const u8) -> bool {
        true
    }
}
