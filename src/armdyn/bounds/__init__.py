"""Bounds that hold for every state, with the states that reach them and a certificate."""
