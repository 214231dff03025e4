"""One package per capability that adds claims and report sections, and the modules that combine them."""
