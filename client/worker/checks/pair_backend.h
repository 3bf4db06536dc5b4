// Two devices as one: every operation runs on both, and what they write is
// compared bit by bit. Slow; to find out where two devices part.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/backend.h"

namespace quorate::worker {

// The first element that an operation writes differently.
struct OperationDifference {
  std::string operation;  // as backend.h names it
  std::string output;     // which of its arrays
  std::size_t element = 0;
  float first = 0;
  float second = 0;
};

// Takes over both. Each allocation exists on both devices, each operation takes
// the time of both and of two downloads.
class PairBackend final : public Backend {
 public:
  PairBackend(std::unique_ptr<Backend> first, std::unique_ptr<Backend> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  // The first of all; later operations are no longer compared.
  const std::optional<OperationDifference>& difference() const {
    return difference_;
  }
  // Operations so far, up to the difference.
  std::uint64_t operations() const { return operations_; }

  DeviceInfo device() const override;
  std::unique_ptr<Memory> allocate(std::size_t count) override;
  void upload(View to, std::span<const float> from) override;
  void upload_pixels(View to, std::span<const std::uint8_t> from) override;
  void download(ConstView from, std::span<float> to) override;
  void matmul(ConstView a, Transpose transpose_a, ConstView b,
              Transpose transpose_b, View c, const Epilogue& then) override;
  void conv2d(ConstView x, ConstView w, const Convolution& how, View y,
              const Epilogue& then) override;
  void conv2d_input_gradient(ConstView dy, ConstView w, const Convolution& how,
                             View dx) override;
  void conv2d_weight_gradient(ConstView x, ConstView dy, const Convolution& how,
                              View dw) override;
  void attention(ConstView qkv, std::size_t heads, float scale, View weights,
                 View y) override;
  void attention_gradient(ConstView qkv, ConstView weights, ConstView dy,
                          std::size_t heads, float scale, View dqkv) override;
  void max_pool2d(ConstView x, const Pooling& how, View y) override;
  void max_pool2d_gradient(ConstView x, ConstView dy, const Pooling& how,
                           View dx) override;
  void average_pool2d(ConstView x, const Pooling& how, float reciprocal,
                      View y) override;
  void average_pool2d_gradient(ConstView dy, const Pooling& how,
                               float reciprocal, View dx) override;
  void mean_pixels(ConstView x, float reciprocal, View y) override;
  void mean_pixels_gradient(ConstView dy, float reciprocal, View dx) override;
  void normalize(ConstView x, ConstView gamma, ConstView beta,
                 const Normalization& how, View y, View mean,
                 View variance) override;
  void normalize_with(ConstView x, ConstView mean, ConstView variance,
                      ConstView gamma, ConstView beta, const Normalization& how,
                      View y) override;
  void normalize_gradient(ConstView x, ConstView dy, ConstView mean,
                          ConstView variance, ConstView gamma, ConstView beta,
                          const Normalization& how, View dx, View dgamma,
                          View dbeta) override;
  void add_bias(View x, ConstView bias) override;
  void sum_rows(ConstView x, View y) override;
  float sum(ConstView x) override;
  void sums_of_squares(std::span<const ConstView> x,
                       std::span<float> sums) override;
  void embedding(ConstView table, Indices ids, View y) override;
  void embedding_gradient(Indices ids, ConstView dy, View dtable,
                          Accumulate accumulate) override;
  void softmax_cross_entropy(ConstView logits, Indices targets, float scale,
                             View losses, View dlogits) override;
  std::size_t count_correct(ConstView logits, Indices targets) override;
  void map(Function f, ConstView x, View y) override;
  void map_gradient(Function f, ConstView x, ConstView dy, View dx) override;
  void add(ConstView a, ConstView b, View y) override;
  void subtract(ConstView a, ConstView b, View y) override;
  void scale(ConstView x, float factor, View y) override;
  void move_towards(ConstView x, float factor, float rate, View y) override;
  void dropout(ConstView x, const Dropout& how, View y) override;
  void sgd(View w, ConstView g, View v, const SgdStep& step) override;
  void adamw(View w, ConstView g, View m, View v,
             const AdamWStep& step) override;
  bool all_finite(ConstView x) override;

 private:
  // One of the two devices with the views that an operation was given.
  class Side;
  struct Output {
    const char* name;
    View view;
  };

  // Runs an operation on both sides and compares what it wrote.
  void run(const char* operation, std::initializer_list<Output> outputs,
           const std::function<void(Side& side)>& on);
  // The same of one that returns numbers; returns the first side's.
  std::vector<float> ask(const char* operation,
                         const std::function<std::vector<float>(Side&)>& on);
  void compare(const char* operation, const char* output,
               std::span<const float> first, std::span<const float> second);

  std::unique_ptr<Backend> first_;
  std::unique_ptr<Backend> second_;
  std::uint64_t operations_ = 0;
  std::optional<OperationDifference> difference_;
};

}  // namespace quorate::worker
