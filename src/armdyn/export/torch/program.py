"""A program in torch, for devices that armdyn has no kernels for and for higher derivatives."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import torch
from armdyn.export.library_tables import array_functions
from armdyn.graph.program import Program


def run_program(program: Program, vectors: Sequence[Any]) -> Any:
    """A program in torch, on any device."""
    entries = [v[..., k] for v in vectors for k in range(v.shape[-1])]
    outputs = program.evaluated(entries, _functions())
    batch, like = vectors[0].shape[:-1], vectors[0]
    whole = [
        torch.as_tensor(y, dtype=like.dtype, device=like.device).expand(batch) for y in outputs
    ]
    return torch.stack(whole, -1).reshape(batch + program.shape)


@lru_cache(maxsize=1)
def _functions() -> dict[str, Callable[..., Any]]:
    return array_functions(torch)
