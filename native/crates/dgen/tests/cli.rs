//! The command line of `dgen`.

use std::process::Command;

fn dgen(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_dgen"))
        .args(arguments)
        .output()
        .expect("dgen starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn a_text_is_written_and_its_digest_printed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text");
    let path = path.to_str().unwrap();
    let (code, out, _) = dgen(&[
        "text", "--kind", "prose", "--size", "1MiB", "--seed", "42", "--output", path,
    ]);
    assert_eq!(code, Some(0));
    assert!(include_str!("vectors.txt").contains(&format!("prose 42 1048576 {out}")));
    assert_eq!(std::fs::metadata(path).unwrap().len(), 1 << 20);
}

#[test]
fn wrong_usage_and_failure_have_different_exit_codes() {
    assert_eq!(
        dgen(&[
            "text",
            "--kind",
            "verse",
            "--size",
            "1",
            "--output",
            "/dev/null"
        ])
        .0,
        Some(2)
    );
    assert_eq!(
        dgen(&["text", "--size", "1.5B", "--output", "/dev/null"]).0,
        Some(2)
    );
    let (code, _, error) = dgen(&["text", "--size", "1", "--output", "/no/such/folder/text"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        error,
        "dgen: cannot write /no/such/folder/text: No such file or directory (os error 2)\n"
    );
}

#[test]
fn generating_alone_is_valid_without_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let path = path.to_str().unwrap();
    let validate = ["validate", "--strategy", "generate-only", path];
    let (code, out, _) = dgen(&validate);
    assert_eq!(code, Some(0));
    assert_eq!(out, "{\"bytes\":0,\"file\":null}\n");
    std::fs::write(path, "x").unwrap();
    let (code, out, error) = dgen(&validate);
    assert_eq!(code, Some(1));
    assert_eq!(out, "");
    assert_eq!(
        error,
        format!("dgen: {path} is there, and the strategy writes no file\n")
    );
}
