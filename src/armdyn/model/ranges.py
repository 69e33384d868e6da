"""Sizes of numbers that dynamics is computed with: products of them are floating-point numbers."""

MASS_RANGE = 1e-60, 1e60
"""Masses, besides none [kg]."""
LARGEST_LENGTH = 1e30
"""Longest offset of a joint, a body or a centre of mass, and the largest gravity [m, m/s²]."""
SHAPE_RANGE = 1e-30, LARGEST_LENGTH
"""Lengths of a shape [m]."""
MOMENT_RANGE = 1e-120, 1e120
"""Moments of inertia of rotors and of bodies without mass, besides none [kg m²]. The solution with
a mass matrix multiplies two of them, which stays within the range of floating-point numbers."""
