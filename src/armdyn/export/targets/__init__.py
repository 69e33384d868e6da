"""Exported C wrapped for other programs: build systems, languages, simulators, robots."""
