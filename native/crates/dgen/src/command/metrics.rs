//! Metrics of `dgen run write`.

use dgen::write::Stats;

worker::metrics! { Stats {
    "achieved_depth": Count None, |of| of.achieved_depth, "blocks under way, mean over the elapsed time";
    "buffer_bytes": Bytes None, |of| of.buffer_bytes, "bytes of a buffer";
    "buffers": Count None, |of| of.evidence.buffers, "buffers that were filled";
    "cached_bytes_after": Bytes None, |of| of.cached_bytes_after,
        "bytes of the file in the page cache afterwards";
    "cached_bytes_before": Bytes None, |of| of.cached_bytes_before,
        "bytes of the replaced file in the page cache before writing";
    "depth": Count None, |of| of.depth, "the most blocks that one thread may have under way";
    "elapsed_s": S Lower, |of| of.elapsed_s, "from the first contents to the last completion";
    "files": Count None, |of| of.files, "files written";
    "filled_bytes": Bytes None, |of| of.evidence.filled_bytes, "bytes of contents produced";
    "first_done_s": S Lower, |of| of.first_done_s, "from the first contents to the first completion";
    "latency_max_s": S Lower, |of| of.latency.max, "longest time of a block under way";
    "latency_p50_s": S Lower, |of| of.latency.p50, "time of a block under way, median";
    "latency_p90_s": S Lower, |of| of.latency.p90, "time of a block under way, 90th percentile";
    "latency_p999_s": S Lower, |of| of.latency.p999, "time of a block under way, 99.9th percentile";
    "latency_p99_s": S Lower, |of| of.latency.p99, "time of a block under way, 99th percentile";
    "operations": Count None, |of| of.evidence.operations, "operations that completed";
    "repeated": Count Lower, |of| of.evidence.repeated, "completions that asked for a repetition";
    "short": Count Lower, |of| of.evidence.short, "completions with fewer bytes than asked for";
    "synced_s": S Lower, |of| of.synced_s, "from the first contents until the file was synced as asked";
} }
