"""Renderers of a document: Markdown, HTML and terminal. All print the same tree."""
