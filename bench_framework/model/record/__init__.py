"""What was measured, as records store it."""
