"""Logs of arms: CSV, Parquet and NPZ files, and arrays, read in blocks."""

from armdyn.io.log.columns import TIME_UNITS as TIME_UNITS
from armdyn.io.log.log import Log as Log
from armdyn.io.log.log import Samples as Samples
from armdyn.io.log.log import open_log as open_log
