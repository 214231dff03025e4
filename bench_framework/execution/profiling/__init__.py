"""Profiles: sampled functions of a program in untimed runs."""
