"""Statistics of plain numbers: signed ranks, label swaps, intervals, families of comparisons."""
