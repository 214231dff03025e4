//! A fake hyperfine that runs nothing and returns results from the script in `BENCHCTL_FAKE_SCRIPT`.
//!
//! The tests start it tens of thousands of times, so it is a program without dependencies that starts in a
//! millisecond: `rustc hyperfine.rs`.
//!
//! The script: `{"seed": 7, "commands": [{"match": "text in the command", …}]}`; the first match is used.
//! With `"clock": "rounds"` next to the seed, a call is numbered by the complete rounds in the record's journal
//! instead of the earlier calls, so a repeated run after a kill takes the same time. Keys:
//!
//! - `contains`: the program must contain this text, too
//! - `wall_s`: time of a run (0.05); call n of a command takes `wall_s * (1 + spread * noise(seed, match, n, run))`
//! - `spread`: relative, 0.02
//! - `memory_bytes`: 4 MiB
//! - `exit_code`: 0; with `fail_calls` `[1, 3]` only in these calls of the command, counted from 1
//! - `digest`: appends a line of the worker protocol with this digest for each run
//! - `digests`: digest per call of the command; the last one is repeated
//! - `effective`: axis -> value in that line
//! - `stdout`: written to `--output FILE`
//! - `file`: `[path, text]`, written by each call
//! - `answer`: written to the answers file instead of a valid line
//! - `sleep_s`: sleeps, for timeouts and interruptions
//! - `json`: "none": no JSON, exit 1; other text is written instead of the JSON
//!
//! Every call is appended to `SCRIPT.calls`, one JSON line each.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fmt, thread};

fn main() -> ExitCode {
    let words: Vec<String> = env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if words == ["--version"] {
        println!("hyperfine 1.20.0");
        return ExitCode::SUCCESS;
    }
    let (options, command) = parse(&words);
    let option = |name: &str| options.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let path = env::var("BENCHCTL_FAKE_SCRIPT").expect("a script");
    let script = read(&fs::read_to_string(&path).expect("the script"));
    let rule = script.list("commands").iter().find(|rule| matches(rule, &command));
    let nothing = Json::Map(vec![("match".into(), Json::Text(String::new()))]);
    let rule = rule.unwrap_or(&nothing);
    let name = rule.text("match").unwrap_or_default();

    let log = format!("{path}.calls");
    let start = format!("{{\"match\": {},", Json::Text(name.into()));
    let export = option("--export-json").expect("--export-json");
    let number = 1 + match script.text("clock") {
        Some("rounds") => whole_rounds(export),
        _ => fs::read_to_string(&log).map_or(0, |log| log.lines().filter(|line| line.starts_with(&start)).count()),
    };
    let runs: usize = option("--runs").and_then(|runs| runs.parse().ok()).expect("--runs");
    let given = Json::Map(options.iter().map(|(key, value)| (key.clone(), Json::Text(value.clone()))).collect());
    let call = format!("{start} \"command\": {}, \"runs\": {runs}, \"options\": {given}}}\n", Json::Text(command.clone()));
    append(&log, &call);

    thread::sleep(Duration::from_secs_f64(rule.number("sleep_s", 0.0)));
    if rule.text("json") == Some("none") {
        eprintln!("Error: Failed to run command: No such file or directory (os error 2)");
        return ExitCode::FAILURE;
    }
    let failing = rule.get("fail_calls").is_none() || rule.list("fail_calls").iter().any(|call| call.is(number));
    let code = if failing { rule.number("exit_code", 0.0) } else { 0.0 };
    if let Some(file) = option("--output").filter(|file| !["pipe", "null"].contains(file)) {
        fs::write(file, rule.text("stdout").unwrap_or_default()).expect("the output");
    }
    if code == 0.0 {
        answer(rule, number, runs);
        if let [Json::Text(file), Json::Text(text)] = rule.list("file") {
            fs::write(file, text).expect("the file of the rule");
        }
    }
    let result = rule.text("json").map_or_else(
        || {
            let seed = script.number("seed", 0.0);
            let times = (0..runs).map(|run| time_of(rule, &format!("{seed}/{name}/{number}/{run}"))).collect();
            results(rule, command, times, code)
        },
        String::from,
    );
    fs::write(export, result).expect("the export");
    ExitCode::SUCCESS
}

