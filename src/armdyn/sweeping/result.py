"""What a sweep found, told, drawn and written."""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armdyn.arrays import Array
from armdyn.errors import WriteError
from armdyn.figures import save_picture
from armdyn.sections import Section, Sectioned
from armdyn.sweeping.found import Found
from armdyn.sweeping.parquet import write_parquet
from armdyn.sweeping.picture import draw
from armdyn.sweeping.report import sections_of
from armdyn.sweeping.store import entry_names


@dataclass(frozen=True, eq=False)
class SweepResult(Found, Sectioned):
    """What a sweep kept, and how long it took."""

    def sections(self) -> tuple[Section, ...]:
        """The report."""
        return sections_of(self)

    def plot(self, path: str | Path, *, workspace: bool = False) -> None:
        """Draw what was kept to a .png, .pdf or .svg file.

        Extremes over one or two kept columns are lines or maps; with `workspace`, over the radius
        and the height of the tool in those states. Otherwise histograms or ranges are drawn.
        """
        save_picture(path, draw, self, workspace)

    def arrays(self) -> dict[str, Array]:
        """Everything that was kept, by names as extremes_max, (cells..., entries..., ...)."""
        found: dict[str, Array] = {}
        for reduction in self.reductions:
            kept = getattr(self, reduction.name)
            for name in type(kept).__slots__:
                found[f"{reduction.name}_{name}"] = np.asarray(getattr(kept, name))
        return found

    def write(self, path: Path) -> None:
        """Write what was kept to a Zarr store, or as a table with a row for each cell."""
        try:
            if path.suffix.lower() == ".zarr":
                import zarr  # noqa: PLC0415 (an extra)

                told = {"robot": self.subject.robot.name, "quantity": self.subject.quantity.name}
                group = zarr.create_group(path, zarr_format=3, overwrite=True, attributes=told)
                for name, values in (self.kept | self.arrays()).items():
                    group.create_array(name, data=np.ascontiguousarray(values))
            else:
                self._write_table(path)
        except OSError as reason:
            raise WriteError(f"cannot write {str(path)!r}: {reason.strerror or reason}") from None

    def _write_table(self, path: Path) -> None:
        mesh = np.meshgrid(*self.kept.values(), indexing="ij")
        columns = {name: values.ravel() for name, values in zip(self.kept, mesh, strict=True)}
        rows = math.prod(self.cells)
        entries = entry_names("", self.subject.kernel.shape)
        for reduction, part in zip(self.reductions, self.totals, strict=True):
            for key, values in part.items():
                flat = values.reshape(rows, len(entries), -1)
                for e, entry in enumerate(entries):
                    for k in range(flat.shape[2]):
                        more = f"_{k + 1}" if values.ndim > 2 else ""
                        columns[f"{reduction.name}_{key}{entry}{more}"] = flat[:, e, k]
        write_parquet(path, columns, {"armdyn": self.subject.quantity.name})
