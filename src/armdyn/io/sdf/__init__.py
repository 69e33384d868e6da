"""SDF files, read by the graph of their joints."""
