// A backend that passes everything on to another: for tests that change a few
// operations.
#pragma once

#include <memory>
#include <utility>

#include "kernels/backend.h"

namespace quorate::test {

class ForwardingBackend : public Backend {
 public:
  explicit ForwardingBackend(std::unique_ptr<Backend> to)
      : to_(std::move(to)) {}

  DeviceInfo device() const override { return to_->device(); }
  std::unique_ptr<Memory> allocate(std::size_t count) override {
    return to_->allocate(count);
  }
  void upload(View to, std::span<const float> from) override {
    to_->upload(to, from);
  }
  void upload_pixels(View to, std::span<const std::uint8_t> from) override {
    to_->upload_pixels(to, from);
  }
  void download(ConstView from, std::span<float> to) override {
    to_->download(from, to);
  }
  void matmul(ConstView a, Transpose transpose_a, ConstView b,
              Transpose transpose_b, View c, const Epilogue& then) override {
    to_->matmul(a, transpose_a, b, transpose_b, c, then);
  }
  void conv2d(ConstView x, ConstView w, const Convolution& how, View y,
              const Epilogue& then) override {
    to_->conv2d(x, w, how, y, then);
  }
  void conv2d_input_gradient(ConstView dy, ConstView w, const Convolution& how,
                             View dx) override {
    to_->conv2d_input_gradient(dy, w, how, dx);
  }
  void conv2d_weight_gradient(ConstView x, ConstView dy, const Convolution& how,
                              View dw) override {
    to_->conv2d_weight_gradient(x, dy, how, dw);
  }
  void attention(ConstView qkv, std::size_t heads, float scale, View weights,
                 View y) override {
    to_->attention(qkv, heads, scale, weights, y);
  }
  void attention_gradient(ConstView qkv, ConstView weights, ConstView dy,
                          std::size_t heads, float scale, View dqkv) override {
    to_->attention_gradient(qkv, weights, dy, heads, scale, dqkv);
  }
  void max_pool2d(ConstView x, const Pooling& how, View y) override {
    to_->max_pool2d(x, how, y);
  }
  void max_pool2d_gradient(ConstView x, ConstView dy, const Pooling& how,
                           View dx) override {
    to_->max_pool2d_gradient(x, dy, how, dx);
  }
  void average_pool2d(ConstView x, const Pooling& how, float reciprocal,
                      View y) override {
    to_->average_pool2d(x, how, reciprocal, y);
  }
  void average_pool2d_gradient(ConstView dy, const Pooling& how,
                               float reciprocal, View dx) override {
    to_->average_pool2d_gradient(dy, how, reciprocal, dx);
  }
  void mean_pixels(ConstView x, float reciprocal, View y) override {
    to_->mean_pixels(x, reciprocal, y);
  }
  void mean_pixels_gradient(ConstView dy, float reciprocal, View dx) override {
    to_->mean_pixels_gradient(dy, reciprocal, dx);
  }
  void normalize(ConstView x, ConstView gamma, ConstView beta,
                 const Normalization& how, View y, View mean,
                 View variance) override {
    to_->normalize(x, gamma, beta, how, y, mean, variance);
  }
  void normalize_with(ConstView x, ConstView mean, ConstView variance,
                      ConstView gamma, ConstView beta, const Normalization& how,
                      View y) override {
    to_->normalize_with(x, mean, variance, gamma, beta, how, y);
  }
  void normalize_gradient(ConstView x, ConstView dy, ConstView mean,
                          ConstView variance, ConstView gamma, ConstView beta,
                          const Normalization& how, View dx, View dgamma,
                          View dbeta) override {
    to_->normalize_gradient(x, dy, mean, variance, gamma, beta, how, dx, dgamma,
                            dbeta);
  }
  void add_bias(View x, ConstView bias) override { to_->add_bias(x, bias); }
  void sum_rows(ConstView x, View y) override { to_->sum_rows(x, y); }
  float sum(ConstView x) override { return to_->sum(x); }
  void sums_of_squares(std::span<const ConstView> x,
                       std::span<float> sums) override {
    to_->sums_of_squares(x, sums);
  }
  void embedding(ConstView table, Indices ids, View y) override {
    to_->embedding(table, ids, y);
  }
  void embedding_gradient(Indices ids, ConstView dy, View dtable,
                          Accumulate accumulate) override {
    to_->embedding_gradient(ids, dy, dtable, accumulate);
  }
  void softmax_cross_entropy(ConstView logits, Indices targets, float scale,
                             View losses, View dlogits) override {
    to_->softmax_cross_entropy(logits, targets, scale, losses, dlogits);
  }
  std::size_t count_correct(ConstView logits, Indices targets) override {
    return to_->count_correct(logits, targets);
  }
  void map(Function f, ConstView x, View y) override { to_->map(f, x, y); }
  void map_gradient(Function f, ConstView x, ConstView dy, View dx) override {
    to_->map_gradient(f, x, dy, dx);
  }
  void add(ConstView a, ConstView b, View y) override { to_->add(a, b, y); }
  void subtract(ConstView a, ConstView b, View y) override {
    to_->subtract(a, b, y);
  }
  void scale(ConstView x, float factor, View y) override {
    to_->scale(x, factor, y);
  }
  void move_towards(ConstView x, float factor, float rate, View y) override {
    to_->move_towards(x, factor, rate, y);
  }
  void dropout(ConstView x, const Dropout& how, View y) override {
    to_->dropout(x, how, y);
  }
  void sgd(View w, ConstView g, View v, const SgdStep& step) override {
    to_->sgd(w, g, v, step);
  }
  void adamw(View w, ConstView g, View m, View v,
             const AdamWStep& step) override {
    to_->adamw(w, g, m, v, step);
  }
  bool all_finite(ConstView x) override { return to_->all_finite(x); }

 protected:
  Backend& to() { return *to_; }

 private:
  std::unique_ptr<Backend> to_;
};

}  // namespace quorate::test
