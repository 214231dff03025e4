"""From YAML to a plan."""
