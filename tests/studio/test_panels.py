"""What the panels show, without a browser."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import armdyn
from armdyn.analysis.operations import STAGES, count_operations
from armdyn.analysis.operation_report import operation_report
from armdyn.analysis.structure import structure
from armdyn.io.catalog import catalog_names
from armdyn.model.validate import Finding
from armdyn.studio import svg
from armdyn.studio.background import WindowClosedError
from armdyn.studio.evaluate import Evaluator, State, pose, slider_limits
from armdyn.studio.panels.files import check_html
from armdyn.studio.panels.matrix import heat_map
from armdyn.studio.panels.operations import operation_bars
from armdyn.studio.panels.play import plots
from armdyn.studio.panels.structure import structure_html
from armdyn.studio.panels.torque import grown, torque_bars
from armdyn.studio.recording import from_file, simulated, there_and_back

pytest.importorskip("viser")
HOSTILE = "<img src=x onerror='alert(1)'>\"&"
