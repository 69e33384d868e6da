"""The numbers of the textbooks that golden tests hold."""

import json

import numpy as np

from support.paths import TEXTBOOK

_CASES = json.loads(TEXTBOOK.read_text(encoding="utf-8"))


def golden(case):
    """The numbers of one case, by the letters of its book."""
    return {letter: np.array(value) for letter, value in _CASES[case].items()}
