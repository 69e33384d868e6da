"""Exact algebra: trigonometric polynomials of joint angles with symbolic coefficients."""
