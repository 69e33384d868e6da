"""Programs as Python."""
