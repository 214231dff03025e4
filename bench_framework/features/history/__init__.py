"""The history of a scenario: values over records and revisions, and their change points."""
