"""Pictures of a solid under a pose: exact, fast, shaded, and the panel of three."""
