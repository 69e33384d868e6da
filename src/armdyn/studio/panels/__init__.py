"""The panels of the studio, one a file."""
