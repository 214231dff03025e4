"""The commands of the panel "Inspect", which read records and pages."""
