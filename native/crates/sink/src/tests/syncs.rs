//! Every mode syncs when it was asked to: not once less, and with no block begun that the sync would come too late for.

use super::fault_injection;
use crate::tests::{available_modes, job, nonzero, write_file};
use crate::{Durability, Job, Submit};

#[test]
fn syncs_are_counted_where_they_happen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for mode in available_modes() {
        let with = |durability| {
            let job = Job {
                durability,
                ..job(10 * 8192)
            };
            let evidence = write_file(&path, mode, &job).unwrap().evidence;
            (evidence.syncs_between, evidence.syncs_after, evidence.dsync)
        };
        assert_eq!(with(Durability::None), (0, 0, false), "{}", mode.name);
        assert_eq!(with(Durability::EndFsync), (0, 1, false), "{}", mode.name);
        assert_eq!(with(Durability::Dsync), (0, 0, true), "{}", mode.name);
        assert_eq!(
            with(Durability::Fdatasync(3)),
            (3, 1, false),
            "{}",
            mode.name
        );
    }
}

/// The name is on the disk only after the sync of its folder, which `O_DSYNC` does not replace.
#[test]
fn the_sync_of_the_folder_is_counted_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for mode in available_modes().filter(|mode| mode.direct) {
        for durability in [Durability::None, Durability::EndFsync, Durability::Dsync] {
            let job = Job {
                durability,
                ..job(10 * 8192)
            };
            let done = write_file(&path, mode, &job).unwrap();
            let syncs = done.evidence.times.sync;
            assert_eq!(syncs.is_zero(), durability == Durability::None);
            let rest = done.synced.saturating_sub(done.elapsed);
            assert!(rest >= syncs, "{rest:?} {syncs:?}");
            assert_eq!(rest.is_zero(), durability == Durability::None);
        }
    }
}

#[test]
fn a_deep_queue_syncs_as_often_as_one_write_at_a_time() {
    const BLOCKS: u64 = 32;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for mode in available_modes().chain(fault_injection::modes()) {
        for submit in [Submit::Each, Submit::WhenFull] {
            for every in [1, 3, 16, 17, 33] {
                let deep = Job {
                    buffers: nonzero(16),
                    depth: nonzero(16),
                    submit,
                    durability: Durability::Fdatasync(every),
                    ..job(BLOCKS * 8192)
                };
                let evidence = write_file(&path, mode, &deep).unwrap().evidence;
                let what = format!("{} {deep:?}", mode.name);
                assert_eq!(evidence.blocks, BLOCKS, "{what}");
                assert_eq!(evidence.syncs_between, BLOCKS / every, "{what}");
                assert_eq!(evidence.syncs_after, 1, "{what}");
                assert!(evidence.most_in_flight as u64 <= every, "{what}");
            }
        }
    }
}
