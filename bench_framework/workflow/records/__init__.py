"""Records as files: verification, signatures, embedded runs, differences and imported results."""
