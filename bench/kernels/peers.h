// The libraries that our products and convolutions are compared with. Each
// function sets one up and returns what computes it once.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "bench/kernels/cases.h"

namespace quorate::bench {

using Work = std::function<void()>;

// Row-major operands of a product, as stored.
struct Operands {
  const float* a;
  const float* b;
  float* c;
};

// Chosen kernels, as the library names them; all limited to `threads`.
std::string openblas_name(int threads);
std::string onednn_name(int threads);
std::string eigen_name(int threads);

Work openblas_product(const ProductCase& n, const Operands& on);
Work onednn_product(const ProductCase& n, const Operands& on);
Work eigen_product(const ProductCase& n, const Operands& on);

// In the layouts that oneDNN likes best; bringing arrays into them is not part
// of the work.
Work onednn_layer(const LayerCase& n, Pass pass);

}  // namespace quorate::bench
