"""The twenty robots that every law of numbers sees, and fresh ones of the same making.

None is in the catalog, so no program that comes with armdyn stands in for what is made here.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from armdyn.formulations.base_parameters import base_parameters
from armdyn.formulations.parameters import robot_parameters, with_parameters
from armdyn.loops.coordinates import coordinates_of
from armdyn.model import Connection, Drive, FrictionLaw, Inertia, Mimic, RobotModel, Rotor, assemble
from armdyn.model.transform import rotation_from_rpy, transform
from support.programs import EvaluatedRobot
from support.random_robots import (
    random_axis,
    random_friction,
    random_inertia,
    random_transform,
    random_type,
)

Row = tuple[int, float, float]
"""A joint as modified DH has it: twist in quarter turns, length and offset [m]."""


@dataclass(frozen=True)
class Arm:
    """How a robot is made: everything that is not told here is drawn from its seed."""

    name: str
    purpose: str
    seed: int
    kinds: str
    """A letter a joint: R revolute, P prismatic, H helical."""
    rows: Sequence[Row] = ()
    """Exact geometry with zeros that fold; none: every number of the geometry is arbitrary."""
    parents: Sequence[int] = ()
    """Number of the joint that each joint stands on, 0 the base; none: a chain."""
    bodies: str = "bodies"
    """Links are "bodies", "points" (some without mass) or "regrouped" (base parameters alone)."""
    rotors: bool = False
    spins: bool = False
    """Whether rotors, those of shared drives too, spin on links: on parents, on what moves, beyond
    and on the base."""
    friction: bool = False
    mimics: Sequence[tuple[int, int, float, float]] = ()
    """Follower and leader by number, multiplier and offset."""
    drives: Sequence[Sequence[tuple[int, float]]] = ()
    """For each shared drive the joints that turn it, by number, and their ratios."""
    compiled: bool = False
    """Whether laws about kernels, arguments and bits compile it."""

    def __str__(self) -> str:
        return self.name

    @cached_property
    def rigid(self) -> RobotModel:
        """The robot as other libraries want it: links are possible bodies, and rotors none."""
        rng = np.random.default_rng(self.seed)
        links = {"base": random_inertia(rng)}
        connections = [self._connection(i, rng, links) for i in range(1, len(self.kinds) + 1)]
        down = np.array([0.0, 0.0, -9.81]) if self.rows else 9.81 * random_axis(rng)
        model = assemble(
            self.name,
            links,
            connections,
            gravity=down,
            base=random_transform(rng),
            tool_transform=random_transform(rng),
        )
        drives = tuple(self._drive(k, ratios, rng) for k, ratios in enumerate(self.drives, 1))
        return replace(model, drives=drives)

    @cached_property
    def model(self) -> RobotModel:
        """The robot."""
        if self.bodies != "regrouped":
            return self._spinning(self.rigid) if self.spins else self.rigid
        base = base_parameters(coordinates_of(self.rigid), links=True)
        values = np.array([parameter.value for parameter in robot_parameters(self.rigid)])
        values[: 10 * len(self.rigid.links)] = 0.0
        values[list(base.columns)] = base.values
        return replace(with_parameters(self.rigid, values), reduced=True)

    @cached_property
    def robot(self) -> EvaluatedRobot:
        """The robot, its programs evaluated in NumPy."""
        return EvaluatedRobot(self.model)

    @cached_property
    def spun(self) -> EvaluatedRobot:
        """The robot with all its rotors spinning on links."""
        return self.robot if self.spins else EvaluatedRobot(self._spinning(self.model))

    def states(self, *batch: int) -> np.ndarray:
        """Coordinates, their rates (away from zero, where friction jumps) and accelerations."""
        q, qd, qdd = np.random.default_rng([self.seed, 1]).uniform(-2, 2, (3, *batch, self.robot.n))
        return np.stack([q, np.copysign(0.2 + np.abs(qd), qd), qdd])

    def share(self, cases: Iterable, of: int = 2) -> list:
        """One case in two or more, of which the next robot takes others."""
        return [*cases][self.seed % of :: of]

    def wrench(self, *batch: int) -> np.ndarray:
        """A wrench of the environment at the tool."""
        return np.random.default_rng([self.seed, 2]).normal(size=(*batch, 6))

    def _connection(self, i, rng, links) -> Connection:
        parent = self.parents[i - 1] if self.parents else i - 1
        names = ["base", *(f"link{k}" for k in range(1, i + 1))]
        links[names[i]] = self._inertia(i, rng)
        follows = {f: Mimic(f"joint{leader}", *more) for f, leader, *more in self.mimics}
        return Connection(
            f"joint{i}",
            random_type(self.kinds[i - 1], rng),
            names[parent],
            names[i],
            _placed(*self.rows[i - 1]) if self.rows else random_transform(rng),
            axis=(0.0, 0.0, 1.0) if self.rows else random_axis(rng),
            rotor=_rotor(rng) if self.rotors else Rotor(),
            friction=random_friction(rng, self.seed, i) if self.friction else FrictionLaw(),
            mimic=follows.get(i),
        )

    def _spinning(self, model) -> RobotModel:
        """Every rotor on a link, about an axis of its frame if the geometry is exact."""
        rng = np.random.default_rng([self.seed, 3])
        names = [model.base_link.name, *(link.name for link in model.links)]
        owners = []
        for k, owner in enumerate(model.driven):
            axis = np.sign(rng.normal()) * rng.permutation(np.eye(3))[0]
            axis = axis if self.rows else random_axis(rng)
            # the parent of a joint is the usual place
            up = model.joints[k].parent if k < len(model.joints) and k % 3 else rng.integers(-1, k)
            up = min(int(up) + (k % 3 == 2), len(model.links) - 1)
            rotor = replace(owner.rotor, axis=tuple(axis.tolist()), carrier=names[up + 1])
            owners.append(replace(owner, rotor=rotor))
        joints, drives = owners[: len(model.joints)], owners[len(model.joints) :]
        return replace(model, joints=tuple(joints), drives=tuple(drives))

    def _inertia(self, i, rng) -> Inertia:
        if self.bodies != "points":
            return random_inertia(rng)
        last = i == len(self.kinds) or (self.parents and i not in self.parents)
        if i % 3 == 2 and not last:
            return Inertia.zero()
        return Inertia.point(0.3 * rng.normal(size=3), mass=rng.uniform(0.5, 2.0))

    def _drive(self, k, ratios, rng) -> Drive:
        turned = tuple((f"joint{i}", ratio) for i, ratio in ratios)
        friction = random_friction(rng, self.seed, k + 10) if self.friction else FrictionLaw()
        return Drive(f"drive{k}", turned, _rotor(rng), friction)


def _placed(twist: int, length: float, offset: float):
    return transform(rotation_from_rpy((twist * np.pi / 2, 0, 0)), (length, 0, 0)) @ transform(
        None, (0, 0, offset)
    )


def _rotor(rng) -> Rotor:
    return Rotor(rng.uniform(1e-4, 1e-3), rng.choice([-1, 1]) * rng.uniform(10, 100))


ELBOW = ((0, 0, 0.6), (-1, 0.15, 0), (0, 0.43, 0.1), (-1, 0.02, 0.43), (1, 0, 0), (-1, 0, 0))
"""A shoulder, an elbow and three axes that meet in the wrist."""

ARMS = {
    arm.name: arm
    for arm in (
        Arm("general_6r", "no number is special: nothing folds", 1, "RRRRRR"),
        Arm(
            "seven_axes",
            "axes that meet two by two at right angles, geared",
            2,
            "RRRRRRR",
            rows=(
                (0, 0, 0.34),
                (-1, 0, 0),
                (1, 0, 0.4),
                (1, 0, 0),
                (-1, 0, 0.4),
                (-1, 0, 0),
                (1, 0, 0.1),
            ),
            rotors=True,
        ),
        Arm(
            "elbow",
            "the usual arm, with motors that spin along axes of its links",
            3,
            "RRRRRR",
            rows=ELBOW,
            rotors=True,
            spins=True,
            friction=True,
        ),
        Arm(
            "parallel_axes",
            "three parallel axes, no wrist centre, two joints that share two motors",
            4,
            "RRRRRR",
            rows=(
                (0, 0, 0.1),
                (1, 0, 0),
                (0, -0.42, 0),
                (0, -0.39, 0.13),
                (1, 0, 0.1),
                (-1, 0, 0.08),
            ),
            drives=(((5, 1.0), (6, 1.0)), ((5, 1.0), (6, -1.0))),
        ),
        Arm(
            "scara",
            "all axes parallel, a slide among them",
            5,
            "RRPR",
            rows=((0, 0, 0.3), (0, 0.3, 0), (2, 0.25, 0), (0, 0, 0)),
            friction=True,
            compiled=True,
        ),
        Arm(
            "gantry",
            "slides at right angles below a wrist",
            6,
            "PPPRR",
            rows=((0, 0, 0), (1, 0, 0.1), (1, 0, 0.2), (0, 0, 0), (1, 0, 0.1)),
            rotors=True,
        ),
        Arm(
            "cylindrical",
            "point masses that turn and slide",
            7,
            "RPPR",
            rows=((0, 0, 0.2), (0, 0, 0), (1, 0, 0.1), (0, 0, 0.15)),
            bodies="points",
            rotors=True,
        ),
        Arm("screws", "left and right screws around a hinge", 8, "HRH", friction=True),
        Arm(
            "mixed_chain",
            "every type of joint, two of them on one motor, motors that spin askew",
            9,
            "RHPR",
            rotors=True,
            spins=True,
            drives=(((1, 0.5), (4, -1.5)),),
            compiled=True,
        ),
        Arm(
            "ball_screw",
            "a slide driven by a screw, parallel to hinges",
            10,
            "RRHR",
            rows=((0, 0, 0.2), (0, 0.4, 0), (0, 0.3, 0), (1, 0, 0)),
            rotors=True,
            friction=True,
        ),
        Arm("hinge_tree", "trees without special numbers", 11, "RRRRR", parents=(0, 1, 1, 0, 4)),
        Arm(
            "hand",
            "fingers whose second joints follow the first, one through another",
            12,
            "RRRRR",
            rows=((0, 0, 0.1), (1, 0.05, 0), (0, 0.04, 0), (1, -0.05, 0.02), (0, 0.04, 0)),
            parents=(0, 1, 2, 1, 4),
            friction=True,
            mimics=((3, 2, 0.8, 0.1), (5, 3, -1.25, 0.0)),
            compiled=True,
        ),
        Arm(
            "mixed_tree",
            "every type of joint on branches, a slide that follows a hinge of another tree, motors "
            "that spin on other branches",
            13,
            "RPHRR",
            parents=(0, 1, 1, 0, 4),
            rotors=True,
            spins=True,
            friction=True,
            mimics=((2, 4, -0.6, 0.2),),
            compiled=True,
        ),
        Arm(
            "two_arms",
            "point masses on arms of one base, joints of both that share a motor",
            14,
            "RRRRR",
            rows=((0, 0, 0.5), (1, 0.1, 0), (0, 0.3, 0), (-1, -0.1, 0), (0, 0.3, 0)),
            parents=(0, 1, 2, 0, 4),
            bodies="points",
            rotors=True,
            friction=True,
            drives=(((2, 1.0), (4, 2.0)),),
        ),
        Arm("point_masses", "points at arbitrary places", 15, "RRR", bodies="points", rotors=True),
        Arm(
            "light_wrist",
            "point masses and links without any between axes that meet",
            16,
            "RRRRR",
            rows=ELBOW[:5],
            bodies="points",
            rotors=True,
        ),
        Arm("regrouped_mixed", "base parameters as links", 17, "RRPR", bodies="regrouped"),
        Arm(
            "regrouped_elbow",
            "base parameters as links where much folds",
            18,
            "RRRRR",
            rows=ELBOW[:5],
            bodies="regrouped",
            friction=True,
        ),
        Arm(
            "regrouped_tree",
            "base parameters as links of branches",
            19,
            "RPRR",
            rows=((0, 0, 0.3), (1, 0, 0), (0, 0.2, 0.1), (1, 0, 0)),
            parents=(0, 1, 1, 3),
            bodies="regrouped",
            rotors=True,
        ),
        Arm(
            "palletizer",
            "a hand kept upright by a joint that follows, motors shared by two joints that spin",
            20,
            "RRRRR",
            rows=((0, 0, 0.4), (1, 0.1, 0), (0, 0.6, 0), (0, 0.5, 0), (1, 0, 0.1)),
            rotors=True,
            spins=True,
            friction=True,
            mimics=((4, 3, -1.0, 0.3),),
            drives=(((2, 1.0), (3, -1.0)),),
        ),
    )
}


@cache
def fresh_arm(seed: int) -> Arm:
    """An arm of which everything is drawn, what it is made of as well."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([3, 4, 5, 6, 7], p=[0.25, 0.25, 0.25, 0.2, 0.05]))
    kinds = "".join(rng.choice([*"RPH"], size=n, p=[0.65, 0.2, 0.15]))
    lengths = [0, 0, 0.3, -0.5, 0.21]
    exact = [(int(rng.integers(-1, 3)), *map(float, rng.choice(lengths, 2))) for _ in kinds]
    tree = [0, *(int(rng.integers(0, i)) for i in range(1, n))]
    bodies = str(rng.choice(["bodies", "bodies", "points", "regrouped"]))
    i, j = map(int, rng.choice(np.arange(1, n + 1), 2, replace=False))
    ratio, offset = map(float, rng.uniform(0.3, 1.5, 2))
    special, branched, mimic, shared, friction = rng.random(5) < (0.5, 0.4, 0.25, 0.25, 0.5)
    # a point or a link without mass may leave a joint without inertia
    rotors = bool(bodies == "points" or rng.random() < 0.5)
    return Arm(
        f"fresh_{seed}",
        "drawn",
        seed,
        kinds,
        rows=exact if special else (),
        parents=tree if branched else (),
        bodies=bodies,
        rotors=rotors,
        spins=rotors and bodies == "bodies" and seed % 2 == 0,
        friction=bool(friction),
        mimics=((i, j, -ratio, offset),) if mimic and bodies != "regrouped" else (),
        drives=(((i, ratio), (j, -1.0)),) if shared else (),
    )
