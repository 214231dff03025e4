"""The extensions that come with benchctl, each found through its entry point (see README.md)."""
