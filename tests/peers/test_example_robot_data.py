"""Every URDF of the package example-robot-data: the numbers of Pinocchio, or a reason to refuse it.

What is expected of a file is worked out here from its XML alone, so that neither a file refused
without reason nor one accepted without right goes unnoticed.
"""

import importlib.metadata
import warnings
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

import armdyn
from armdyn.errors import ArmdynError, ArmdynWarning, InertiaError, SingularityError
from armdyn.formulations.coriolis import coriolis_matrix
from armdyn.loops.coordinates import coordinates_of
from armdyn.quantities.evaluate import in_numpy
from armdyn.quantities.request import Request

TOLERANCE = 1e-9
ILL_CONDITIONED = 1e-8  # ratio of eigenvalues of M below which 1e-9 in accelerations means nothing
SINGULAR = 1e-15
MOST_COMPILED = 5  # joints beyond which quantities are evaluated as they are written
MOVING = ("revolute", "continuous", "prismatic")


def _files() -> list[Path]:
    listed = importlib.metadata.files("example-robot-data") or []
    return sorted(Path(str(file.locate())) for file in listed if file.suffix == ".urdf")


LEFT_OUT = (
    "_box",
    "_collision",
    "joint_limited",
    "_classical",
    "full_v2",
    "tiago_dual",
    "tiago.urdf",
)
"""Files that differ from others in shapes and limits alone, and the largest, which take minutes."""
FILES = [path for path in _files() if not any(word in path.name for word in LEFT_OUT)]


def _label(path: Path) -> str:
    return "/".join(path.parts[path.parts.index("robots") + 1 :])


@dataclass(frozen=True)
class Expected:
    """What the XML of a file says about it."""

    root: ElementTree.Element

    @property
    def joints(self) -> dict[str, ElementTree.Element]:
        return {joint.attrib["name"]: joint for joint in self.root.findall("joint")}

    @property
    def moving(self) -> list[str]:
        return [name for name, joint in self.joints.items() if joint.attrib["type"] in MOVING]

    @property
    def leaders(self) -> dict[str, ElementTree.Element]:
        mimics = {name: self.joints[name].find("mimic") for name in self.moving}
        return {name: mimic for name, mimic in mimics.items() if mimic is not None}

    @property
    def refusal(self) -> tuple[str, str] | None:
        """Why no robot can be made of it, and what the message has to say about it."""
        if not self.root.findall("link"):
            return "it has no links", "no <link>"
        if not self.moving:
            return "it has no moving joint", "no joint moves"
        if kinds := {j.attrib["type"] for j in self.joints.values()} - {*MOVING, "fixed"}:
            return f"it has {' and '.join(sorted(kinds))} joints", "is of type"
        lost = {m.attrib["joint"] for m in self.leaders.values()} - set(self.joints)
        if lost:
            return f"it mimics joints that do not exist: {', '.join(sorted(lost))}", "no joint of"
        return None

    @property
    def unphysical(self) -> set[str]:
        """The moving links with a tensor that no body has."""
        return {link for link in self._carried(self.moving) if self._cannot_exist(link)}

    @property
    def weightless(self) -> set[str]:
        """The moving joints that carry no link with an inertia in the file."""
        given = {link.attrib["name"] for link in self.root.findall("link[inertial]")}
        return {name for name in self.moving if not given & self._carried([name])}

    def _carried(self, names: list[str]) -> set[str]:
        ends = [
            (j.find("parent").attrib["link"], j.find("child").attrib["link"])
            for j in self.joints.values()
        ]
        found, todo = set(), [self.joints[name].find("child").attrib["link"] for name in names]
        while todo:
            link = todo.pop()
            found.add(link)
            todo += [child for parent, child in ends if parent == link and child not in found]
        return found

    def _cannot_exist(self, link: str) -> bool:
        inertial = self.root.find(f"link[@name='{link}']/inertial")
        mass = 0.0 if inertial is None else float(inertial.find("mass").attrib["value"])
        if mass == 0:
            return False
        i = {key: float(value) for key, value in inertial.find("inertia").attrib.items()}
        a, b, c = np.linalg.eigvalsh(
            [[i["ixx"], i["ixy"], i["ixz"]],
             [i["ixy"], i["iyy"], i["iyz"]],
             [i["ixz"], i["iyz"], i["izz"]]]
        )  # fmt: skip
        noise = mass * 1e-7**2  # a radius of gyration of 0.1 µm is that of a point
        return a < -1e-5 * c - noise or c > (a + b) * (1 + 1e-5) + noise

    def coupling(self, order: list[str]) -> tuple[np.ndarray, np.ndarray, list[str]]:
        """K and k of q_all = K q + k, and the joints that are the coordinates q."""
        free = [name for name in order if name not in self.leaders]
        K, k = np.zeros((len(order), len(free))), np.zeros(len(order))
        for row, name in enumerate(order):
            ratio, leader = 1.0, name
            while leader in self.leaders:
                mimic = self.leaders[leader].attrib
                k[row] += ratio * float(mimic.get("offset", 0))
                ratio *= float(mimic.get("multiplier", 1))
                leader = mimic["joint"]
            K[row, free.index(leader)] = ratio
        return K, k, free


