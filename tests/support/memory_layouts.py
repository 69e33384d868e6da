"""One array in many layouts of memory."""

import numpy as np


def fortran(x):
    return np.asfortranarray(x)


def every_other_row(x):
    wide = np.full((2 * len(x), *x.shape[1:]), np.nan, x.dtype)
    wide[::2] = x
    return wide[::2]


def every_third_column(x):
    wide = np.full((*x.shape[:-1], 3 * x.shape[-1]), np.nan, x.dtype)
    wide[..., 1::3] = x
    return wide[..., 1::3]


def backwards(x):
    turned = (slice(None, None, -1),) * x.ndim
    return x[turned].copy()[turned]


def unaligned(x):
    raw = np.zeros(x.nbytes + 1, np.uint8)
    moved = raw[1:].view(x.dtype).reshape(x.shape)
    moved[...] = x
    assert not moved.flags.aligned
    return moved


def in_records(x):
    kind = np.dtype([("tag", np.uint8), ("x", x.dtype, x.shape[1:])])
    records = np.zeros(len(x), kind)
    records["x"] = x
    return records["x"]


def swapped(x):
    return x.astype(x.dtype.newbyteorder())


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def columns_of_a_table(x):
    table = np.zeros((len(x), x[0].size + 5), x.dtype)
    view = table[:, 3:-2].reshape(x.shape)
    if view.base is None or not np.shares_memory(view, table):
        return x.copy()
    view[...] = x
    return view


LAYOUTS = [
    fortran, every_other_row, every_third_column, backwards, unaligned, in_records, swapped,
    read_only, columns_of_a_table,
]  # fmt: skip
