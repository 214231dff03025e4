//! Lines of a session.

use std::io::Write as _;

use super::{FILE, Settings};
use crate::random::Random;
use crate::vocabulary::VOCABULARY;

/// Planted at the rate that the settings say; no other text has it, in any case. One time in eight its first letter is
/// written as `\u007a`.
pub const RARE_WORD: &str = "zyzzyva";

/// 2025-01-01T00:00:00Z in milliseconds since 1970.
const EPOCH_MS: u64 = 1_735_689_600_000;

/// Appends formatted text to a vector of bytes.
macro_rules! put {
    ($out:ident, $($text:tt)*) => {{
        // Writing to a vector cannot fail.
        let _ = write!($out, $($text)*);
    }};
}

/// The lines of one file, in turn.
pub(super) struct Writer {
    settings: Settings,
    random: Random,
    session: String,
    time_ms: u64,
    /// Summaries still to come.
    summaries: u32,
    parent: Option<String>,
}

/// Thirty-two random digits in the form of a UUID of version 4.
pub(super) fn uuid(random: &mut Random) -> String {
    let (high, low) = (random.next(), random.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        0x8000 | (low >> 48) & 0x3fff,
        low & 0xffff_ffff_ffff,
    )
}

impl Writer {
    pub(super) fn new(settings: Settings, seed: u64, index: u64) -> Self {
        let mut random = Random::new(seed, FILE, index);
        // The same draws as for the name, so that the session is called like its file.
        random.below(16);
        let session = uuid(&mut random);
        let summaries = 1 + random.below(3);
        let time_ms = EPOCH_MS + u64::from(random.below(180 * 86_400)) * 1000;
        Self {
            settings,
            random,
            session,
            time_ms,
            summaries,
            parent: None,
        }
    }

