"""Suites: several scenarios with one budget, one error rate and one result."""
