"""How a link turns: its angular velocity w and the tensor b = S(w') + S(w)² (T3, T9).

The second derivative of a vector v fixed in the link is b v. Written out,

    b = [ -(y²+z²)  xy - z'   xz + y' ]
        [ xy + z'   -(x²+z²)  yz - x' ]       w = (x, y, z),  w' = (x', y', z')
        [ xz - y'   yz + x'   -(x²+y²) ]
"""

from dataclasses import dataclass

from armdyn.shorten.minimal.axes import Matrix, Scalar, Vector


@dataclass(frozen=True, slots=True)
class Rates:
    """Angular velocity w, acceleration w' and b, in one set of axes."""

    w: Vector
    wd: Vector
    b: Matrix
    difference: Matrix
    """b_ii - b_jj, formed from squares where that is cheaper."""
    wxwy: Scalar


def at_rest() -> Rates:
    """The base, which does not turn."""
    zero = ((0.0,) * 3,) * 3
    return Rates((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), zero, zero, 0.0)


def rates_from_column(w: Vector, column: Vector, wdz: Scalar, squares: str, doubled: str) -> Rates:
    """Rates from the third column of b, which the joint axis brings from the parent.

    With p = x z and s = y z: y' = b_xz - p, b_zx = p - y' = 2z x - b_xz, x' = s - b_yz and
    b_zy = s + x' = 2z y - b_yz.
    """
    x, y, z = w
    bxz, byz, bzz = column
    p, s, xy = x * z, y * z, x * y
    wdy, wdx = bxz - p, s - byz
    bzx = (z + z) * x - bxz if "x" in doubled else p - wdy
    bzy = (z + z) * y - byz if "y" in doubled else s + wdx
    X, Y, Z = x * x, y * y, z * z
    if squares == "xz":
        xx_zz = X - Z
        bxx, byy = bzz + xx_zz, -(X + Z)
        difference = _differences(xx_zz, bzz - byy, byy - bxx)
    elif squares == "yz":
        yy_zz = Y - Z
        byy, bxx = bzz + yy_zz, -(Y + Z)
        difference = _differences(bxx - bzz, -yy_zz, byy - bxx)
    else:
        bxx, byy = -(Y + Z), -(X + Z)
        difference = _differences(X - Z, Z - Y, Y - X)
    b = (bxx, xy - wdz, bxz), (xy + wdz, byy, byz), (bzx, bzy, bzz)
    return Rates(w, (wdx, wdy, wdz), b, difference, xy)


def rates_from_acceleration(w: Vector, wd: Vector, squares: str) -> Rates:
    """Rates from angular velocity and acceleration."""
    x, y, z = w
    dx, dy, dz = wd
    xy, xz, yz = x * y, x * z, y * z
    X, Y, Z = x * x, y * y, z * z
    bzz = -(X + Y)
    bxx = bzz + (X - Z) if squares == "xz" else -(Y + Z)
    byy = bzz + (Y - Z) if squares == "yz" else -(X + Z)
    difference = _differences(X - Z, Z - Y, Y - X)
    b = (bxx, xy - dz, xz + dy), (xy + dz, byy, yz - dx), (xz - dy, yz + dx, bzz)
    return Rates(w, wd, b, difference, xy)


def rates_turned(rates: Rates, R: Matrix) -> Rates:
    """The same rates in other axes, R (quarter turns only) taking those to the present ones."""
    source = [next(m for m in range(3) if R[m][a]) for a in range(3)]
    sign = [R[source[a]][a] for a in range(3)]

    def vector(v: Vector) -> Vector:
        x, y, z = (sign[a] * v[source[a]] for a in range(3))
        return x, y, z

    b = tuple(
        tuple(sign[r] * sign[c] * rates.b[source[r]][source[c]] for c in range(3)) for r in range(3)
    )
    difference = tuple(
        tuple(rates.difference[source[r]][source[c]] for c in range(3)) for r in range(3)
    )
    w = vector(rates.w)
    return Rates(w, vector(rates.wd), b, difference, w[0] * w[1])


def _differences(xx_zz: Scalar, zz_yy: Scalar, yy_xx: Scalar) -> Matrix:
    return (0.0, -yy_xx, xx_zz), (yy_xx, 0.0, -zz_yy), (-xx_zz, zz_yy, 0.0)
