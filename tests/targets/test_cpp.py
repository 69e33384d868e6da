"""Exported C in C++: Eigen, and the plugin for ROS 2 with stand-ins for its headers."""

import re

import numpy as np

import armdyn
from armdyn.export.options import DEFAULT_FUNCTIONS
from support.toolchains import STRICT, numbers, run

CPP = ("g++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-isystem", "/usr/include/eigen3")
STATE = "0.3, -0.4, 0.5, 0.1, -0.2, 0.7"
EIGEN = """\
#include "stanford.hpp"
#include <iostream>
#include <iomanip>

int main()
{
    Eigen::VectorXd q(6);
    q << STATE;
    const stanford::Vector<6> qd = 2.0 * q;
    std::cout << std::setprecision(17) << stanford::inverse_dynamics(q, qd, q) << "\\n";
    double memory[36];
    stanford::mass_matrix(q, stanford::Map<6, 6>(memory));
    std::cout << stanford::Map<6, 6>(memory).row(2).transpose() << "\\n";
    std::cout << stanford::jacobian(q.head<6>())(0, 4) << "\\n";
    stanford::inverse_dynamics(q, qd, q, stanford::Map<6, 1>(q.data()));
    std::cout << q << "\\n" << stanford::kinetic_energy(qd, qd) << "\\n";
}
""".replace("STATE", STATE)


def compiled_c(folder, name):
    run("gcc", *STRICT, "-c", f"{name}.c", "-o", f"{name}.o", cwd=folder)


def test_eigen_gives_the_numbers_of_armdyn(tmp_path):
    robot = armdyn.load("stanford")
    robot.export(tmp_path, target="eigen", functions=(*DEFAULT_FUNCTIONS, "kinetic_energy", "inverse_dynamics_derivatives"))  # fmt: skip
    (tmp_path / "main.cpp").write_text(EIGEN)
    compiled_c(tmp_path, "stanford")
    run(*CPP, "main.cpp", "stanford.o", "-lm", "-o", "main", cwd=tmp_path)
    q = np.fromstring(STATE, sep=",")
    tau = robot.inverse_dynamics(q, 2 * q, q)
    expected = [*tau, *robot.mass_matrix(q)[2], robot.jacobian(q)[0, 4], *tau]
    expected += [robot.kinetic_energy(2 * q, 2 * q)]
    np.testing.assert_allclose(numbers(run(tmp_path / "main")), expected, atol=1e-12)


def test_one_joint_has_columns_that_eigen_takes(tmp_path):
    row = dict(joint="revolute", a=1.0, mass=1.0, com=(-0.5, 0, 0), inertia=(0.1,) * 3)
    armdyn.from_dh([row], name="single joint").export(tmp_path, target="eigen")
    (tmp_path / "main.cpp").write_text(
        '#include "single_joint.hpp"\n#include <cstdio>\n'
        'int main() { std::printf("%d", (int)single_joint::jacobian('
        "single_joint::Vector<1>::Zero()).rows()); }\n"
    )
    compiled_c(tmp_path, "single_joint")
    run(*CPP, "main.cpp", "single_joint.o", "-lm", "-o", "main", cwd=tmp_path)
    assert run(tmp_path / "main") == "6"


STAND_INS = {
    "rclcpp/node_interfaces/node_parameters_interface.hpp": """\
#pragma once
#include <memory>
namespace rclcpp::node_interfaces {
struct NodeParametersInterface { using ConstSharedPtr = std::shared_ptr<const NodeParametersInterface>; };
}
""",
    "inverse_dynamics_solver/inverse_dynamics_solver.hpp": """\
#pragma once
#include <string>
#include <Eigen/Core>
#include <rclcpp/node_interfaces/node_parameters_interface.hpp>
namespace inverse_dynamics_solver {
using Vector = Eigen::VectorXd;
class InverseDynamicsSolver {
public:
    virtual ~InverseDynamicsSolver() {}
    virtual void initialize(rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr = nullptr,
        const std::string & = "", const std::string & = "") = 0;
    virtual Eigen::MatrixXd getInertiaMatrix(const Vector & q) const = 0;
    virtual Vector getCoriolisVector(const Vector & q, const Vector & qd) const = 0;
    virtual Vector getGravityVector(const Vector & q) const = 0;
    virtual Vector getFrictionVector(const Vector & qd) const = 0;
    virtual Vector getTorques(const Vector & q, const Vector & qd, const Vector & qdd) const = 0;
};
}
""",
    "pluginlib/class_list_macros.hpp": """\
#pragma once
#define PLUGINLIB_EXPORT_CLASS(Derived, Base) Base *made() { return new Derived; }
""",
}
PLUGIN = """\
#include <inverse_dynamics_solver/inverse_dynamics_solver.hpp>
#include <iostream>
#include <iomanip>
#include <memory>
#include <stdexcept>

inverse_dynamics_solver::InverseDynamicsSolver *made();

int main()
{
    const std::unique_ptr<inverse_dynamics_solver::InverseDynamicsSolver> solver(made());
    solver->initialize();
    Eigen::VectorXd q(6);
    q << STATE;
    std::cout << std::setprecision(17) << solver->getTorques(q, 2.0 * q, q) << "\\n"
        << solver->getInertiaMatrix(q).row(2).transpose() << "\\n"
        << solver->getCoriolisVector(q, 2.0 * q) << "\\n" << solver->getGravityVector(q) << "\\n"
        << solver->getFrictionVector(q) << "\\n";
    try {
        solver->getGravityVector(q.head(5));
    } catch (const std::invalid_argument &error) {
        std::cerr << error.what();
        return 0;
    }
    return 1;
}
""".replace("STATE", STATE)


def test_the_plugin_of_ros_2_computes_the_terms_of_the_interface(tmp_path):
    robot = armdyn.load("puma560")
    robot.export(tmp_path, target="ros2")
    assert "Not run: `colcon build`" in (tmp_path / "README.md").read_text()
    assert re.search("<name>(.*)</name>", (tmp_path / "package.xml").read_text())[1] == "puma560_inverse_dynamics"  # fmt: skip
    for name, text in STAND_INS.items():
        (tmp_path / "stand_in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "stand_in" / name).write_text(text)
    (tmp_path / "main.cpp").write_text(PLUGIN)
    compiled_c(tmp_path / "src", "puma560")
    files = "main.cpp", "src/puma560_inverse_dynamics.cpp", "src/puma560.o"
    run(*CPP, "-Istand_in", "-Isrc", *files, "-lm", "-o", "main", cwd=tmp_path)
    q = np.fromstring(STATE, sep=",")
    coriolis, gravity = robot.coriolis_matrix(q, 2 * q) @ (2 * q), robot.gravity_vector(q)
    expected = [
        *(robot.mass_matrix(q) @ q + coriolis + gravity), *robot.mass_matrix(q)[2], *coriolis,
        *gravity, *robot.friction_torque(q),
    ]  # fmt: skip
    assert np.abs(robot.friction_torque(q)).max() > 0.1
    np.testing.assert_allclose(numbers(run(tmp_path / "main")), expected, atol=1e-12)
    print("ROS 2: stand-ins for the headers of ROS 2; every function as armdyn computes it")
