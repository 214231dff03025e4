"""The noise of this machine, from A/A windows."""
