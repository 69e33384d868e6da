"""Motions that show the parameters of an arm."""
