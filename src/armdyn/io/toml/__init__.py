"""Robot files in armdyn's own format: reader and writer."""
