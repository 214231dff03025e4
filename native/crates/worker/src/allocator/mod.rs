//! The global allocator: a cargo feature chooses it, and [`observe`] verifies it.
//!
//! A binary that links this crate gets the allocator of the enabled feature; nothing else needs to be declared.
//! A new allocator is a file here, its line in `allocators!`, and its feature in `Cargo.toml`.

use crate::describe::{Allocator, Axis, Value};

#[cfg(feature = "jemalloc")]
mod jemalloc;
#[cfg(any(feature = "mimalloc", feature = "mimalloc-v2"))]
mod mimalloc;
mod system;

/// Functions of an allocator that report its state.
trait Kind: Sync {
    /// The value of the axis `allocator`.
    fn name(&self) -> &'static str;
    /// The version, as the allocator's own call returns it, or `None` if it has no such call.
    fn version(&self) -> Option<String>;
    /// Return whether `block` is memory that this allocator manages.
    fn owns(&self, block: *const u8) -> bool;
}

macro_rules! allocators {
    ($($feature:literal: $module:ident, $about:literal;)*) => {
        /// Cargo feature, description, and whether it is compiled in.
        const ALLOCATORS: &[(&str, &str, bool)] = &[$(($feature, $about, cfg!(feature = $feature))),*];

        /// The allocator of the enabled feature.
        #[allow(unreachable_code)]
        fn enabled_allocator() -> &'static dyn Kind {
            $(#[cfg(feature = $feature)] return &$module::Kind;)*
            &system::Kind
        }
    };
}

allocators! {
    "jemalloc": jemalloc, "tikv-jemallocator";
    "mimalloc": mimalloc, "mimalloc 3";
    "mimalloc-v2": mimalloc, "mimalloc 2";
}

const _: () = {
    let mut index = 0;
    let mut enabled = 0;
    while index < ALLOCATORS.len() {
        enabled += ALLOCATORS[index].2 as usize;
        index += 1;
    }
    assert!(enabled < 2, "allocator features exclude each other");
};

/// The compiled allocator features, sorted.
pub fn features() -> impl Iterator<Item = &'static str> {
    ALLOCATORS
        .iter()
        .filter(|(_, _, enabled)| *enabled)
        .map(|(feature, _, _)| *feature)
}

/// The allocator that served an allocation of this process, and its version.
///
/// The name is `unknown` if a freshly allocated block does not belong to the chosen allocator.
#[must_use]
pub fn observe() -> Allocator {
    let block = std::hint::black_box(Box::new([1_u8; 4096]));
    let name = if enabled_allocator().owns(block.as_ptr()) {
        enabled_allocator().name()
    } else {
        "unknown"
    };
    Allocator {
        name: name.to_owned(),
        version: enabled_allocator().version(),
    }
}

/// The axis `allocator` of this binary. It acts on the build: a value that is not compiled in names its feature.
#[must_use]
pub fn axis() -> Axis {
    let name = enabled_allocator().name();
    let mut system = Value::available("system", "the C library's malloc");
    if name != "system" {
        system.unavailable = Some(format!("this binary was built with feature `{name}`"));
    }
    let mut values = vec![system];
    for (feature, about, enabled) in ALLOCATORS {
        let mut value = Value::available(feature, about);
        if !enabled {
            value.unavailable = Some(format!("this binary was built without feature `{feature}`"));
        }
        values.push(value);
    }
    Axis {
        about: "global allocator, chosen at build time".to_owned(),
        values,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_chosen_allocator_serves_allocations() {
        let expected = super::features().next().unwrap_or("system");
        let observed = super::observe();
        assert_eq!(observed.name, expected);
        // Another allocator may have no call for its version.
        let has_version = match expected {
            "system" => cfg!(target_env = "gnu"),
            _ => ["jemalloc", "mimalloc", "mimalloc-v2"].contains(&expected),
        };
        assert!(observed.version.is_some() || !has_version);
        let version = observed.version.as_deref();
        assert_ne!(version, Some(""));
        assert!(
            !version.is_some_and(|text| text.contains(char::is_control)),
            "{version:?}"
        );
    }

    #[test]
    fn an_allocator_does_not_own_static_memory() {
        static CONSTANT: [u8; 64] = [0; 64];
        if super::features().next().is_some() {
            assert!(!super::enabled_allocator().owns(CONSTANT.as_ptr()));
        }
    }
}
