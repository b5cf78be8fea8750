"""JAX simulator and evaluation kit for spatial reasoning by interactive projection alignment (RoTA-Bench)."""
