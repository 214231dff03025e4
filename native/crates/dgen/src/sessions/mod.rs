//! Seeded sessions: folders of JSONL files as a chat program keeps them, a pure function of settings and size.
//!
//! A folder contains many small files and a few large ones. Together they have exactly the
//! requested size. Each file depends only on the settings, the seed, its index and its length. A
//! line is one object: summaries first, then system, user and assistant messages with contents of
//! every kind, escapes of every kind and text in several scripts. A rare word is planted at a known
//! rate. The bytes are fixed forever by test vectors.

mod folder;
mod line;

pub use folder::write_folder;
pub use line::RARE_WORD;

use crate::random::Random;
use line::Writer;

/// Properties of the files of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Small files have between half of this and one and a half times this, in bytes.
    pub small_file_bytes: u64,
    /// Large files.
    pub large_files: u64,
    /// The part of all bytes that is in large files, of 256.
    pub large_share: u64,
    /// Bytes of the text of a typical message. Lengths vary from an eighth to eight times this.
    pub text_bytes: u32,
    /// Messages with the rare word, of a million.
    pub rare_per_million: u32,
    /// Whether `usage` has `cache_creation_input_tokens` and `cache_read_input_tokens`.
    pub cache_tokens: bool,
}

/// Settings with a name.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// Kebab-case name.
    pub name: &'static str,
    /// Description in one line.
    pub about: &'static str,
    /// Its settings.
    pub settings: Settings,
}

const DEFAULT: Settings = Settings {
    small_file_bytes: 96 << 10,
    large_files: 3,
    large_share: 128,
    text_bytes: 400,
    rare_per_million: 1000,
    cache_tokens: false,
};

/// Every profile, in the order in which help lists them.
pub static PROFILES: &[Profile] = &[
    Profile {
        name: "sessions",
        about: "half of the bytes in files of about 96 KiB, half in three large ones; lines of about 1 KB",
        settings: DEFAULT,
    },
    Profile {
        name: "sessions-small",
        about: "files of about 48 KiB only",
        settings: Settings {
            small_file_bytes: 48 << 10,
            large_files: 0,
            large_share: 0,
            ..DEFAULT
        },
    },
    Profile {
        name: "sessions-large",
        about: "two files only",
        settings: Settings {
            large_files: 2,
            large_share: 256,
            ..DEFAULT
        },
    },
    Profile {
        name: "sessions-short-lines",
        about: "as `sessions`, with texts of about 40 bytes",
        settings: Settings {
            text_bytes: 40,
            ..DEFAULT
        },
    },
    Profile {
        name: "sessions-long-lines",
        about: "as `sessions`, with texts of about 8 KB",
        settings: Settings {
            text_bytes: 8 << 10,
            ..DEFAULT
        },
    },
    Profile {
        name: "sessions-cache-tokens",
        about: "as `sessions`, with cache_creation_input_tokens and cache_read_input_tokens",
        settings: Settings {
            cache_tokens: true,
            ..DEFAULT
        },
    },
];

/// The profile named `name`.
#[must_use]
pub fn profile(name: &str) -> Option<&'static Profile> {
    PROFILES.iter().find(|profile| profile.name == name)
}

/// Sessions that are not yet written.
#[derive(Clone, Copy, Debug)]
pub struct Sessions {
    settings: Settings,
    seed: u64,
    size: u64,
}

/// One file of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Path below the folder, such as `project-03/0d9c….jsonl`.
    pub name: String,
    /// Bytes.
    pub size: u64,
    index: u64,
}

/// Random streams of this kind of data. Never reused.
const PLAN: u64 = 100;
const FILE: u64 = 101;

/// No file is smaller, unless everything is: a line fits.
const MIN_FILE_BYTES: u64 = 2 << 10;

/// No line that fills up a file is longer than this and the next line together.
const CLOSING: u64 = 600;

impl Sessions {
    /// A folder of `size` bytes in all files together.
    #[must_use]
    pub fn new(settings: Settings, seed: u64, size: u64) -> Self {
        Self {
            settings,
            seed,
            size,
        }
    }

    /// The files, large ones first.
    #[must_use]
    pub fn files(&self) -> Vec<Session> {
        let Settings {
            small_file_bytes,
            large_files,
            large_share,
            ..
        } = self.settings;
        let mut random = Random::new(self.seed, PLAN, 0);
        let mut sizes = Vec::new();
        let mut rest = self.size;
        let large = (self.size / 256 * large_share.min(256)).checked_div(large_files);
        for number in 0..large_files {
            // The last one takes what division left over, if there is nothing but large files.
            let last = large_share >= 256 && number + 1 == large_files;
            let size = if last { rest } else { large.unwrap_or(0) };
            if size >= MIN_FILE_BYTES {
                sizes.push(size);
                rest -= size;
            }
        }
        let small = small_file_bytes.max(2 * MIN_FILE_BYTES);
        let spread = u32::try_from(small).unwrap_or(u32::MAX);
        while rest > 0 {
            let size = small / 2 + u64::from(random.below(spread));
            // The rest would be too small for its own file.
            let size = if rest < size + MIN_FILE_BYTES {
                rest
            } else {
                size
            };
            sizes.push(size);
            rest -= size;
        }
        let named = |(index, size): (usize, u64)| {
            let index = index as u64;
            let mut random = Random::new(self.seed, FILE, index);
            let project = random.below(16);
            let name = format!("project-{project:02}/{}.jsonl", line::uuid(&mut random));
            Session { name, size, index }
        };
        sizes.into_iter().enumerate().map(named).collect()
    }

    /// Gives the contents of a file, piece by piece, to `out`.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write<E>(
        &self,
        session: &Session,
        out: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut writer = Writer::new(self.settings, self.seed, session.index);
        let mut rest = session.size;
        let mut piece = Vec::with_capacity(PIECE + (64 << 10));
        while rest > 0 {
            let from = piece.len();
            writer.next(&mut piece);
            let length = (piece.len() - from) as u64;
            if length != rest && length + CLOSING > rest {
                piece.truncate(from);
                writer.close(rest, &mut piece);
                rest = 0;
            } else {
                rest -= length;
            }
            if piece.len() >= PIECE || rest == 0 {
                out(&piece)?;
                piece.clear();
            }
        }
        Ok(())
    }
}

/// Bytes handed on at once, at least.
const PIECE: usize = 256 << 10;