class Peer:
    """Pinocchio's model of a file in armdyn's coordinates."""

    def __init__(self, path: Path, expected: Expected):
        self.model = pin.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        order = list(self.model.names)[1:]
        self.K, self.k, self.free = expected.coupling(order)

    def sorted_like(self, names: tuple[str, ...]) -> "Peer":
        columns = [self.free.index(name) for name in names]
        self.K, self.free = self.K[:, columns], list(names)
        return self

    def _full(self, q: np.ndarray) -> np.ndarray:
        values, result = self.K @ q + self.k, np.zeros(self.model.nq)
        for joint in list(self.model.joints)[1:]:
            value, at = values[joint.idx_v], joint.idx_q
            result[at : at + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
        return result

    def quantities(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> dict[str, np.ndarray]:
        full, K = self._full(q), self.K
        arguments = (self.model, self.data, full)
        return {
            "inverse dynamics": K.T @ pin.rnea(*arguments, K @ qd, K @ qdd),
            "mass matrix": K.T @ pin.crba(*arguments) @ K,
            "Coriolis matrix": K.T @ pin.computeCoriolisMatrix(*arguments, K @ qd) @ K,
            "gravity": K.T @ pin.computeGeneralizedGravity(*arguments),
        }

    def forward_dynamics(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        if np.array_equal(self.K.T @ self.K, np.eye(len(q))):
            return self.K.T @ pin.aba(
                self.model, self.data, self._full(q), self.K @ qd, self.K @ tau
            )
        rest = self.quantities(q, qd, np.zeros_like(q))
        return np.linalg.solve(rest["mass matrix"], tau - rest["inverse dynamics"])


def _load(path: Path, physical: str = "warn") -> armdyn.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmdynWarning)
        return armdyn.load(path, physical=physical, fix_root=True)


def _error(ours: np.ndarray, theirs: np.ndarray, floor: float) -> float:
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), floor))


def _forward_error(
    robot: armdyn.Robot, peer: Peer, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
) -> float:
    """Difference of the accelerations; of the torques they need where M is nearly singular."""
    eigenvalues = np.linalg.eigvalsh(peer.quantities(q, qd, qd)["mass matrix"])
    if eigenvalues[0] < SINGULAR * eigenvalues[-1]:
        with pytest.raises(SingularityError):
            robot.forward_dynamics(q, qd, tau, friction=False)
        return 0.0
    method = "composite_body" if robot.n > MOST_COMPILED else None
    ours = robot.forward_dynamics(q, qd, tau, friction=False, method=method)
    if eigenvalues[0] < ILL_CONDITIONED * eigenvalues[-1]:
        needed = peer.quantities(q, qd, ours)["inverse dynamics"]
        return _error(needed, tau, 0.0)
    return _error(ours, peer.forward_dynamics(q, qd, tau), 0.0)


