"""Arrays of dask and xarray: blocks are computed by whoever has them, and labels stay."""

import dask.array as da
import numpy as np
import pytest
import xarray

import armdyn
from armdyn.errors import ShapeError

pytestmark = pytest.mark.slow
ROBOT = armdyn.load("two_link")
Q, QD, QDD = np.random.default_rng(3).uniform(-1, 1, (3, 8, 2))
LAZY = [da.from_array(x, chunks=(4, 2)) for x in (Q, QD, QDD)]
FUNCTIONS = {"method": ROBOT.inverse_dynamics, "kernel": ROBOT.kernel("inverse_dynamics")}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_dask_maps_functions_of_a_robot_over_blocks(function):
    expected = ROBOT.inverse_dynamics(Q, QD, QDD)
    mapped = da.map_blocks(function, *LAZY)
    applied = da.apply_gufunc(function, "(n),(n),(n)->(n)", *LAZY)
    for found in (mapped, applied):
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found.compute(), expected)
    matrices = da.map_blocks(ROBOT.mass_matrix, LAZY[0], new_axis=2, chunks=((4, 4), (2,), (2,)))
    np.testing.assert_array_equal(matrices.compute(), ROBOT.mass_matrix(Q))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_all_of_an_array_of_dask_is_not_computed_in_passing(function):
    with pytest.raises(
        ShapeError, match=r"q is an array of dask.*dask\.array\.map_blocks\(robot\."
    ):
        function(*LAZY)


def test_arrays_of_the_wrong_length_are_refused_though_dask_is_there():
    with pytest.raises(ShapeError, match=r"q: expected shape \(\.\.\., 2\)"):
        ROBOT.mass_matrix([[1.0]])
    with pytest.raises(ShapeError, match=r"q: expected shape \(\.\.\., 2\)"):
        ROBOT.mass_matrix([])
    with pytest.raises(ShapeError, match="q: expected real numbers"):
        ROBOT.mass_matrix([1, [2]])
    assert np.isnan(ROBOT.mass_matrix(np.zeros((1, 1)))).all()  # what dask tries, and no number


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_labels_of_xarray_stay(function):
    coords = {"time": np.arange(8.0), "axis": list(ROBOT.joint_names)}
    q, qd, qdd = (xarray.DataArray(x, coords, ("time", "axis")) for x in (Q, QD, QDD))
    found = function(q, qd, qdd)
    assert found.dims == ("time", "axis")
    np.testing.assert_array_equal(found.values, ROBOT.inverse_dynamics(Q, QD, QDD))
    one = found.sel(time=3.0, axis=ROBOT.joint_names[1])
    assert float(one) == ROBOT.inverse_dynamics(Q[3], QD[3], QDD[3])[1]
    still = function(q, np.zeros(2), qdd.sel(time=0.0))  # which broadcasts by names
    np.testing.assert_array_equal(still.values, ROBOT.inverse_dynamics(Q, np.zeros(2), QDD[0]))


def test_a_matrix_of_labelled_positions_has_an_axis_for_rows_and_one_for_columns():
    q = xarray.DataArray(Q, dims=("time", "axis"))
    assert ROBOT.mass_matrix(q).dims == ("time", "axis", "axis2")
    assert ROBOT.kinetic_energy(q, q).dims == ("time",)


def test_lazy_arrays_with_labels_stay_lazy():
    given = [xarray.DataArray(x, dims=("time", "axis")) for x in LAZY]
    found = ROBOT.inverse_dynamics(*given)
    assert isinstance(found.data, da.Array)
    np.testing.assert_array_equal(found.compute().values, ROBOT.inverse_dynamics(Q, QD, QDD))
