#include "bench/kernels/cases.h"

#include <fmt/format.h>

namespace quorate::bench {

std::string ProductCase::name() const {
  const char* form = a == Transpose::yes   ? " A^T B"
                     : b == Transpose::yes ? " A B^T"
                                           : "";
  return fmt::format("{}x{}x{}{}", m, n, k, form);
}

std::string LayerCase::name() const {
  std::string name = fmt::format("{}x{}x{}x{}>{} {}x{}", images, size, size, in,
                                 out, kernel, kernel);
  if (stride != 1) name += fmt::format(" s{}", stride);
  if (groups != 1) name += fmt::format(" g{}", groups);
  return name;
}

std::string name_of(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return "forward";
    case Pass::data:
      return "data";
    case Pass::weight:
      return "weight";
  }
  return {};
}

// Square ones, those of convolutions seen as products, and transformers'.
std::vector<ProductCase> product_cases() {
  using enum Transpose;
  return {{512, 512, 512},
          {1024, 1024, 1024},
          {1024, 1024, 1024, yes, no},
          {1024, 1024, 1024, no, yes},
          {8192, 256, 1152},
          {256, 8192, 1152},
          {256, 1152, 8192, yes, no},
          {64, 576, 32768, yes, no},
          {32768, 64, 576},
          {32768, 576, 64, no, yes},
          {768, 3072, 1024},
          {1024, 3072, 768},
          {1024, 768, 3072, no, yes},
          {256, 256, 64, no, yes},
          {2048, 384, 1536, no, yes},
          {2048, 1536, 384, no, yes}};
}

std::vector<LayerCase> layer_cases() {
  return {
      {"wide 3x3", 8, 56, 64, 64, 3},
      {"wide 3x3", 8, 28, 128, 128, 3},
      {"wide 3x3", 8, 14, 256, 256, 3},
      {"wide 3x3", 8, 7, 512, 512, 3},
      {"wide 3x3", 64, 32, 64, 64, 3},
      {"wide 3x3", 64, 16, 128, 128, 3},
      {"wide 3x3", 64, 8, 256, 256, 3},
      {"wide 3x3", 64, 4, 512, 512, 3},
      {"narrow 3x3", 64, 32, 16, 16, 3},
      {"narrow 3x3", 64, 16, 32, 32, 3},
      {"narrow 3x3", 64, 8, 64, 64, 3},
      {"first layers", 64, 32, 3, 16, 3},
      {"first layers", 64, 32, 3, 64, 3},
      {"first layers", 8, 224, 3, 64, 7, 2},
      {"1x1", 8, 28, 512, 128, 1},
      {"1x1", 8, 56, 64, 256, 1},
      {"stride 2", 64, 32, 16, 32, 3, 2},
      {"stride 2", 64, 32, 64, 128, 3, 2},
      {"stride 2", 8, 56, 128, 128, 3, 2},
      {"stride 2", 64, 32, 64, 128, 1, 2},
      {"groups", 8, 28, 128, 128, 3, 1, 4},
      {"groups", 8, 28, 128, 128, 3, 1, 128},
  };
}

}  // namespace quorate::bench
