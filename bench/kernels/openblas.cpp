#include <fmt/format.h>

#include "bench/kernels/peers.h"

#include <cblas.h>

namespace quorate::bench {

std::string openblas_name(int threads) {
  openblas_set_num_threads(threads);
  return fmt::format("OpenBLAS {}", openblas_get_corename());
}

Work openblas_product(const ProductCase& n, const Operands& on) {
  bool at = n.a == Transpose::yes;
  bool bt = n.b == Transpose::yes;
  return [=] {
    cblas_sgemm(CblasRowMajor, at ? CblasTrans : CblasNoTrans,
                bt ? CblasTrans : CblasNoTrans, n.m, n.n, n.k, 1.0F, on.a,
                at ? n.m : n.k, on.b, bt ? n.k : n.n, 0.0F, on.c, n.n);
  };
}

}  // namespace quorate::bench
