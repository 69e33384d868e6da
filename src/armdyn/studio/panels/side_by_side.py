"""Formulations side by side: how each writes the torque, what it takes, and the same number."""

from html import escape

from armdyn.arrays import Array
from armdyn.closed_forms.mathml import formula, plain
from armdyn.errors import ArmdynError
from armdyn.quantities.formulations import FORMULATIONS
from armdyn.robot import Robot
from armdyn.studio.background import Tell
from armdyn.study.operations.count import count_operations

LAWS = {
    "newton_euler": (
        "F_i = m_i v̇_C , N_i = I_i ω̇_i + ω_i × I_i ω_i",
        "f_i = F_i + f_k , n_i = N_i + n_k + P_C × F_i + P × f_k , τ_i = n_i · z_i",
    ),
    "newton_euler_base": ("the same outward and inward, all vectors in axes of the base", ""),
    "newton_euler_link": ("the same outward and inward, vectors in axes of the links", ""),
    "lagrange_euler": (
        "τ_i = Σ_k D_ik q̈_k + Σ_km h_ikm q̇_k q̇_m + c_i",
        'D_ik = Σ_j "Tr" ( U_jk J_j U_ji^ᵀ ) , U_ij = ∂ A_i / ∂ q_j',
    ),
    "dalembert": (
        "τ = ( D_rot + D_tran ) q̈ + h_rot + h_tran + c",
        "D_tran = Σ_s m_s J_v · J_v , c = − g · Σ_s m_s J_v",
    ),
    "denoc": (
        "τ = N_d^ᵀ N_l^ᵀ ( M ṫ + Ω M t − w ) , t = N_l N_d q̇",
        "",
    ),
    "denoc_recursive": ("the same complement, link by link outward and inward", ""),
    "augmented_body": (
        "m_i^* = m_i + Σ m_k^* , u_i^* = m_i d_i + Σ m_k^* p_k",
        "τ_i = z_i · Σ ( u_i^* × α_i + K_i^* ω̇_i + ω_i × K_i^* ω_i )",
    ),
    "augmented_body_intrinsic": ("the same augmented bodies, in axes of the world", ""),
    "minimal": ("base parameters alone, in the fewest operations that were found", ""),
}
"""How each formulation writes the torque, in one or two lines; those without = are words."""


def formulations_html(robot: Robot, joint: int, q: Array, qd: Array, qdd: Array, tell: Tell) -> str:
    """A table of every formulation: equation, operations as written, torque of a joint now."""
    rows = []
    for name in FORMULATIONS:
        tell(f"computing by {name.replace('_', ' ')}")
        try:
            tau = robot.inverse_dynamics(q, qd, qdd, formulation=name, friction=False)
            stage = "minimal" if name == "minimal" else "written"
            counts = count_operations(robot, stage=stage, formulation=name)
            operations = f"{counts.mul} mul + {counts.add} add"
            value = f"<b data-formulation='{name}' data-value='{float(tau[joint])!r}'>"
            value += f"{float(tau[joint]):.9g}</b>"
        except ArmdynError as error:
            operations, value = "", f"<span style='opacity:.7'>{escape(str(error))}</span>"
        rows.append(
            f"<tr style='border-top:1px solid rgba(128,128,128,.3);vertical-align:top'>"
            f"<td style='padding:6px 12px 6px 0;font-weight:650'>{name.replace('_', ' ')}</td>"
            f"<td style='padding:6px 12px 6px 0'>{_law(name)}</td>"
            f"<td style='padding:6px 12px 6px 0;white-space:nowrap'>{operations}</td>"
            f"<td style='padding:6px 0'>{value}</td></tr>"
        )
    unit = robot.model.joints[robot.model.independent[joint]].type.torque_unit
    return (
        "<style>.mantine-Modal-content{flex-basis:min(1060px,92vw)!important}</style>"
        "<div class='armdyn-formulations' style='max-height:70vh;overflow:auto;font-size:13px'>"
        "<table style='border-collapse:collapse;width:100%'><tr style='opacity:.7'>"
        "<td>formulation</td><td>its equations</td><td>operations as written</td>"
        f"<td>{escape(robot.joint_names[joint])} now, links and rotors [{unit}]</td></tr>"
        f"{''.join(rows)}</table></div>"
    )


def _law(name: str) -> str:
    first, second = LAWS.get(name, ("", ""))
    if "=" not in first:
        return escape(first)
    return "".join(f"<div>{formula(plain(line))}</div>" for line in (first, second) if line)
