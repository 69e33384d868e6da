"""Settings for the whole suite."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "armdyn",
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("armdyn")
