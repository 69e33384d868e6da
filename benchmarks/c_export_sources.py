"""The two loops of `c_export`, in C and in C++, and the file by which the second knows a robot."""

from pathlib import Path
from typing import Any

import numpy as np

from armdyn.bench.peers import MeasuredArm

C_LOOP = """\
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "{prefix}.h"

enum {{ N = {n}, STATES = {states} }};
static double data[3][STATES][N], result[3 * N], gain[N];

static double now(void)
{{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}}

int main(int argc, char **argv)
{{
    FILE *file = fopen(argv[argc - 2], "rb");
    const double end = now() + atof(argv[argc - 1]);
    const double h = 1e-3;
    double best = 1e9, total = 0.0;
    int s, i;
    for (i = 0; i < N; i++)
        gain[i] = 10.0 * argc;
    (void)h;
    if (!file || fread(data, sizeof data, 1, file) != 1)
        return 1;
    while (now() < end) {{
        const double start = now();
        total = 0.0;
        for (s = 0; s < STATES; s++) {{
            {prefix}_{call};
            for (i = 0; i < N; i++)
                total += result[i];
        }}
        const double time = (now() - start) / STATES;
        best = time < best ? time : best;
    }}
    printf("%.17g %.17g\\n", best, total);
    return 0;
}}
"""
"""Prints the shortest time of a state [s] and the sum of all torques."""
C_CALLS = {
    "inverse_dynamics": "inverse_dynamics(data[0][s], data[1][s], data[2][s], result)",
    "observer_step": "observer_step(result, data[0][s], data[1][s], data[2][s], &h, gain, result)",
}
"""The functions that can be in the loop."""

CPP_LOOP = """\
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace pinocchio;

static double now()
{
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(time).count();
}

template <typename Derived> static void read(std::istream &in, Eigen::MatrixBase<Derived> &values)
{
    for (Eigen::Index i = 0; i < values.rows(); i++)
        for (Eigen::Index j = 0; j < values.cols(); j++)
            in >> values(i, j);
}

static void add_joint(Model &model, std::istream &in)
{
    std::string kind;
    JointIndex parent;
    double mass;
    Eigen::Vector3d p, com;
    Eigen::Matrix3d R, I;
    in >> kind >> parent;
    read(in, R), read(in, p);
    in >> mass;
    read(in, com), read(in, I);
    const SE3 place(R, p);
    const std::string name = "joint" + std::to_string(model.njoints);
    JointIndex at = 0;
    if (kind == "JointModelRX") at = model.addJoint(parent, JointModelRX(), place, name);
    else if (kind == "JointModelRY") at = model.addJoint(parent, JointModelRY(), place, name);
    else if (kind == "JointModelRZ") at = model.addJoint(parent, JointModelRZ(), place, name);
    else if (kind == "JointModelPX") at = model.addJoint(parent, JointModelPX(), place, name);
    else if (kind == "JointModelPY") at = model.addJoint(parent, JointModelPY(), place, name);
    else if (kind == "JointModelPZ") at = model.addJoint(parent, JointModelPZ(), place, name);
    else std::exit(2);
    model.appendBodyToJoint(at, Inertia(mass, com, I), SE3::Identity());
}

int main(int argc, char **argv)
{
    std::ifstream text(argv[argc - 3]), states(argv[argc - 2], std::ios::binary | std::ios::ate);
    const double end = now() + std::atof(argv[argc - 1]);
    Model model;
    int joints;
    Eigen::Vector3d gravity;
    text >> joints;
    read(text, gravity);
    model.gravity.linear(gravity);
    for (int i = 0; i < joints; i++)
        add_joint(model, text);
    Data data(model);
    const long row = static_cast<long>(3 * joints * sizeof(double)), count = states.tellg() / row;
    std::vector<Eigen::MatrixXd> given(3, Eigen::MatrixXd(joints, count));
    states.seekg(0);
    for (auto &part : given)
        states.read(reinterpret_cast<char *>(part.data()), part.size() * sizeof(double));
    std::vector<Eigen::VectorXd> q, v, a;
    for (long s = 0; s < count; s++)
        q.push_back(given[0].col(s)), v.push_back(given[1].col(s)), a.push_back(given[2].col(s));
    double best = 1e9, total = 0.0;
    while (now() < end) {
        const double start = now();
        total = 0.0;
        for (long s = 0; s < count; s++)
            total += rnea(model, data, q[s], v[s], a[s]).sum();
        const double time = (now() - start) / count;
        best = time < best ? time : best;
    }
    std::printf("%.17g %.17g\\n", best, total);
    return 0;
}
"""
"""The same for `pinocchio::rnea`, which is given vectors that are made beforehand."""


def write_model(pin: Any, arm: MeasuredArm, path: Path) -> None:
    """Write the robot as the second loop reads it: gravity, and joint by joint its link."""
    model = pin.buildModelFromUrdf(arm.urdf())
    arm.order(list(model.names)[1:])
    words: list[object] = [model.njoints - 1, *arm.robot.gravity]
    for i in range(1, model.njoints):
        place, body = model.jointPlacements[i], model.inertias[i]
        # a joint without limits is one with limits here: its position is an angle
        words += [model.joints[i].shortname().replace("RUB", "R"), model.parents[i]]
        words += [*place.rotation.flat, *place.translation, body.mass, *body.lever]
        words += [*np.asarray(body.inertia).flat]
    path.write_text(" ".join(map(str, words)))
