"""The search for the commit that changed a configuration: what to measure, and what follows."""
