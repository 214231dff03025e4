"""Records of one scenario from several hosts: where their verdicts agree, and where they do not."""
