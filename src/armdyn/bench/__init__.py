"""The speed of armdyn beside other libraries."""
