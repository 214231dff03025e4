//! Properties of every profile of sessions. The crate `search` checks that the lines are valid
//! JSON.

use std::collections::HashSet;
use std::convert::Infallible;

use dgen::sessions::{PROFILES, RARE_WORD, Session, Sessions, profile, write_folder};
use sha2::{Digest, Sha256};

fn contents(sessions: &Sessions, session: &Session) -> Vec<u8> {
    let mut contents = Vec::new();
    let Ok(()) = sessions.write::<Infallible>(session, &mut |piece| {
        contents.extend_from_slice(piece);
        Ok(())
    });
    contents
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// The bytes are fixed forever: a record of last year must be able to make its dataset again.
#[test]
fn vectors() {
    let expected = include_str!("../session_vectors.txt");
    let folder = tempfile::tempdir().unwrap();
    let mut actual = String::new();
    for profile in PROFILES {
        for (seed, size) in [(0, 20_000), (42, 2 << 20), (u64::MAX, 200_001)] {
            let path = folder
                .path()
                .join(format!("{} {seed} {size}", profile.name));
            let sessions = Sessions::new(profile.settings, seed, size);
            let written = write_folder::<std::io::Error>(&sessions, &path, &mut |_| Ok(()));
            let digest = written.unwrap().sha256;
            actual += &[profile.name, &seed.to_string(), &size.to_string(), &digest].join(" ");
            actual.push('\n');
        }
    }
    assert_eq!(actual, expected);
}

#[test]
fn all_files_have_the_requested_total_size_and_each_matches_its_name() {
    for profile in PROFILES {
        for size in [0, 1, 511, 2048, 10_000, 99_999, 1_000_003] {
            let sessions = Sessions::new(profile.settings, 7, size);
            let files = sessions.files();
            assert_eq!(files.iter().map(|file| file.size).sum::<u64>(), size);
            let names: HashSet<_> = files.iter().map(|file| &file.name).collect();
            assert_eq!(names.len(), files.len());
            for file in &files {
                let contents = contents(&sessions, file);
                assert_eq!(contents.len() as u64, file.size, "{} {size}", profile.name);
                assert_eq!(contents.last(), Some(&b'\n'));
                assert!(std::str::from_utf8(&contents).is_ok());
            }
        }
    }
}

#[test]
fn the_shapes_are_as_described() {
    let sizes = |name| -> Vec<u64> {
        let sessions = Sessions::new(profile(name).unwrap().settings, 42, 16 << 20);
        sessions.files().iter().map(|file| file.size).collect()
    };
    let mixed = sizes("sessions");
    assert!(mixed[..3].iter().all(|size| *size > 2 << 20), "{mixed:?}");
    // The last one takes what is left.
    assert!(
        mixed[3..mixed.len() - 1]
            .iter()
            .all(|size| (48 << 10..160 << 10).contains(size)),
        "{mixed:?}"
    );
    assert!(mixed.len() > 60);
    assert_eq!(sizes("sessions-large").len(), 2);
    assert!(sizes("sessions-small").len() > 250);
    let mean = |name| {
        let sessions = Sessions::new(profile(name).unwrap().settings, 42, 4 << 20);
        let lines: usize = sessions
            .files()
            .iter()
            .map(|file| {
                contents(&sessions, file)
                    .split(|byte| *byte == b'\n')
                    .count()
                    - 1
            })
            .sum();
        (4 << 20) / lines
    };
    assert!(
        (400..700).contains(&mean("sessions-short-lines")),
        "{}",
        mean("sessions-short-lines")
    );
    assert!(
        (800..1500).contains(&mean("sessions")),
        "{}",
        mean("sessions")
    );
    // The two fields are in one line of three, and 70 bytes long.
    assert!((mean("sessions")..mean("sessions") + 70).contains(&mean("sessions-cache-tokens")));
    assert!(
        (5_000..15_000).contains(&mean("sessions-long-lines")),
        "{}",
        mean("sessions-long-lines")
    );
}

/// A reader whose `usage` requires the two fields must not skip a line.
#[test]
fn every_usage_has_cache_tokens_in_their_profile_and_none_in_others() {
    const FIELDS: [&str; 2] = ["cache_creation_input_tokens", "cache_read_input_tokens"];
    for profile in PROFILES {
        let sessions = Sessions::new(profile.settings, 42, 1 << 20);
        let mut usages = 0;
        for file in sessions.files() {
            let text = String::from_utf8(contents(&sessions, &file)).unwrap();
            for line in text.lines() {
                let Some((_, usage)) = line.split_once("\"usage\":{\"input_tokens\":") else {
                    assert!(!FIELDS.iter().any(|field| line.contains(field)), "{line}");
                    continue;
                };
                usages += 1;
                for field in FIELDS {
                    let value = usage
                        .split_once(&format!(",\"{field}\":"))
                        .and_then(|(_, rest)| rest.split_once(',')?.0.parse::<u32>().ok());
                    let expected = profile.name == "sessions-cache-tokens";
                    assert_eq!(value.is_some(), expected, "{field} in {line}");
                }
            }
        }
        assert!(usages > 10, "{usages} in {}", profile.name);
    }
}

#[test]
fn the_rare_word_is_planted_at_its_rate_and_nowhere_else() {
    let planted = |rate| {
        let settings = dgen::sessions::Settings {
            rare_per_million: rate,
            ..profile("sessions-small").unwrap().settings
        };
        let sessions = Sessions::new(settings, 42, 8 << 20);
        let all: Vec<u8> = sessions
            .files()
            .iter()
            .flat_map(|file| contents(&sessions, file))
            .collect();
        let text = String::from_utf8(all).unwrap().to_lowercase();
        let lines = text.lines().count();
        (text.matches(&RARE_WORD[1..]).count(), lines)
    };
    assert_eq!(planted(0).0, 0);
    let (count, lines) = planted(20_000);
    assert!(
        (lines / 100..lines / 30).contains(&count),
        "{count} in {lines} lines"
    );
}

#[test]
fn seeds_share_nothing_and_a_folder_that_exists_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let settings = PROFILES[0].settings;
    let digests: Vec<_> = [1, 2, 1 << 40]
        .into_iter()
        .flat_map(|seed| {
            let sessions = Sessions::new(settings, seed, 300_000);
            let files = sessions.files();
            files
                .iter()
                .map(|file| hex(&contents(&sessions, file)))
                .collect::<Vec<_>>()
        })
        .collect();
    let distinct: HashSet<_> = digests.iter().collect();
    assert_eq!(distinct.len(), digests.len());
    let sessions = Sessions::new(settings, 1, 1000);
    let error = write_folder::<std::io::Error>(&sessions, folder.path(), &mut |_| Ok(()));
    assert_eq!(error.unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
}