def differences(path: Path, expected: Expected, states: int = 2) -> dict[str, float]:
    """The largest relative differences to Pinocchio, by quantity."""
    robot = _load(path)
    peer = Peer(path, expected).sorted_like(robot.joint_names)
    rng = np.random.default_rng(len(path.name))
    worst: dict[str, float] = {}
    for _ in range(states):
        q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
        theirs = peer.quantities(q, qd, qdd)
        at = coordinates_of(robot.model)
        large = robot.n > MOST_COMPILED
        ours = {
            "inverse dynamics": robot.inverse_dynamics(
                q, qd, qdd, friction=False, formulation="newton_euler" if large else None
            ),
            "mass matrix": in_numpy(robot.model, Request("mass_matrix"), q)
            if large
            else robot.mass_matrix(q),
            "Coriolis matrix": at.matrix(
                coriolis_matrix(robot.model, at.positions(q), at.rates(qd))
            )
            if large
            else robot.coriolis_matrix(q, qd),
            "gravity": in_numpy(robot.model, Request("gravity_vector"), q)
            if large
            else robot.gravity_vector(q),
        }
        # rotors that do not disturb each other have C = 0, so its size is judged beside M
        floor = 1e-6 * float(np.abs(theirs["mass matrix"]).max())
        errors = {name: _error(value, theirs[name], floor) for name, value in ours.items()}
        tau = theirs["inverse dynamics"]
        errors["forward dynamics"] = _forward_error(robot, peer, q, qd, tau)
        worst = {name: max(worst.get(name, 0.0), error) for name, error in errors.items()}
    return worst


def test_the_package_has_its_robots() -> None:
    assert len(FILES) > 50


@pytest.mark.parametrize("path", FILES, ids=_label)
def test_file_agrees_with_pinocchio_or_is_refused_for_its_reason(path: Path) -> None:
    expected = Expected(ElementTree.parse(path).getroot())
    if expected.refusal is not None:
        with pytest.raises(ArmdynError, match=expected.refusal[1]):
            _load(path)
        return
    errors = differences(path, expected)
    assert {name: error for name, error in errors.items() if not error < TOLERANCE} == {}


@pytest.mark.parametrize("path", FILES, ids=_label)
def test_inertias_are_refused_exactly_where_they_cannot_exist_or_are_missing(path: Path) -> None:
    expected = Expected(ElementTree.parse(path).getroot())
    if expected.refusal is not None:
        with pytest.raises(ArmdynError, match=expected.refusal[1]):
            _load(path, "ignore")
    elif expected.unphysical or expected.weightless:
        reasons = "triangle inequality|not positive definite|has an <inertial>"
        with pytest.raises(InertiaError, match=reasons) as caught:
            _load(path, "error")
        children = {expected.joints[j].find("child").attrib["link"] for j in expected.weightless}
        assert caught.value.link in expected.unphysical | children
    else:
        assert _load(path, "error").n == len(expected.moving) - len(expected.leaders)


@pytest.mark.parametrize("path", FILES, ids=_label)
def test_file_survives_being_written(path: Path, tmp_path: Path) -> None:
    expected = Expected(ElementTree.parse(path).getroot())
    if expected.refusal is not None:
        with pytest.raises(ArmdynError, match=expected.refusal[1]):
            _load(path, "ignore")
        return
    robot = _load(path, "ignore")
    robot.save(tmp_path / "again.urdf")
    again = _load(tmp_path / "again.urdf", "ignore")
    assert (again.name, again.joint_names) == (robot.name, robot.joint_names)
    np.testing.assert_array_equal(again.limits, robot.limits)
    state = np.random.default_rng(2).uniform(-1, 1, (3, robot.n))
    formulation = "newton_euler" if robot.n > MOST_COMPILED else None
    tau, again_tau = (r.inverse_dynamics(*state, formulation=formulation) for r in (robot, again))
    assert _error(again_tau, tau, 0.0) < 1e-12
    place = robot.forward_kinematics(state[0])
    np.testing.assert_allclose(again.forward_kinematics(state[0]), place, rtol=0, atol=1e-12)
