"""One word, one meaning: what stands in two rooms is listed, and the lists may only get shorter."""

import ast
from collections import defaultdict

import pytest

from support.paths import SOURCE
from support.source_code import FILES, tree_of

CLASSES = """
Block Choices Equations Finding Loop Noise Piece
Problem Rows Samples Search System
"""
FUNCTIONS = """
angle_sum bench branches check check_loops check_names compare compiled constants
coriolis_matrix counted draw entries equations evaluate exact excite export fitting
identify index inner jacobian legend mirrored module mujoco number numbers operations
passive_joints pinocchio place pose power product rank read_triangles reduced
request_of robots run scaled search sign simplify simulate size substituted sweep terms toolbox
turned
"""


@pytest.mark.slow
def test_no_class_name_stands_in_two_files_but_those_that_did():
    assert _twice(ast.ClassDef) == set(CLASSES.split())


@pytest.mark.slow
def test_no_public_function_name_stands_in_two_files_but_those_that_did():
    assert _twice(ast.FunctionDef) == set(FUNCTIONS.split())


def _twice(kind):
    """Names of classes, or of public functions, that several files define."""
    places = defaultdict(set)
    for path in FILES:
        for node in tree_of(path).body:
            private = kind is ast.FunctionDef and getattr(node, "name", "").startswith("_")
            if isinstance(node, kind) and not private:
                places[node.name].add(path.relative_to(SOURCE))
    return {name for name, files in places.items() if len(files) > 1}
