"""From plan to record: processes, builds, inputs, rounds."""
