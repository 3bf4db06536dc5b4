// What the benchmark of products and convolutions measures.
#pragma once

#include <string>
#include <vector>

#include "kernels/operations.h"

namespace quorate::bench {

// C (m,n) = op(a) op(b) over k.
struct ProductCase {
  int m, n, k;
  Transpose a = Transpose::no;
  Transpose b = Transpose::no;

  std::string name() const;
  double flops() const { return 2.0 * m * n * k; }
};
std::vector<ProductCase> product_cases();

// A layer with square images and kernels, padded to keep its size.
struct LayerCase {
  const char* group;
  int images, size, in, out, kernel;
  int stride = 1;
  int groups = 1;

  int padding() const { return kernel / 2; }
  int out_size() const { return (size + 2 * padding() - kernel) / stride + 1; }
  std::string name() const;
  double flops() const {
    return 2.0 * images * out_size() * out_size() * kernel * kernel * in /
           groups * out;
  }
};
std::vector<LayerCase> layer_cases();

enum class Pass { forward, data, weight };
inline constexpr Pass kPasses[] = {Pass::forward, Pass::data, Pass::weight};
std::string name_of(Pass pass);

}  // namespace quorate::bench
