//! Copies the data files of the wheel into `OUT_DIR/_assets`: templates, scenarios, their schema
//! and the sources of the workers. maturin takes them from there (`include … from = "out-dir"` in
//! pyproject.toml); a symlink in the package would silently be left out of a wheel.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders and files of the repository, relative to its root.
const ASSETS: &[&str] = &[
    "templates",
    "scenarios",
    "docs/reference/scenario.schema.json",
    "native/Cargo.toml",
    "native/Cargo.lock",
    "native/crates",
];

fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = manifest.join("../../..");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("_assets");
    if out.exists() {
        // A file that is gone from the repository must be gone from the wheel.
        fs::remove_dir_all(&out)?;
    }
    for name in ASSETS {
        let from = root.join(name);
        // Named even when absent, so that its appearance is noticed; absent in a crate built outside the repository.
        println!("cargo::rerun-if-changed={}", from.display());
        if from.exists() {
            copy(&from, &out.join(name))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if from.is_dir() {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            let name = entry.file_name();
            // A wheel has no build output and no tests. `mod tests;` is compiled for tests only.
            let unwanted = name == "target" || name == "tests" || name == "tests.rs";
            if !unwanted && !name.to_string_lossy().starts_with('.') {
                copy(&entry.path(), &to.join(name))?;
            }
        }
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).map(drop)
}