/// Returns options with their values, and the command after `--`.
fn parse(words: &[String]) -> (Vec<(String, String)>, String) {
    let mut options = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            return (options, words.next().expect("a command").clone());
        }
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, value.into()),
            None if word == "--ignore-failure" => (word.as_str(), String::new()),
            None => (word.as_str(), words.next().expect("a value").clone()),
        };
        options.push((name.into(), value));
    }
    panic!("no command");
}

fn matches(rule: &Json, command: &str) -> bool {
    let contains = |text: &str| {
        // A path with other characters would be quoted.
        let program = command.split(' ').next().unwrap_or_default().trim_matches('\'');
        fs::read(program).expect("the program").windows(text.len()).any(|part| part == text.as_bytes())
    };
    command.contains(rule.text("match").unwrap_or_default()) && rule.text("contains").is_none_or(contains)
}

/// Returns the number of complete rounds in the journal of the record that contains the export.
fn whole_rounds(export: &str) -> usize {
    let record = Path::new(export).parent().and_then(Path::parent).expect("the folder of the record");
    let journal = fs::read_to_string(record.join("journal.jsonl")).expect("the journal");
    journal.lines().filter(|line| line.contains("\"kind\":\"round-end\"")).count()
}

/// Returns a time that depends only on the script and the number of the call.
fn time_of(rule: &Json, text: &str) -> f64 {
    let noise = f64::from(mixed(crc32(text.as_bytes()))) / 4_294_967_296.0;
    rule.number("wall_s", 0.05) * (1.0 + rule.number("spread", 0.02) * noise)
}

/// Returns 32 bits that are unrelated for related CRCs: a CRC is linear, so those of similar texts move together.
fn mixed(bits: u32) -> u32 {
    let bits = [0x7FEB_352D, 0x846C_A68B].iter().fold(bits, |bits, factor| (bits ^ bits >> 16).wrapping_mul(*factor));
    bits ^ bits >> 16
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 })
    })
}

fn answer(rule: &Json, number: usize, runs: usize) {
    let target = env::var("BENCHCTL_ANSWERS").unwrap_or_default();
    let digests = rule.list("digests");
    let digest = digests.get(number.min(digests.len()).saturating_sub(1)).or(rule.get("digest"));
    if target.is_empty() || (digest.is_none() && rule.get("answer").is_none()) {
        return;
    }
    for run in 0..runs {
        let line = rule.text("answer").map_or_else(
            || {
                let effective = rule.get("effective").map_or("{}".into(), Json::to_string);
                let memory = rule.number("memory_bytes", MEMORY);
                format!(
                    r#"{{"protocol": 1, "iteration": "{run}",
                    "answer": {{"count": 1, "distinct": 1, "digest": {}}},
                    "effective": {effective}, "threads": 1, "phases_s": {{"work": 0.01}}, "bytes": 1,
                    "peak_rss_bytes": {memory},
                    "minor_faults": 1, "major_faults": 0, "ctx_vol": 0, "ctx_invol": 0,
                    "read_bytes": null, "write_bytes": null, "metrics": {{}}, "notes": []}}"#,
                    digest.expect("a digest")
                )
                .replace('\n', "")
                    + "\n"
            },
            String::from,
        );
        append(&target, &line);
    }
}

const MEMORY: f64 = 4_194_304.0;

fn results(rule: &Json, command: String, mut times: Vec<f64>, code: f64) -> String {
    let list = |values: &[f64]| Json::List(values.iter().map(|value| Json::Number(*value)).collect());
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let fields = [
        ("command", Json::Text(command)),
        ("mean", Json::Number(mean)),
        ("stddev", Json::Other("null".into())),
        ("user", Json::Number(mean * 0.8)),
        ("system", Json::Number(mean * 0.1)),
        ("times", list(&times)),
        ("memory_usage_byte", list(&vec![rule.number("memory_bytes", MEMORY); times.len()])),
        ("exit_codes", list(&vec![code; times.len()])),
    ];
    times.sort_by(f64::total_cmp);
    let sorted = [("min", 0), ("median", times.len() / 2), ("max", times.len() - 1)];
    let sorted = sorted.map(|(name, at)| (name, Json::Number(times[at])));
    let result = fields.into_iter().chain(sorted).map(|(name, value)| (name.into(), value)).collect();
    format!("{{\"results\": [{}]}}", Json::Map(result))
}

