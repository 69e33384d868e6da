"""Every quantity against its formulas, evaluated as they are written; kernels against programs."""

import re
from dataclasses import replace

import numpy as np
import pytest

from armdyn import Robot
from armdyn.errors import ModelError
from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.external import exerted_wrench
from armdyn.formulations.forward_dynamics import METHODS
from armdyn.formulations.parameters import robot_parameters
from armdyn.graph.operations import OPERATIONS
from armdyn.kernels.kernel import Kernel
from armdyn.loops.coordinates import coordinates_of
from armdyn.quantities.program import QUANTITIES
from armdyn.quantities.request import Request
from armdyn.thresholds import WHOLE_DERIVATIVES
from support.peers import close
from support.programs import Evaluated, kept_program
from support.random_robots import random_model
from support.textbook_quantities import TextbookQuantities, states_of

TOLERANCE = 1e-10
ROUNDINGS = 45
"""How many last bits of its largest value a program may lose, in either precision."""
pytestmark = pytest.mark.slow


def evaluated(model, quantity, **options):
    return Evaluated(kept_program(model, Request(quantity, **options)))


def conditions(model, quantity, given):
    """What errors in each state grow by: the condition of what is inverted, in units of its own."""
    book = TextbookQuantities(model)
    names = QUANTITIES[quantity].arguments
    places = [given[names.index(name)] for name in ("pose", "q") if name in names]
    matrix = book.free_mass_matrix if "pose" in names else book.mass_matrix
    inverted = [matrix(*places)] if QUANTITIES[quantity].solves else []
    inverted += [book.cartesian(*given)[..., :-2]] if quantity == "cartesian" else []
    found = np.ones(len(given[0]))
    for M in inverted:
        size = np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))
        found *= np.linalg.cond(M / size[..., None] / size[..., None, :])
    return found


