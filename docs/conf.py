"""The documentation as a site: `make docs` builds it into build/site, without a network."""

import sys
from pathlib import Path

import numpy.typing

sys.path.insert(0, str(Path(__file__).parent / "site"))


class ArrayLike:
    """Its name says more to a reader than the union that NumPy has for it."""


numpy.typing.ArrayLike = ArrayLike
from armdyn.version import __version__

project = "armdyn"
author = "the authors of armdyn"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "mathml",
    "repository",
    "reference",
    "options",
    "lessons",
]
exclude_patterns = ["site", "images"]

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
autodoc_preserve_defaults = True
maximum_signature_line_length = 88
python_use_unqualified_type_names = True
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = "armdyn"
html_static_path = ["site/static"]
html_css_files = ["armdyn.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
pygments_dark_style = "github-dark"
