"""Plan, build, run, judge, report and verify as functions: what the command line and notebooks call."""
