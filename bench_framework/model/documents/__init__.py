"""The documents of ``--json`` and ``--events``."""
