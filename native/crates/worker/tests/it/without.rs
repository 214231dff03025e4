//! Tests of what tests need.

use crate::needs::{can_have, decide};

fn absent() -> String {
    "the kernel refused it".to_owned()
}

#[test]
fn an_available_feature_is_tested_whatever_the_environment_contains() {
    for without in [
        "",
        "mounts",
        "io_uring, mounts",
        "fio,valgrind,ssh-keygen,perf,mounts,io_uring",
    ] {
        assert_eq!(decide("mounts", None, without), Ok(true));
    }
    // Nothing is absent, so this is true on every machine and under every opt-out.
    assert!(can_have("io_uring", None));
}

#[test]
fn a_missing_feature_fails_with_its_reason_unless_the_environment_names_it() {
    for without in ["", "io_uring", "fio,io_uring"] {
        let failure = decide("mounts", Some(absent()), without).unwrap_err();
        assert!(
            failure.contains("needs mounts: the kernel refused it"),
            "{failure}"
        );
        assert!(
            failure.contains("BENCHCTL_TESTS_WITHOUT=mounts"),
            "{failure}"
        );
    }
    for without in ["mounts", "io_uring, mounts", "mounts,"] {
        assert_eq!(decide("mounts", Some(absent()), without), Ok(false));
    }
}

#[test]
fn a_name_that_no_test_knows_fails() {
    let failure = decide("mounts", None, "mount").unwrap_err();
    assert!(
        failure
            .contains("names mount, and knows fio, io_uring, mounts, perf, ssh-keygen, valgrind"),
        "{failure}"
    );
}
