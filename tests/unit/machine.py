"""A machine and a scenario of tests for which their properties do not matter."""

from bench_framework.model.record.run import Host

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
SCENARIO = """\
version: 1
name: small
question: Is b slower?
worker: {command: [/bin/true]}
axes: {arm: [a, b]}
command: ["{bin}", "{arm}"]
baseline: {arm: a}
"""
