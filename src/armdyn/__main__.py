"""`python -m armdyn` is the command line."""

from armdyn.cli import main

main()
