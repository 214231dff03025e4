"""The machine of tests that need one whose properties do not matter."""

from bench_framework.model.run import Host

HOST = Host(
    host_id="h1",
    boot_id="b1",
    cpu="EPYC",
    cores=2,
    ram_bytes=8 << 30,
    kernel="6.1.0-28",
    os="Debian",
    governor=None,
    virtualised="kvm",
    results_filesystem="ext4",
    data_filesystem="ext4",
    hyperfine="1.20.0",
    rustc="r",
    cargo="c",
    python="p",
    benchctl="0.1",
)
