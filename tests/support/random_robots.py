"""Random robots and states that are physically possible."""

import numpy as np
from hypothesis import strategies as st

from armdyn.model import Connection, FrictionLaw, Inertia, Limits, RobotModel, Rotor, assemble
from armdyn.model.joint_types import joint_type
from armdyn.model.transform import rotation_about, rotation_from_rpy, transform


def random_axis(rng):
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def random_inertia(rng):
    """The inertia of a cloud of six points: positive definite and consistent by construction."""
    points = np.hstack([0.3 * rng.normal(size=(6, 3)), np.ones((6, 1))])
    masses = rng.uniform(0.1, 1.0, size=6)
    return Inertia.from_pseudo((points * masses[:, None]).T @ points)


def random_transform(rng, scale=0.4):
    return transform(
        rotation_about(random_axis(rng), rng.uniform(-3, 3)), scale * rng.normal(size=3)
    )


def random_type(kind, rng):
    """The joint type of a letter; a helical one is a left-handed or right-handed screw."""
    if kind == "H":
        return joint_type("helical", float(rng.choice([-1, 1]) * rng.uniform(0.02, 0.4)))
    return {"R": "revolute", "P": "prismatic"}[kind]


def random_friction(rng, seed, i) -> FrictionLaw:
    """A law with every term: joints with an odd number have one viscous coefficient, others two."""
    law = FrictionLaw(*rng.uniform(0.1, 2, size=5), 0.0)
    own = np.random.default_rng([seed, i])
    offset, power, exponent, negative = own.uniform((-1, 0.1, 0.4, 0.1), (1, 2, 2.5, 2))
    law = law.changed(offset=offset, power=power, power_exponent=exponent)
    if i % 2:
        return law
    return law.changed(viscous=0.0, viscous_positive=law.viscous, viscous_negative=negative)


def random_model(kinds, seed, tree=False, rotors=False, friction=False) -> RobotModel:
    """A chain, or a tree, of joints such as "RPR" with everything about it arbitrary."""
    rng = np.random.default_rng(seed)
    links = {"base": random_inertia(rng)}
    connections = []
    for i, kind in enumerate(kinds, start=1):
        parents = list(links)
        parent = parents[rng.integers(len(parents))] if tree else parents[-1]
        links[f"link{i}"] = random_inertia(rng)
        connections.append(
            Connection(
                f"joint{i}",
                random_type(kind, rng),
                parent,
                f"link{i}",
                random_transform(rng),
                axis=random_axis(rng),
                limits=Limits(-2.0, 2.5, 3.0, 50.0),
                rotor=Rotor(rng.uniform(0, 1e-3), rng.uniform(10, 100)) if rotors else Rotor(),
                friction=random_friction(rng, seed, i) if friction else FrictionLaw(),
            )
        )
    return assemble(
        f"random {kinds}",
        links,
        connections,
        gravity=9.81 * random_axis(rng),
        base=random_transform(rng),
        tool_transform=random_transform(rng),
    )


def special_model(seed) -> RobotModel:
    """A tree with quarter turns, axes along coordinates, offsets that vanish or cancel."""
    rng = np.random.default_rng(seed)
    links, connections = {"base": Inertia.zero()}, []
    for i in range(1, int(rng.integers(2, 9))):
        parents = list(links)
        parent = parents[rng.integers(len(parents))] if rng.random() < 0.3 else parents[-1]
        links[f"link{i}"] = random_inertia(rng)
        turn = rng.integers(-2, 3, 3) * np.pi / 2 if rng.random() < 0.8 else rng.normal(size=3)
        connections.append(
            Connection(
                f"joint{i}",
                "prismatic" if rng.random() < 0.25 else "revolute",
                parent,
                f"link{i}",
                transform(rotation_from_rpy(turn), rng.choice([0, 0, 0.3, -0.5, 0.21], 3)),
                axis=np.eye(3)[rng.integers(3)] * rng.choice([1, -1]),
            )
        )
    gravity = np.eye(3)[rng.integers(3)] * rng.choice([0, 9.81, -9.81])
    return assemble(f"special {seed}", links, connections, gravity=gravity)


def random_states(model, seed, batch=()):
    """Positions, velocities and accelerations of all joints."""
    rng = np.random.default_rng(seed)
    return tuple(rng.uniform(-2, 2, size=(*batch, len(model.joints))) for _ in range(3))


seeds = st.integers(0, 2**32 - 1)
