"""Rotations, solids and their symmetries."""
