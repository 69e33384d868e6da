"""Programs in other languages, for other programs and processors, and in other libraries."""
