"""Programs as C."""
