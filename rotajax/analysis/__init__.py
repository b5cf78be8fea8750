"""What runs say: the decomposition of steps, rows of metrics, intervals."""
