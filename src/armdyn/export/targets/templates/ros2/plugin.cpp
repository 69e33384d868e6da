/* Inverse dynamics of one robot, by @PREFIX@.c, behind the interface of inverse_dynamics_solver. */
#include <stdexcept>
#include <string>

#include <Eigen/Core>
#include <inverse_dynamics_solver/inverse_dynamics_solver.hpp>
#include <pluginlib/class_list_macros.hpp>

#include "@PREFIX@.h"

namespace @NAMESPACE@
{

class @CLASS@ : public inverse_dynamics_solver::InverseDynamicsSolver
{
public:
  /* The robot is in the code: nothing is read from parameters or from a description. */
  void initialize(
    rclcpp::node_interfaces::NodeParametersInterface::ConstSharedPtr, const std::string &,
    const std::string &) override
  {
  }

  Eigen::MatrixXd getInertiaMatrix(const Eigen::VectorXd & q) const override
  {
    check("joint_positions", q);
    Eigen::MatrixXd M(@JOINTS@, @JOINTS@); /* symmetric: by rows and by columns it is the same */
    @PREFIX@_mass_matrix(q.data(), M.data());
    return M;
  }

  Eigen::VectorXd getCoriolisVector(
    const Eigen::VectorXd & q, const Eigen::VectorXd & qd) const override
  {
    check("joint_positions", q);
    check("joint_velocities", qd);
    Eigen::VectorXd c(@JOINTS@);
    @PREFIX@_coriolis_vector(q.data(), qd.data(), c.data());
    return c;
  }

  Eigen::VectorXd getGravityVector(const Eigen::VectorXd & q) const override
  {
    check("joint_positions", q);
    Eigen::VectorXd g(@JOINTS@);
    @PREFIX@_gravity_vector(q.data(), g.data());
    return g;
  }

  Eigen::VectorXd getFrictionVector(const Eigen::VectorXd & qd) const override
  {
    check("joint_velocities", qd);
    Eigen::VectorXd f(@JOINTS@);
    @PREFIX@_friction_torque(qd.data(), f.data());
    return f;
  }

  /* Inertia, Coriolis effects and gravity, as the interface asks: friction is not in it. */
  Eigen::VectorXd getTorques(
    const Eigen::VectorXd & q, const Eigen::VectorXd & qd,
    const Eigen::VectorXd & qdd) const override
  {
    check("joint_positions", q);
    check("joint_velocities", qd);
    check("joint_accelerations", qdd);
    Eigen::VectorXd tau(@JOINTS@);
    @PREFIX@_inverse_dynamics(q.data(), qd.data(), qdd.data(), tau.data());
    return tau;
  }

private:
  static void check(const char * name, const Eigen::VectorXd & given)
  {
    if (given.size() != @JOINTS@) {
      throw std::invalid_argument(
        std::string(name) + ": expected @JOINTS@ joints, got " + std::to_string(given.size()));
    }
  }
};

}  // namespace @NAMESPACE@

PLUGINLIB_EXPORT_CLASS(
  @NAMESPACE@::@CLASS@, inverse_dynamics_solver::InverseDynamicsSolver)
