"""The joints that close loops as a table: what each keeps of two frames."""

from dataclasses import dataclass

from armdyn.errors import check_known
from armdyn.model.cut_joints.rows import Distance, Normal, Row, Slide

POINT: tuple[Row, ...] = (Slide(0), Slide(1), Slide(2))
"""Two origins in one place."""
PARALLEL: tuple[Row, ...] = (Normal(2, 0), Normal(2, 1))
"""Two z axes in one direction."""
ALIGNED: tuple[Row, ...] = (Normal(0, 1), Normal(1, 2), Normal(2, 0))
"""Three axes in one direction each."""


@dataclass(frozen=True, slots=True)
class CutJoint:
    """A joint that closes a loop, between a frame on one link and a frame on another."""

    name: str
    """Name in TOML files and reports."""
    rows: tuple[Row, ...]
    """What it keeps; some of it may follow from the rest of a loop."""
    about: str
    """What it leaves free, in words."""
    has_length: bool = False
    """Whether it has a length, that between the two origins."""

    @property
    def slides(self) -> tuple[int, ...]:
        """Axes of frame b along which it slides; a rod of one length leaves no axis by itself."""
        return () if self.has_length else tuple(k for k in range(3) if Slide(k) not in self.rows)

    @property
    def keeps_direction(self) -> bool:
        """Whether the two z axes keep one direction."""
        return any(isinstance(row, Normal) for row in self.rows)

    @property
    def keeps_axes(self) -> bool:
        """Whether all three axes do."""
        return set(ALIGNED) <= set(self.rows)


COUPLING = CutJoint("coupling", (), "one joint follows a polynomial of the position of another")
"""No joint between links, but a joint that follows another, as by gears or cams."""
CUT_JOINTS = {
    kind.name: kind
    for kind in (
        CutJoint("revolute", (*POINT, *PARALLEL), "turns about the z axes of both frames"),
        CutJoint(
            "prismatic", (*ALIGNED, Slide(0), Slide(1)), "slides along the z axes of both frames"
        ),
        CutJoint(
            "cylindrical",
            (*PARALLEL, Slide(0), Slide(1)),
            "turns about and slides along the z axes of both frames",
        ),
        CutJoint("spherical", POINT, "turns freely about one point"),
        CutJoint(
            "planar",
            (*PARALLEL, Slide(2)),
            "slides in the plane of the x and y axes of frame b and turns about its normal",
        ),
        CutJoint(
            "distance",
            (Distance(),),
            "a light rod of one length between two balls",
            has_length=True,
        ),
        CutJoint("fixed", (*POINT, *ALIGNED), "holds the two frames together"),
        COUPLING,
    )
}
"""Every cut joint by its name."""


def cut_joint(name: str) -> CutJoint:
    """The cut joint of that name."""
    check_known("cut joint of a loop named", name, CUT_JOINTS)
    return CUT_JOINTS[name]
