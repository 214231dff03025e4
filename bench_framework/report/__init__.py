"""The report: a document tree, its figures, and one renderer per format.

`features.document.build` builds the document. ``render.markdown``, ``render.html`` and
``render.terminal`` print it, and ``figures`` draws its charts. Figures and templates are imported
only where they are needed.
"""
