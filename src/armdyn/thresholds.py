"""Thresholds that decide how something is computed, each with the measurement that set it.

Counts are of operations; chains are those of arbitrary hinges, of which no number folds, and times
are of one core of a small server.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number beyond which something is computed in another way."""

    value: int
    decides: str
    """What is computed how up to the value, and beyond it."""
    measured: str
    """What was seen about the value."""


# which quantities are compiled whole

COMPILED_JOINTS = Threshold(
    256,
    "coordinates beyond which a quantity is left to NumPy unless its kernel is asked for",
    "compiling torques takes about a tenth of a second a joint; a chain of 64 has 9,403",
)
WHOLE_DERIVATIVES = Threshold(
    12,
    "coordinates beyond which derivatives are taken direction by direction, by a shorter program",
    "chains of 6, 12 and 16: 3,851, 13,879 and 23,507 whole; 2,150, 5,229 and 7,250 a direction",
)
COMPILED_CARTESIAN = Threshold(
    24,
    "coordinates beyond which the Cartesian form is left to NumPy",
    "chains of 12, 24 and 30: 11,091, 33,751 and 50,534",
)
COMPILED_MASS_ENTRIES = Threshold(
    1000,
    "entries of the lower triangle beyond which the mass matrix is left to NumPy",
    "chains with 990 and 2,080 entries: 32,843 and 68,933",
)
COMPILED_REGRESSOR = Threshold(
    24,
    "coordinates beyond which the regressor, with ten columns a link, is left to NumPy",
    "chains of 12, 24 and 30: 22,612, 89,900 and 140,311",
)
MOST_EXCITED = Threshold(
    24,
    "coordinates beyond which no motion is designed, as slopes of the regressor are not compiled",
    "compiling them takes minutes beyond; no figure was kept",
)
COMPILED_IN_STUDIO = Threshold(
    40,
    "joints beyond which the studio shows an arm without compiling it",
    "an arm shall be there within seconds; torques of a chain of 44 have 6,403",
)
MOST_OPERATIONS = Threshold(
    400_000,
    "operations beyond which a program is refused",
    "LLVM takes minutes and gigabytes beyond; no figure was kept",
)
MOST_REORDERED = Threshold(
    20_000,
    "operations beyond which a program is planned in the usual way, without another to compare",
    "planning goes through all operations once for each order that is compared",
)

# how hard a short program is looked for

SEARCHED_JOINTS = Threshold(
    8,
    "joints beyond which the quick choices of the minimal formulation are taken unsearched",
    "searching the choices of chains of 6 and 8 takes 0.6 s and 1.1 s",
)
SEARCHED_ORIGINS = Threshold(
    14,
    "joints beyond which every origin of a robot is moved, without a search",
    "a search takes 0.1 s, 0.2 s and 0.3 s for chains of 8, 10 and 14, and grows as the cube",
)
MOST_SHORTENED = Threshold(
    700,
    "operations of a quantity beyond which it goes through the passes alone by default",
    "a Coriolis matrix of 548: 0.1 s in the passes, 0.5 s in the search that saves 23 more",
)
MOST_PASSED = Threshold(
    6000,
    "operations of a quantity beyond which it is left as it is written by default",
    "a Coriolis matrix of 548 takes 0.1 s; the figure at the threshold was not kept",
)
MOST_SEARCHED_CELLS = Threshold(
    6000,
    "live cells of a network beyond which only equal values are found in it",
    "the table of all pairs, and the time for it, grow as the square",
)
MOST_PAIRED_CELLS = Threshold(
    1500,
    "live cells of a network beyond which no new inner operations are sought",
    "the table of their operands, and the time for it, grow as the square",
)

# which of two formulations is shorter

MOST_SYMBOLS = Threshold(
    7,
    "joints one behind the other up to which the Coriolis matrix by Christoffel symbols is tried",
    "chains of 6, 7 and 8: 2,030, 3,275 and 4,936; by composite bodies 2,021, 2,748 and 3,567",
)
FEWEST_ARTICULATED = Threshold(
    3,
    "joints one behind the other from which on articulated bodies are tried for accelerations",
    "chains of 2, 3 and 4: 104, 478 and 861; by the mass matrix 89, 357 and 665",
)
MOST_COMPOSITE = Threshold(
    14,
    "joints one behind the other up to which the mass matrix is tried for accelerations",
    "chains of 8, 10 and 12: 2,367, 3,528 and 4,917; by articulated bodies 2,393, 3,159 and 3,925",
)

# how a program is proved

MOST_PROVED_JOINTS = Threshold(
    24,
    "joints beyond which a part is compared with a textbook at random states only",
    "a proof evaluates every node of the textbook twice; no figure was kept",
)
MOST_PROVED_NODES = Threshold(
    150_000,
    "nodes of a textbook beyond which a program is compared at random states only",
    "a proof evaluates every node of the textbook twice; no figure was kept",
)
