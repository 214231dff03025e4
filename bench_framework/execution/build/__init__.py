"""The programs to measure: their sources, builds and stored binaries."""