fn append(path: &str, text: &str) {
    let mut file: File = OpenOptions::new().append(true).create(true).open(path).expect("a file");
    file.write_all(text.as_bytes()).expect("space");
}

/// A value of JSON; `Other` is `null`, `true` or `false`.
enum Json {
    Other(String),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

impl Json {
    fn get(&self, name: &str) -> Option<&Json> {
        let Json::Map(fields) = self else { return None };
        fields.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    fn text(&self, name: &str) -> Option<&str> {
        if let Json::Text(text) = self.get(name)? { Some(text) } else { None }
    }

    fn number(&self, name: &str, default: f64) -> f64 {
        if let Some(Json::Number(number)) = self.get(name) { *number } else { default }
    }

    fn list(&self, name: &str) -> &[Json] {
        if let Some(Json::List(list)) = self.get(name) { list } else { &[] }
    }

    fn is(&self, number: usize) -> bool {
        matches!(self, Json::Number(value) if *value == number as f64)
    }
}

impl fmt::Display for Json {
    /// Writes what `json.dumps` of Python does, except that characters outside of ASCII are not escaped.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Json::Other(word) => to.write_str(word),
            Json::Number(number) => write!(to, "{number}"),
            Json::Text(text) => quote(text, to),
            Json::List(list) => {
                for (at, value) in list.iter().enumerate() {
                    write!(to, "{}{value}", if at == 0 { "[" } else { ", " })?;
                }
                to.write_str(if list.is_empty() { "[]" } else { "]" })
            }
            Json::Map(fields) => {
                for (at, (name, value)) in fields.iter().enumerate() {
                    to.write_str(if at == 0 { "{" } else { ", " })?;
                    quote(name, to)?;
                    write!(to, ": {value}")?;
                }
                to.write_str(if fields.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

fn quote(text: &str, to: &mut fmt::Formatter<'_>) -> fmt::Result {
    to.write_str("\"")?;
    for letter in text.chars() {
        match letter {
            '"' | '\\' => write!(to, "\\{letter}")?,
            '\n' => to.write_str("\\n")?,
            control if control < ' ' => write!(to, "\\u{:04x}", control as u32)?,
            other => write!(to, "{other}")?,
        }
    }
    to.write_str("\"")
}

fn read(text: &str) -> Json {
    Reader(text).value()
}

/// The rest of a text of JSON, which must be valid.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn value(&mut self) -> Json {
        match self.next() {
            '{' => Json::Map(self.items('}', |reader| {
                reader.expect('"');
                let name = reader.string();
                reader.expect(':');
                (name, reader.value())
            })),
            '[' => Json::List(self.items(']', Self::value)),
            '"' => Json::Text(self.string()),
            first => {
                let end = self.0.find([',', '}', ']', '\n']).unwrap_or(self.0.len());
                let word = format!("{first}{}", self.0[..end].trim());
                self.0 = &self.0[end..];
                word.parse().map_or(Json::Other(word), Json::Number)
            }
        }
    }

    /// Returns the next character that is no space.
    fn next(&mut self) -> char {
        self.0 = self.0.trim_start();
        self.letter()
    }

    fn letter(&mut self) -> char {
        let letter = self.0.chars().next().expect("more text");
        self.0 = &self.0[letter.len_utf8()..];
        letter
    }

    fn expect(&mut self, letter: char) {
        assert_eq!(self.next(), letter, "before {}", self.0);
    }

    fn items<T>(&mut self, end: char, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        while !self.0.trim_start().starts_with(end) {
            items.push(item(self));
            self.0 = self.0.trim_start().trim_start_matches(',');
        }
        self.expect(end);
        items
    }

    /// Returns the string whose first quote is read.
    fn string(&mut self) -> String {
        let mut text = Vec::new();
        loop {
            match self.letter() {
                '"' => return String::from_utf16(&text).expect("pairs of surrogates"),
                '\\' => match self.letter() {
                    'n' => text.push(10),
                    't' => text.push(9),
                    'r' => text.push(13),
                    'b' => text.push(8),
                    'f' => text.push(12),
                    'u' => {
                        text.push(u16::from_str_radix(&self.0[..4], 16).expect("four digits"));
                        self.0 = &self.0[4..];
                    }
                    other => text.push(other as u16),
                },
                other => text.extend_from_slice(other.encode_utf16(&mut [0; 2])),
            }
        }
    }
}
