"""The equations of motion, one file a method, for any leading batch shape."""
