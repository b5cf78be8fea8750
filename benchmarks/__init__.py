"""Benchmarks: every question is timed beside its peers, on the same points, in one run."""
