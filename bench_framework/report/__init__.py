"""From claims to bytes: sections, figures, renderers."""
