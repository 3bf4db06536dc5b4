// Compiled for this machine (-march=native), as users of Eigen would.
#include <fmt/format.h>

#include "bench/kernels/peers.h"

#include <Eigen/Core>

namespace quorate::bench {
namespace {

using Matrix =
    Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Input = Eigen::Map<const Matrix>;

}  // namespace

std::string eigen_name(int threads) {
  Eigen::setNbThreads(threads);
  return fmt::format("Eigen {}.{}.{} {}", EIGEN_WORLD_VERSION,
                     EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION,
                     Eigen::SimdInstructionSetsInUse());
}

Work eigen_product(const ProductCase& n, const Operands& on) {
  bool at = n.a == Transpose::yes;
  bool bt = n.b == Transpose::yes;
  return [=] {
    Input a(on.a, at ? n.k : n.m, at ? n.m : n.k);
    Input b(on.b, bt ? n.n : n.k, bt ? n.k : n.n);
    Eigen::Map<Matrix> c(on.c, n.m, n.n);
    if (at) {
      c.noalias() = a.transpose() * b;
    } else if (bt) {
      c.noalias() = a * b.transpose();
    } else {
      c.noalias() = a * b;
    }
  };
}

}  // namespace quorate::bench
