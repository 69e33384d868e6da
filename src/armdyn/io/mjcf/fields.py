"""What becomes of each field of MuJoCo's mjModel and of its mjOption (opt.…).

A field that the table does not know fails a test, so that a new MuJoCo cannot change torques in
silence. A pattern such as `mesh_*` stands for parts of a file that never have forces.
"""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """Fields of mjModel that the reader treats alike."""

    treatment: Literal["read", "warned of", "refused", "without effect"]
    meaning: str
    """What the fields are, and what becomes of them."""
    fields: tuple[str, ...]
    """Their names, or patterns."""


def _group(
    treatment: Literal["read", "warned of", "refused", "without effect"], meaning: str, fields: str
) -> FieldGroup:
    return FieldGroup(treatment, meaning, tuple(fields.split()))


FIELDS = (
    _group(
        "read",
        "the tree of bodies: placements, masses, tensors",
        "body_parentid body_pos body_quat body_mass body_ipos body_iquat body_inertia",
    ),
    _group(
        "read",
        "joints: bodies, anchors, axes, zero positions, limits of position and effort",
        "body_jntadr body_jntnum jnt_axis jnt_bodyid jnt_dofadr jnt_pos jnt_qposadr jnt_range "
        "jnt_limited jnt_actfrcrange jnt_actfrclimited qpos0",
    ),
    _group(
        "refused",
        "types of joints: a free joint is refused unless `fix_root` fixes it; hinge, slide and "
        "ball are read",
        "jnt_type",
    ),
    _group(
        "read",
        "armature, damping and friction loss of joints, unless a flag switches them off",
        "dof_armature dof_damping dof_frictionloss",
    ),
    _group(
        "read",
        "armature and damping of actuators on joints and tendons, times gear²",
        "actuator_armature actuator_damping actuator_gear actuator_trnid actuator_trntype",
    ),
    _group(
        "read",
        "armature, damping and friction loss of fixed tendons that one coordinate moves; warned "
        "of where several do, and with spatial tendons",
        "tendon_armature tendon_damping tendon_frictionloss tendon_adr tendon_num wrap_type "
        "wrap_objid wrap_prm",
    ),
    _group(
        "read",
        "equalities: of joints as mimics where they are linear and as couplings along curves, with "
        "repeated ones that agree; connect and weld as loops; others are warned of",
        "eq_type eq_objtype eq_obj1id eq_obj2id eq_data eq_active0",
    ),
    _group(
        "read", "gravity, and the flags that switch features off", "opt.gravity opt.disableflags"
    ),
    _group("read", "sites, for the tool and for equalities", "site_pos site_quat site_bodyid"),
    _group("read", "names", "names name_*"),
    _group(
        "warned of",
        "springs of joints and tendons, whether elastic or plastic",
        "jnt_stiffness jnt_stiffnesspoly jnt_springyield jnt_plasticadr qpos_spring "
        "tendon_stiffness tendon_stiffnesspoly tendon_springyield tendon_plasticadr "
        "tendon_lengthspring nplastic",
    ),
    _group(
        "warned of",
        "damping by powers of the speed",
        "dof_dampingpoly tendon_dampingpoly actuator_dampingpoly",
    ),
    _group(
        "warned of",
        "compensation of gravity, unless actuators give it",
        "body_gravcomp jnt_actgravcomp flg_gravcomp ngravcomp",
    ),
    _group(
        "warned of",
        "a fluid: its drag, lift, added mass and wind",
        "opt.density opt.viscosity opt.wind geom_fluid",
    ),
    _group("warned of", "bodies that are moved from outside (mocap)", "body_mocapid nmocap"),
    _group(
        "warned of", "deformable bodies (flex)", "nflex* flex_* flexedge_* flexvert_* nJfe nJfv"
    ),
    _group(
        "warned of",
        "plugins",
        "nplugin npluginattr npluginstate plugin plugin_* actuator_plugin body_plugin geom_plugin",
    ),
    _group(
        "warned of",
        "actuators that act without a control (no input, or a bias with the gain 0)",
        "actuator_biastype actuator_biasprm actuator_gaintype actuator_gainprm actuator_ctrlnum",
    ),
    _group(
        "without effect",
        "how actuators make their force from controls: the torque of armdyn is that force",
        "actuator_acc0 actuator_actadr actuator_actearly actuator_actlimited actuator_actnum "
        "actuator_actrange actuator_ctrladr actuator_ctrllimited actuator_ctrlrange "
        "actuator_ctrlspec actuator_cranklength actuator_delay actuator_dynprm actuator_dyntype "
        "actuator_forcelimited actuator_forcerange actuator_group actuator_history "
        "actuator_historyadr actuator_length0 actuator_lengthrange actuator_outadr "
        "actuator_outnum tendon_actfrclimited tendon_actfrcrange opt.disableactuator na nu "
        "nactuator nout nhistory",
    ),
    _group(
        "without effect",
        "limits of joints and tendons, which act where they are reached",
        "jnt_margin jnt_solimp jnt_solref tendon_limited tendon_margin tendon_range "
        "tendon_solimp_lim tendon_solref_lim",
    ),
    _group(
        "without effect",
        "contacts, which act where geoms touch: mj_inverse has their forces, armdyn has not",
        "geom_adhesion geom_bodyid geom_conaffinity geom_condim geom_contype geom_dataid "
        "geom_friction geom_gap geom_margin geom_pos geom_priority geom_quat geom_rbound "
        "geom_size geom_sol* geom_surfacevel geom_type geom_aabb geom_sameframe pair_* "
        "exclude_signature body_bvh* body_conaffinity body_contype body_geomadr body_geomnum "
        "body_margin flg_adhesion flg_surfacevel opt.cone opt.impratio opt.o_* opt.ccd_* "
        "opt.mpr_* opt.sdf_*",
    ),
    _group(
        "without effect",
        "how stiff MuJoCo makes friction loss and equalities: both are exact here",
        "dof_solimp dof_solref tendon_solimp_fri tendon_solref_fri eq_solimp eq_solref",
    ),
    _group(
        "without effect",
        "how MuJoCo integrates and solves",
        "opt.apirate opt.enableflags opt.integrator opt.iterations opt.jacobian opt.ls_* "
        "opt.noslip_* opt.sleep_tolerance opt.solver opt.timestep opt.tolerance",
    ),
    _group("without effect", "the magnetic field, which sensors measure", "opt.magnetic"),
    _group(
        "without effect",
        "what MuJoCo derives from the fields above, and sizes of memory",
        "body_dofadr body_dofnum body_invweight0 body_rootid body_sameframe body_simple "
        "body_subtreemass body_treeid body_weldid dof_M0 dof_Madr dof_bodyid dof_invweight0 "
        "dof_jntid dof_length dof_parentid dof_simplenum dof_treeid jnt_actuatorid "
        "tendon_actuatorid tendon_invweight0 tendon_length0 tendon_treeid tendon_treenum "
        "tendon_type tree_bodyadr tree_bodynum tree_dofadr tree_dofnum tree_sleep_policy ten_J_* "
        "B_* D_* M_* mapD2M mapM2D mapM2M efm0_* efmC_* nefm0L nefm0dof nefmCvert nB nC nD nM "
        "nJmom nJten nq nv nbody njnt ntree neq ntendon nwrap narena nbuffer nconmax nemax njmax "
        "nnames nnames_map names_map paths npaths signature stat",
    ),
    _group(
        "without effect",
        "what has no force: shapes, pictures, sensors, keyframes and data of the user",
        "bvh_* nbvh* oct_* noct mesh_* nmesh* npolygonmax hfield_* nhfield* skin_* nskin* tex_* "
        "ntex ntexdata mat_* nmat cam_* ncam light_* nlight vis sensor_* nsensor* key_* nkey "
        "numeric_* nnumeric* text_* ntext ntextdata tuple_* ntuple* *_user nuser* geom_castshadow "
        "geom_group geom_matid geom_rgba jnt_group site_dataid site_group site_matid site_rgba "
        "site_sameframe site_size site_type tendon_group tendon_matid tendon_rgba tendon_width "
        "ngeom npair nexclude nsite",
    ),
)


def groups_of(field: str) -> list[FieldGroup]:
    """The groups that know a field: one, unless the table has a fault or MuJoCo is newer."""
    return [group for group in FIELDS if any(fnmatchcase(field, known) for known in group.fields)]


def fields_table() -> str:
    """The table as Markdown, for the documentation."""
    lines = ["| | what | fields of mjModel |", "|---|---|---|"]
    for group in FIELDS:
        names = ", ".join(f"`{name}`" for name in group.fields)
        lines.append(f"| {group.treatment} | {group.meaning} | {names} |")
    return "\n".join(lines)
