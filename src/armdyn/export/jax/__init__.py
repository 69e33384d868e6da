"""Kernels as functions of JAX."""
