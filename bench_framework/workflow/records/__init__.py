"""Records as files: verification, signatures, embedded runs, and exchange with other tools."""
