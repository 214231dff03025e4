//! `dgen sessions`: a folder of JSONL sessions.

use std::path::PathBuf;

use clap::Args;
use dgen::sessions::{PROFILES, Profile, Sessions, Settings, write_folder};
use worker::command_line::one_of;
use worker::exit::{Failure, print_line};
use worker::size::parse as parse_size;

use super::write_error;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// What the files are like; the options below change single settings
    #[arg(long, default_value = "sessions", value_parser = one_of(PROFILES, |profile| (profile.name, profile.about)))]
    profile: Profile,
    /// Bytes of all files together, exactly; or with KiB, MiB, GiB
    #[arg(long, value_parser = parse_size)]
    size: u64,
    /// Seed
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Size of a typical small file
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    small_file: Option<u64>,
    /// Large files
    #[arg(long, value_name = "N")]
    large_files: Option<u64>,
    /// The part of all bytes that is in large files, of 256
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=256))]
    large_share: Option<u64>,
    /// Bytes of the text of a typical message
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    text_bytes: Option<u32>,
    /// Messages with the rare word `zyzzyva`, of a million
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    rare_per_million: Option<u32>,
    /// The folder to write; it must not exist
    #[arg(long, value_name = "FOLDER")]
    output: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let named = options.profile.settings;
    let settings = Settings {
        small_file_bytes: options.small_file.unwrap_or(named.small_file_bytes),
        large_files: options.large_files.unwrap_or(named.large_files),
        large_share: options.large_share.unwrap_or(named.large_share),
        text_bytes: options.text_bytes.unwrap_or(named.text_bytes),
        rare_per_million: options.rare_per_million.unwrap_or(named.rare_per_million),
        cache_tokens: named.cache_tokens,
    };
    let sessions = Sessions::new(settings, options.seed, options.size);
    let written = write_folder(&sessions, &options.output, &mut |_| Ok(()));
    print_line(&written.map_err(write_error(&options.output))?.sha256)
}
