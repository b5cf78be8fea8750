"""A plain NumPy, OpenCV and Python reading of the paper's appendices, to hold the package against.

Nothing here imports the package. Simple before fast: whole-array NumPy and loops, float64 where the paper does not say
float32 (Appendix G: the renderer's geometry).
"""
