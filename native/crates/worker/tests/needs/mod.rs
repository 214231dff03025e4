//! What some tests need of a machine. A test that ends without having tried anything looks like one that passed, so it fails
//! where that is missing, unless the environment says that the machine is known to be without it.

use std::env;

/// Names of what a machine may be without, by commas.
const WITHOUT: &str = "BENCHCTL_TESTS_WITHOUT";

/// `fio`: the program. `io_uring`: rings. `mounts`: `unshare --mount` and `mount` inside it. The others are programs that only
/// the tests in Python need, for which the same variable is set.
const FEATURES: [&str; 6] = [
    "fio",
    "io_uring",
    "mounts",
    "perf",
    "ssh-keygen",
    "valgrind",
];

/// Whether a test that needs `what` can go on; `absent` says why it is unavailable here.
///
/// # Panics
/// It is unavailable, and [`WITHOUT`] does not name it; or that names what no test needs.
#[must_use]
pub fn can_have(what: &str, absent: Option<String>) -> bool {
    let without = env::var(WITHOUT).unwrap_or_default();
    decide(what, absent, &without).unwrap_or_else(|reason| panic!("{reason}"))
}

/// Whether a mode of reading can be tested; `absent` says why it is unavailable here. Only rings and direct I/O may be.
///
/// # Panics
/// As [`can_have`].
#[must_use]
#[allow(dead_code, reason = "not every crate reads by modes")]
pub fn can_read(mode: &str, absent: Option<String>) -> bool {
    match absent {
        Some(why) if mode == "direct" => {
            eprintln!("{mode} is not tested, its file system lacks it: {why}");
            false
        }
        absent => can_have("io_uring", absent),
    }
}

/// As [`can_have`], with the value of the environment variable.
///
/// # Errors
/// The sentence with which the test fails.
pub fn decide(what: &str, absent: Option<String>, without: &str) -> Result<bool, String> {
    let named = || without.split(',').map(str::trim);
    let known = FEATURES.join(", ");
    if let Some(unknown) = named().find(|name| !name.is_empty() && !FEATURES.contains(name)) {
        return Err(format!("{WITHOUT} names {unknown}, and knows {known}"));
    }
    assert!(FEATURES.contains(&what), "{what} is not one of {known}");
    match absent {
        None => Ok(true),
        Some(reason) if named().any(|name| name == what) => {
            eprintln!("not tried, {WITHOUT} names {what}: {reason}");
            Ok(false)
        }
        Some(reason) => Err(format!(
            "this test needs {what}: {reason}. Where a machine is known to be without it: {WITHOUT}={what}"
        )),
    }
}
