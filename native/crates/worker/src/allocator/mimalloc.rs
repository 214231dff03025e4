//! mimalloc 3, or mimalloc 2 with feature `mimalloc-v2`: the same crate builds both.

#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub(super) struct Kind;

impl super::Kind for Kind {
    /// The library reports which of its two lines it is; the feature is not consulted.
    fn name(&self) -> &'static str {
        match self.version() {
            Some(version) if version.starts_with("2.") => "mimalloc-v2",
            _ => "mimalloc",
        }
    }

    /// `mi_version` packs a version as decimal digits: 227 is 2.2.7, and 30205 is 3.2.5.
    fn version(&self) -> Option<String> {
        // SAFETY: the call takes no argument and only returns a constant.
        let packed = unsafe { libmimalloc_sys::mi_version() };
        let (major, minor) = if packed >= 10_000 {
            (10_000, 100)
        } else {
            (100, 10)
        };
        (packed > 0).then(|| {
            let (high, middle) = (packed / major, packed % major / minor);
            format!("{high}.{middle}.{}", packed % minor)
        })
    }

    fn owns(&self, block: *const u8) -> bool {
        // SAFETY: the call only looks the address up, and `block` is alive.
        unsafe { libmimalloc_sys::mi_is_in_heap_region(block.cast()) }
    }
}
