"""The measurements, as records store them."""
