"""Names that C, C++ and Python accept, from the names of robots."""

import keyword
import re
import sys
import unicodedata

from armdyn.errors import ModelError

_WORDS = """
    alignas alignof and asm auto bitand bitor bool break case catch char class compl const constexpr
    continue decltype default delete do double dynamic_cast else enum explicit export extern false
    float for friend goto if inline int long mutable namespace new noexcept not nullptr operator or
    private protected public register reinterpret_cast restrict return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid
    typename union unsigned using virtual void volatile wchar_t while xor
    assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdarg
    stdbool stddef stdint stdio stdlib string tgmath time wctype jax numpy torch
    all clean eigen fmu help install package std test aux con nul prn
    com1 com2 com3 com4 com5 com6 com7 com8 com9 lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9
"""
TAKEN = frozenset(_WORDS.split()) | set(keyword.kwlist) | sys.stdlib_module_names
"""Words of languages and CMake, devices of Windows, files or modules that others would hide."""


def prefix_of(name: str, wanted: str | None) -> str:
    """The start of names: what was wanted, or the name of the robot as an identifier."""
    if wanted is None:
        return identifier(name)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", wanted):
        raise ModelError(
            f"the prefix {wanted!r} cannot start the name of a function; "
            f"use letters, digits and underscores, a letter first, as in {identifier(wanted)!r}"
        )
    if wanted.lower() in TAKEN:
        raise ModelError(
            f"the prefix {wanted!r} is a word of C or Python, a device of Windows, or would hide a "
            f"file of that name; use another one, as {identifier(wanted)!r}"
        )
    return wanted


def identifier(name: str) -> str:
    """A name in lower case in which everything but letters and digits is an underscore."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    word = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    if not word:
        return "robot"
    return f"robot_{word}" if word[0].isdigit() or word in TAKEN else word


def comment(text: str) -> str:
    """Text that cannot end a comment or a docstring: one line of plain ASCII."""
    plain = unicodedata.normalize("NFKD", " ".join(text.split())).translate(_PLAIN)
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    plain = "".join(c for c in plain.encode("ascii", "replace").decode() if c.isprintable())
    plain = re.sub(r"\?{2,}", "?", plain)  # no trigraphs
    return plain.replace("*/", "* /").replace("/*", "/ *")


_PLAIN = str.maketrans(
    {"–": "-", "—": "-", "×": "x", "·": " ", "’": "'", '"': "'", "\\": "/", "~": "-"}
)
