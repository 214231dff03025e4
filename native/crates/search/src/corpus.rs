//! The files to search.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file and its name in the answer, which does not depend on the location of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Path of the file.
    pub path: PathBuf,
    /// The path below the folder that was given; for a file that was given its own name. With
    /// several inputs, the number of the input is prepended.
    pub name: String,
    /// Bytes when the search began.
    pub size: u64,
}

/// The files of the inputs in the order of their names: a file as it is, of a folder every `*.jsonl` below it.
///
/// # Errors
/// An input cannot be read or contains no `*.jsonl` file. The message names its path.
pub fn sessions(inputs: &[PathBuf]) -> Result<Vec<Session>, String> {
    let mut list = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        let before = list.len();
        let prefix = if inputs.len() > 1 {
            format!("{number}/")
        } else {
            String::new()
        };
        collect(input, input, &prefix, &mut list)?;
        if list.len() == before {
            return Err(format!("{} contains no *.jsonl file", input.display()));
        }
        list[before..]
            .sort_by(|left, right| (&left.name, &left.path).cmp(&(&right.name, &right.path)));
    }
    Ok(list)
}

fn collect(path: &Path, input: &Path, prefix: &str, list: &mut Vec<Session>) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot read {}: {error}", path.display());
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        for entry in fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            // A link to a folder may lead back up, and is not followed. A link to nothing is an error further down.
            let named = path.extension().is_some_and(|end| end == "jsonl");
            if kind.is_dir() || named && !path.is_dir() {
                collect(&path, input, prefix, list)?;
            }
        }
        return Ok(());
    }
    if !metadata.is_file() {
        // A pipe may never end, and has no size to compare with the number of searched bytes.
        return Err(format!("{} is not a regular file", path.display()));
    }
    let below = path.strip_prefix(input).ok();
    let name = below
        .filter(|below| !below.as_os_str().is_empty())
        .or_else(|| path.file_name().map(Path::new))
        .unwrap_or(path);
    list.push(Session {
        path: path.to_owned(),
        name: format!("{prefix}{}", readable(name)),
        size: metadata.len(),
    });
    Ok(())
}

/// Returns the name as text. Bytes that are not UTF-8 become `\xff`, so that different names stay
/// different.
fn readable(name: &Path) -> String {
    let mut text = String::new();
    for chunk in name.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_searched_in_order_and_names_are_relative() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "b/2.jsonl",
            "a/10.jsonl",
            "a/notes.txt",
            "c.jsonl",
            "a/1.jsonl",
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
        let list = sessions(&[folder.path().to_owned()]).unwrap();
        let names: Vec<_> = list.iter().map(|session| session.name.as_str()).collect();
        assert_eq!(names, ["a/1.jsonl", "a/10.jsonl", "b/2.jsonl", "c.jsonl"]);
        let two = sessions(&[folder.path().join("b"), folder.path().join("c.jsonl")]).unwrap();
        let names: Vec<_> = two.iter().map(|session| session.name.as_str()).collect();
        assert_eq!(names, ["0/2.jsonl", "1/c.jsonl"]);
    }

    #[test]
    fn an_input_without_sessions_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("absent")] {
            let error = sessions(std::slice::from_ref(&path)).unwrap_err();
            assert!(error.contains(&path.display().to_string()), "{error}");
        }
    }

    #[test]
    fn an_input_that_is_not_a_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.jsonl"), "x").unwrap();
        let link = folder.path().join("b.jsonl");
        std::os::unix::fs::symlink("nowhere", &link).unwrap();
        let error = sessions(&[folder.path().to_owned()]).unwrap_err();
        assert!(error.contains("b.jsonl"), "{error}");
        fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let error = sessions(&[folder.path().to_owned()]).unwrap_err();
        assert!(error.ends_with("b.jsonl is not a regular file"), "{error}");
    }

    #[test]
    fn names_that_are_not_text_stay_distinct() {
        use std::os::unix::ffi::OsStrExt;

        let folder = tempfile::tempdir().unwrap();
        for name in [&b"b\xff.jsonl"[..], b"b\xfe.jsonl", "é.jsonl".as_bytes()] {
            fs::write(folder.path().join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
        }
        let list = sessions(&[folder.path().to_owned()]).unwrap();
        let names: Vec<_> = list.iter().map(|session| session.name.as_str()).collect();
        assert_eq!(names, ["b\\xfe.jsonl", "b\\xff.jsonl", "é.jsonl"]);
    }
}
