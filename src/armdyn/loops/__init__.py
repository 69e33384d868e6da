"""Closed loops: how passive joints follow from the actuated ones."""
