//! Recognition of the actual mode, by the traces that it left.

/// Returns the name of the value that left the traces: `requested` if it `matches`, else the first of `all` that does,
/// else `unknown`.
pub fn actual<'all, T: ?Sized>(
    requested: &'all T,
    all: &[&'all T],
    matches: impl Fn(&T) -> bool,
    name: impl Fn(&T) -> &'static str,
) -> &'static str {
    std::iter::once(requested)
        .chain(all.iter().copied())
        .find(|&value| matches(value))
        .map_or("unknown", name)
}