    /// Appends the next line.
    pub(super) fn next(&mut self, out: &mut Vec<u8>) {
        if self.summaries > 0 {
            self.summaries -= 1;
            out.extend_from_slice(br#"{"type":"summary","summary":""#);
            self.words(60, out);
            let leaf = uuid(&mut self.random);
            put!(out, "\",\"leafUuid\":\"{leaf}\"}}\n");
            return;
        }
        match self.random.below(16) {
            0 => self.system(out),
            1..4 => self.user(out),
            4..8 => self.tool_result(out),
            _ => self.assistant(out),
        }
    }

    /// Appends a line of exactly `size` bytes with its end; blanks, if no message is so short.
    pub(super) fn close(&mut self, size: u64, out: &mut Vec<u8>) {
        let from = out.len();
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        self.head("user", out);
        out.extend_from_slice(br#","message":{"role":"user","content":""#);
        let end = b"\"}}\n";
        let least = out.len() - from + end.len();
        if size < least {
            out.truncate(from);
            out.resize(from + size - 1, b' ');
            out.push(b'\n');
            return;
        }
        let text = from + size - end.len();
        while out.len() < text {
            self.word(out);
            out.push(b' ');
        }
        out.truncate(text);
        out.extend_from_slice(end);
    }

    /// Appends the common beginning of every message.
    fn head(&mut self, kind: &str, out: &mut Vec<u8>) {
        self.time_ms += 100 + u64::from(self.random.below(60_000));
        let own = uuid(&mut self.random);
        out.extend_from_slice(b"{\"parentUuid\":");
        match self.parent.replace(own.clone()) {
            None => out.extend_from_slice(b"null"),
            Some(parent) => put!(out, "\"{parent}\""),
        }
        put!(
            out,
            ",\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"/home/user/project\",\"sessionId\":\"{}\",\
                 \"version\":\"1.0.44\",\"type\":\"{kind}\",\"uuid\":\"{own}\",\"timestamp\":\"{}\"",
            self.session,
            timestamp(self.time_ms),
        );
    }

    fn system(&mut self, out: &mut Vec<u8>) {
        self.head("system", out);
        out.extend_from_slice(br#","level":"info","isMeta":true,"content":""#);
        let length = self.settings.text_bytes / 4;
        self.words(length, out);
        out.extend_from_slice(b"\"}\n");
    }

    fn user(&mut self, out: &mut Vec<u8>) {
        self.head("user", out);
        out.extend_from_slice(br#","message":{"role":"user","content":"#);
        if self.random.below(4) == 0 {
            out.extend_from_slice(br#"[{"type":"text","text":""#);
            self.text(out);
            out.extend_from_slice(b"\"}");
            if self.random.below(4) == 0 {
                out.extend_from_slice(br#",{"type":"image","source":{"type":"base64","media_type":"image/png","data":""#);
                for _ in 0..16 {
                    let bits = self.random.next();
                    put!(out, "{bits:016x}");
                }
                out.extend_from_slice(b"\"}}");
            }
            out.extend_from_slice(b"]}}\n");
        } else {
            out.push(b'"');
            self.text(out);
            out.extend_from_slice(b"\"}}\n");
        }
    }

    fn tool_result(&mut self, out: &mut Vec<u8>) {
        self.head("user", out);
        let tool = self.random.next();
        put!(
            out,
            ",\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"toolu_{tool:016x}\",\"type\":\"tool_result\",\"content\":"
        );
        if self.random.below(2) == 0 {
            out.push(b'"');
            self.text(out);
            out.push(b'"');
        } else {
            out.extend_from_slice(br#"[{"type":"text","text":""#);
            self.text(out);
            out.extend_from_slice(b"\"}]");
        }
        out.extend_from_slice(b"}]},\"toolUseResult\":{\"interrupted\":false,\"durationMs\":");
        let duration = self.random.below(30_000);
        put!(out, "{duration}}}}}\n");
    }

    fn assistant(&mut self, out: &mut Vec<u8>) {
        self.head("assistant", out);
        let (id, request) = (self.random.next(), self.random.next());
        put!(
            out,
            ",\"requestId\":\"req_{request:016x}\",\"message\":{{\"id\":\"msg_{id:016x}\",\"type\":\"message\",\
                 \"role\":\"assistant\",\"model\":\"assistant-4\",\"content\":["
        );
        if self.random.below(8) == 0 {
            out.extend_from_slice(br#"{"type":"thinking","thinking":""#);
            self.text(out);
            let signature = self.random.next();
            put!(out, "\",\"signature\":\"{signature:016x}\"}},");
        }
        if self.random.below(2) == 0 {
            out.extend_from_slice(br#"{"type":"text","text":""#);
            self.text(out);
            out.extend_from_slice(b"\"}");
        } else {
            let tool = self.random.next();
            put!(
                out,
                "{{\"type\":\"tool_use\",\"id\":\"toolu_{tool:016x}\",\"name\":\"Edit\",\"input\":{{\"file_path\":\"/home/user/project/src/"
            );
            self.word(out);
            out.extend_from_slice(br#".rs","replace_all":false,"edits":[{"old_string":""#);
            self.text(out);
            out.extend_from_slice(br#"","new_string":""#);
            let length = self.settings.text_bytes / 2;
            self.words(length, out);
            out.extend_from_slice(b"\"}]}}");
        }
        let (read, written) = (self.random.below(90_000), self.random.below(2_000));
        put!(
            out,
            "],\"stop_reason\":null,\"usage\":{{\"input_tokens\":{read},"
        );
        if self.settings.cache_tokens {
            let (created, reused) = (self.random.below(20_000), self.random.below(90_000));
            put!(
                out,
                "\"cache_creation_input_tokens\":{created},\"cache_read_input_tokens\":{reused},"
            );
        }
        put!(
            out,
            "\"output_tokens\":{written},\"service_tier\":\"standard\"}}}}}}\n"
        );
    }

    /// A text of the typical length times a power of two, perhaps with the rare word.
    fn text(&mut self, out: &mut Vec<u8>) {
        let dice = self.random.below(64);
        let eighths = if dice == 0 { 64 } else { 1 << (dice % 5) };
        let length = (self.settings.text_bytes / 8).max(1) * eighths;
        if self.random.below(1_000_000) < self.settings.rare_per_million {
            let written: &[u8] = match self.random.below(8) {
                0 => br"\u007ayzzyva ",
                1 => b"Zyzzyva ",
                2 => b"ZYZZYVA ",
                _ => b"zyzzyva ",
            };
            self.words(length / 2, out);
            out.push(b' ');
            out.extend_from_slice(written);
            self.words(length / 2, out);
        } else {
            self.words(length, out);
        }
    }

    /// Words of about `length` bytes as in a JSON string: no blank at either end.
    fn words(&mut self, length: u32, out: &mut Vec<u8>) {
        let end = out.len() + length as usize;
        // Some texts are in another script, as it is or, as some programs write it, in escapes.
        let script = self.random.below(64);
        loop {
            match script {
                0..4 => self.han(out),
                4 => self.push_escapes(out),
                _ => self.word(out),
            }
            if out.len() >= end {
                return;
            }
            let between: &[u8] = match self.random.below(64) {
                0 | 1 => br"\n",
                2 => br#" \"ok\" "#,
                3 => br"\n\t",
                4 => " – ".as_bytes(),
                5 => b".  ",
                6 => br" C:\\tmp ",
                7..11 => b", ",
                11..15 => b". ",
                _ => b" ",
            };
            out.extend_from_slice(between);
        }
    }

    fn word(&mut self, out: &mut Vec<u8>) {
        let mut length = out.len();
        out.resize(length + 15, 0);
        VOCABULARY.draw(&mut self.random).append(out, &mut length);
        out.truncate(length);
    }

    fn han(&mut self, out: &mut Vec<u8>) {
        for _ in 0..2 + self.random.below(6) {
            let letter = char::from_u32(0x4e00 + self.random.below(20_000)).unwrap_or('一');
            put!(out, "{letter}");
        }
        if self.random.below(8) == 0 {
            out.extend_from_slice("🦀 Straße ÉTÉ".as_bytes());
        }
    }

    /// Letters as `\uXXXX`, with a pair of surrogates now and then.
    fn push_escapes(&mut self, out: &mut Vec<u8>) {
        for _ in 0..2 + self.random.below(4) {
            let letter = 0x4e00 + self.random.below(20_000);
            put!(out, "\\u{letter:04x}");
        }
        if self.random.below(8) == 0 {
            let letter = 0xde00 + self.random.below(0x40);
            put!(out, "\\ud83d\\u{letter:04X}");
        }
    }
}

/// Milliseconds since 1970 as `2025-06-01T12:34:56.789Z`, by Howard Hinnant's `civil_from_days`.
fn timestamp(ms: u64) -> String {
    let (seconds, ms) = (ms / 1000, ms % 1000);
    let (days, seconds) = (seconds / 86_400 + 719_468, seconds % 86_400);
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{ms:03}Z",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(timestamp(EPOCH_MS), "2025-01-01T00:00:00.000Z");
        assert_eq!(timestamp(951_868_799_500), "2000-02-29T23:59:59.500Z");
    }
}
