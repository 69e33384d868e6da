"""Settings for the whole suite."""

import os
import shutil
import tempfile

from hypothesis import HealthCheck, settings

settings.register_profile(
    "armdyn",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("armdyn")


def pytest_configure(config):
    """One cache for a run and all its workers, which inherit the variable; never the user's own."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="armdyn-tests-")
        os.environ["ARMDYN_CACHE_DIR"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
