"""Preparation of a measurement: forecast, trial runs, builds and inputs."""
