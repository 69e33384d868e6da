"""Examples of every verb, which `--help` shows."""

EXAMPLES: dict[str, tuple[str, ...]] = {
    "robots": ("armdyn robots", "armdyn robots --json"),
    "info": ("armdyn info panda", "armdyn info ur5e --dh standard --degrees"),
    "check": ("armdyn check arm.urdf", "armdyn check arm.xml --json"),
    "inertia": (
        "armdyn inertia box 0.1 0.2 0.3 --density 2700",
        "armdyn inertia link.stl --units mm --mass 1.2",
    ),
    "compare": ("armdyn compare arm.urdf", "armdyn compare panda --with pinocchio,mujoco"),
    "torque": (
        "armdyn torque puma560 move.csv -o torques.csv --plot torques.png",
        "armdyn torque puma560 --q 0,45,-90,0,30,0 --qd 10,0,0,0,0,0 --degrees",
        "cat move.csv | armdyn torque ur5e - --payload 2,0,0,0.1",
    ),
    "sweep": (
        "armdyn sweep ur5e --set q=::20 --reduce extremes",
        "armdyn sweep panda states.parquet --quantity gravity_vector -o gravity.zarr",
    ),
    "terms": (
        "armdyn terms puma560 move.csv --plot terms.png",
        "armdyn terms ur5e workspace --speed 1 --tolerance 0.1",
    ),
    "reduced": (
        "armdyn reduced puma560 move.csv --tolerance 0.05 -o reduced/",
        "armdyn reduced ur5e workspace --tolerance 0.01 --reference effort",
    ),
    "rank": (
        "armdyn rank ur3 ur5e ur10 --task move.csv --plot rank.png",
        "armdyn rank before.toml after.toml --task workspace --by mean_power",
    ),
    "size": (
        "armdyn size arm.toml move.csv motors.toml",
        "armdyn size arm.toml move.csv motors.toml --minimise inertia -o driven.toml",
    ),
    "worst": (
        "armdyn worst ur5e --lift 5 --plot worst.png",
        "armdyn worst panda --lift 3 --speed 0.5 --acceleration 2",
    ),
    "simulate": (
        "armdyn simulate two_link --q0 1,0 --duration 5 --plot swing.png",
        "armdyn simulate two_link --controller gravity-pd --move 1,0 --saturation clip",
    ),
    "excite": (
        "armdyn excite panda --duration 20 -o motion.csv --plot motion.png",
        "armdyn excite ur10 --duration 20 --table 0 --acceleration 8 -o motion.csv",
    ),
    "identify": (
        "armdyn identify arm.urdf run.csv --validate other.csv -o new.toml",
        "armdyn identify ur10 run.csv --validate 0.4 --cutoff 5 --plot torques.png",
    ),
    "ops": ("armdyn ops ur5e", "armdyn ops puma560 --quantity mass_matrix --plot ops.png"),
    "equations": (
        "armdyn equations two_link -o two_link.tex",
        "armdyn equations puma560 --drop 0.01 --over move.csv --values --digits 3",
    ),
    "simplify": (
        "armdyn simplify saha_3r --goal constant+gravity-balanced -o new.toml",
        "armdyn simplify two_link --by springs --plot springs.png",
    ),
    "export": (
        "armdyn export panda -o panda_c",
        "armdyn export ur5e -o ur5e_c --functions inverse_dynamics,jacobian --float",
        "armdyn export panda -o panda_library --target cmake",
    ),
    "studio": ("armdyn studio panda", "armdyn studio arm.urdf --port 8080 --no-browser"),
    "bench": ("armdyn bench panda ur5e", "armdyn bench --quick --only one_state"),
    "cache": ("armdyn cache", "armdyn cache --clear"),
}
"""At least two command lines for each verb."""
