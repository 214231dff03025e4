"""Named contrasts: comparisons of two variants that a reader would act on."""