def of_differences(quantity):
    """Their error where a textbook takes them: about 1e-10, but Stribeck curves are steep."""
    return 1e-7 if re.search("derivatives|slope|rates", quantity) else 0.0


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_quantity_is_what_its_formulas_say(arm, quantity):
    model, book = arm.model, TextbookQuantities(arm.model)
    if reason := QUANTITIES[quantity].refused(model):
        with pytest.raises(ModelError, match=re.escape(f"{quantity} of {model.name!r}: {reason}")):
            evaluated(model, quantity)
        return
    kernel = evaluated(model, quantity)
    given = states_of(kernel, 3, model=model)
    expected = getattr(book, quantity)(*given)
    assert expected.shape == (3, *kernel.shape)
    n, m = len(model.independent), len(book.task)
    N, at = len(model.joints), coordinates_of(model)
    links = base_parameters(at, links=True)
    p = sum(parameter.linear for parameter in robot_parameters(model))
    sizes = {"n": n, "N": N, "10 N": 10 * N, "p": p, "link rank": links.rank}
    sizes |= {"rank": base_parameters(at).rank, "3 n": 3 * n, "N + L": N + len(model.loops)}
    sizes |= {"n + 6": n + 6, "m": m, "m + 2": m + 2, "(n + 1) (n + 2) / 2": (n + 1) * (n + 2) // 2}
    assert tuple(sizes.get(k, k) for k in QUANTITIES[quantity].shape) == kernel.shape
    exact = max(TOLERANCE, of_differences(quantity))
    close(kernel(*given), expected, max(exact, 1e-13 * conditions(model, quantity, given).max()))


@pytest.mark.arms(compiled=True)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_kernel_is_its_program_in_double_and_single_precision(arm, quantity):
    request = Request(quantity)
    if QUANTITIES[quantity].refused(arm.model):  # the law above holds the reason
        return
    program = kept_program(arm.model, request)
    given = states_of(Evaluated(program), 9)
    expected = program(*given)
    worst = conditions(arm.model, quantity, given) * largest_on_the_way(program, given)
    for dtype in ("float64", "float32"):
        rounding = ROUNDINGS * np.finfo(dtype).eps
        found = Kernel(arm.model, request, dtype, program=program)(*given)
        assert found.dtype == dtype
        data = np.abs(with_rounded_data(program, given, dtype) - expected)
        for row, truth, by, near in zip(found, expected, worst, data, strict=True):
            if quantity == "cartesian" and dtype == "float32" and np.isnan(row).all():
                continue  # given up, this near to a singular state
            np.testing.assert_allclose(row, truth, rtol=0, atol=rounding * by + near.max())


def with_rounded_data(program, given, dtype):
    """What a program gives exactly for states and constants of a type."""

    def rounded(x):
        return None if x is None else np.asarray(x, dtype).astype(float)[()]

    constants = tuple(replace(c, value=rounded(c.value)) for c in program.constants)
    return replace(program, constants=constants)(*map(rounded, given))


def largest_on_the_way(program, given):
    """The largest value of each state in a program, whose rounding may be all of a small result."""
    sizes = [
        np.full(len(given[0]), max([1.0, *(abs(c.value) for c in program.constants if c.value)]))
    ]

    def noted(value):
        def run(*operands):
            sizes.append(np.abs(value(*operands)) * np.ones(len(given[0])))
            return value(*operands)

        return run

    functions = {name: noted(operation.value) for name, operation in OPERATIONS.items()}
    program.evaluated([x[..., k] for x in given for k in range(x.shape[-1])], functions)
    return np.max(sizes, axis=0)


def test_frames_of_kinematics(arm):
    model, names = arm.model, [link.name for link in arm.model.links]
    links, frames = ("tool", names[arm.seed % len(names)], "base"), ["world", "tool", "link2"]
    turn = arm.seed % 3
    for link, frame in zip(links, frames[turn:] + frames[:turn], strict=True):
        book = TextbookQuantities(model, link, frame)
        for quantity in ("jacobian", "jacobian_dot"):
            kernel = evaluated(model, quantity, link=link, frame=frame)
            given = states_of(kernel, 4)
            close(kernel(*given), getattr(book, quantity)(*given), TOLERANCE)
        place = evaluated(model, "forward_kinematics", link=link)
        close(place(given[0]), book.forward_kinematics(given[0]), TOLERANCE)


@pytest.mark.arms(where=lambda arm: len(arm.kinds) < 6)
def test_wrenches_are_arguments(arm):
    model, book, axes = arm.model, TextbookQuantities(arm.model), ("world", "tool")[arm.seed % 2]
    link = model.links[1].name
    on = {"wrench": ("tool", link), "wrench_frame": axes}
    torque, motion = (evaluated(model, f"{way}_dynamics", **on) for way in ("inverse", "forward"))
    assert list(torque.inputs)[3:] == ["wrench on 'tool'", f"wrench on {link!r}"]
    q, qd, qdd, *wrenches = states_of(torque, 4)
    acting = dict(zip(("tool", link), wrenches, strict=True))
    reaction = exerted_wrench(model, book.at.positions(q), acting, axes)
    expected = book.inverse_dynamics(q, qd, qdd, reaction)
    close(torque(q, qd, qdd, *wrenches), expected, TOLERANCE)
    worst = conditions(model, "forward_dynamics", (q,)).max()
    close(motion(q, qd, expected, *wrenches), qdd, 1e-13 * worst)


@pytest.mark.arms(where=lambda arm: arm.bodies != "regrouped" and len(arm.kinds) < 6)
def test_payload_and_gravity_are_arguments(arm):
    robot, field = arm.robot, np.array([1.0, -2.0, -3.7])
    com, tensor = (0.05, -0.1, 0.2), np.diag([0.02, 0.03, 0.04]) + 0.001
    vector, loaded = robot.payload_vector(1.7, com, tensor), robot.with_payload(1.7, com, tensor)
    there = {name: q for name, q in QUANTITIES.items() if not q.refused(arm.model)}
    for quantity in arm.share(name for name, q in there.items() if "payload" in q.options):
        options, changed = {"payload": True}, loaded
        if "gravity" in QUANTITIES[quantity].options:
            options["gravity"], changed = True, loaded.with_gravity(field)
        kernel, plain = evaluated(arm.model, quantity, **options), evaluated(arm.model, quantity)
        given = states_of(plain, 3, model=arm.model)
        held, empty = (
            kernel(*given, *arguments[: len(options)])
            for arguments in ((vector, field), (np.zeros(10), robot.gravity))
        )
        rounding = 1e-12 * conditions(changed.model, quantity, given).max()
        expected = getattr(TextbookQuantities(changed.model), quantity)(*given)
        close(held, expected, max(rounding, of_differences(quantity)))
        close(empty, plain(*given), 1e-12 * conditions(arm.model, quantity, given).max())


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics", "bias"])
def test_friction_is_an_option(arm, quantity):
    rubbing, smooth = (arm.robot.kernel(quantity, friction=f) for f in (True, np.False_))
    given = states_of(smooth, 3)
    friction = TextbookQuantities(arm.model).friction_torque(given[1])
    assert friction.any() == arm.friction
    if quantity == "forward_dynamics":
        worst = conditions(arm.model, quantity, given).max()
        close(rubbing(*given[:2], given[2] + friction), smooth(*given), 1e-13 * worst)
    else:
        close(rubbing(*given), smooth(*given) + friction, 1e-12)


@pytest.mark.thorough(reason="more joints than derivatives are compiled for as a whole")
def test_large_robots_take_derivatives_direction_by_direction():
    n = WHOLE_DERIVATIVES.value + 1
    model = random_model(("RRPR" * 5)[:n], 9, tree=True, friction=True)
    robot, direct = Robot(model), TextbookQuantities(model)
    otherwise = QUANTITIES["inverse_dynamics_derivatives"].otherwise
    assert otherwise.is_for(model)
    assert not otherwise.is_for(random_model("R" * WHOLE_DERIVATIVES.value, 9))
    q, qd, qdd = states_of(Kernel(model, Request("inverse_dynamics")), 2)
    expected = direct.inverse_dynamics_derivatives(q, qd, qdd)
    found = robot.inverse_dynamics_derivatives(q, qd, qdd)
    close(np.stack([found.dq, found.dqd], -3), expected, 1e-7)
    close(found.dqdd, direct.mass_matrix(q), TOLERANCE)
    close(robot.coriolis_matrix(q, qd), direct.coriolis_matrix(q, qd), TOLERANCE)
    close(robot.christoffel(q), direct.christoffel(q), TOLERANCE)
    form = robot.configuration_space(q)
    columns = np.concatenate([form.M, form.B, form.C, form.G[..., None]], -1)
    close(columns, direct.configuration_space(q), TOLERANCE)
    tau = direct.inverse_dynamics(q, qd, qdd)
    close(robot.forward_dynamics(q, qd, tau), qdd, 1e-7)
    M = direct.mass_matrix(q)
    slopes = robot.forward_dynamics_derivatives(q, qd, tau)
    close(M @ slopes.dq, -expected[..., 0, :, :], 1e-6)
    close(M @ slopes.dqd, -expected[..., 1, :, :], 1e-6)
    close(M @ slopes.dtau, np.broadcast_to(np.eye(n), M.shape), 1e-7)
    close(robot.regressor(q, qd, qdd), direct.regressor(q, qd, qdd), TOLERANCE)


@pytest.mark.parametrize(
    "quantity", [name for name, each in QUANTITIES.items() if each.otherwise and each.otherwise.way]
)
def test_what_long_robots_compute_another_way_is_the_same(arm, quantity):
    kernel = evaluated(arm.model, quantity)
    task = TextbookQuantities(arm.model).task if quantity == "cartesian" else ()
    request = Request(quantity, task=task)
    given = states_of(kernel, 3, model=arm.model)
    worst = conditions(arm.model, quantity, given).max()
    found = QUANTITIES[quantity].otherwise.way(arm.robot._run, arm.model, request, *given)
    close(found, kernel(*given), max(TOLERANCE, 1e-13 * worst))


@pytest.mark.arms(where=lambda arm: not arm.model.is_coupled and len(arm.kinds) < 7)
def test_forward_dynamics_takes_the_cheaper_way(arm):
    """No method by name takes fewer operations than the one without."""
    named = [kept_program(arm.model, Request("forward_dynamics", method=m)) for m in METHODS]
    best = kept_program(arm.model, Request("forward_dynamics")).operations.total
    assert best <= min(program.operations.total for program in named)
