"""Speed as ratios: every figure is measured beside its reference, in one run, on one core."""
