/*
 * The functions of @PREFIX@.h for the vectors and matrices of Eigen; link @PREFIX@.c.
 *
 * Arguments are vectors with a stride of one: Eigen::VectorXd of the right length, a segment of it,
 * or memory of others by Eigen::Map. Matrices are stored row by row. Results may be written over
 * arguments.
 */
#ifndef @UPPER@_HPP
#define @UPPER@_HPP

#include <Eigen/Core>

#include "@PREFIX@.h"

namespace @PREFIX@ {

using Real = @REAL@;
constexpr int joints = @JOINTS@;

template <int Rows, int Columns>
using Matrix =
    Eigen::Matrix<Real, Rows, Columns, Columns == 1 ? Eigen::ColMajor : Eigen::RowMajor>;
template <int Size>
using Vector = Matrix<Size, 1>;
/** Memory of others as a vector or a matrix: Map<7, 1>(pointer). */
template <int Rows, int Columns>
using Map = Eigen::Map<Matrix<Rows, Columns>>;

@FUNCTIONS@
}  // namespace @PREFIX@

#endif
