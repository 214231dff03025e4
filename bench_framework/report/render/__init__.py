"""From a document to a format: Markdown, HTML, terminal. All print the same tree."""
