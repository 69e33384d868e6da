"""The parts of `armdyn.dynamics.Robot`, each a class that the next one builds on."""
