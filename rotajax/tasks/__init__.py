"""Tasks and suites: starts, frozen geometry, loading and building."""
