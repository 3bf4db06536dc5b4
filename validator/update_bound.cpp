#include "validator/update_bound.h"

#include <algorithm>
#include <cmath>

namespace quorate {
namespace {

// Of the whole update's norm.
constexpr double kLeastOfTensor = 0.01;

// Of doubles: the squares of the largest floats fit, and so do their sums.
double norm_of(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) {
    sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return std::sqrt(sum);
}

// The sizes of a model's tensors, for one after another of its updates.
const std::vector<std::size_t>& tensor_sizes(const ModelSpec& model) {
  thread_local ModelSpec last;
  thread_local std::vector<std::size_t> sizes;
  if (sizes.empty() || last != model) {
    sizes.clear();
    for (const TensorSpec& tensor : parameters_of(model)) {
      sizes.push_back(tensor.size());
    }
    last = model;
  }
  return sizes;
}

double at_least_once(double value, double reference) {
  return reference > 0 ? std::max(1.0, value / reference) : 1.0;
}

// How much further `size` may go than `confirmed` did.
double further(const UpdateSize& size, const UpdateSize& confirmed) {
  return at_least_once(size.steps, confirmed.steps) *
         at_least_once(size.learning_rate, confirmed.learning_rate);
}

}  // namespace

double UpdateSize::norm() const {
  double sum = 0;
  for (const double norm : norms) sum += norm * norm;
  return std::sqrt(sum);
}

UpdateSize size_of(const TrainingTask& task, std::span<const float> update) {
  UpdateSize size;
  size.steps = task.range.steps;
  size.learning_rate = static_cast<double>(task.optimizer.learning_rate);
  for (const std::size_t count : tensor_sizes(task.model)) {
    size.norms.push_back(norm_of(update.first(count)));
    update = update.subspan(count);
  }
  return size;
}

void UpdateBound::add_confirmed(UpdateSize size) {
  confirmed_.push_back(std::move(size));
  if (confirmed_.size() > kWindow) confirmed_.pop_front();
}

std::vector<double> UpdateBound::usual_norms(const UpdateSize& size) const {
  std::vector<double> usual(size.norms.size(), 0.0);
  for (const UpdateSize& one : confirmed_) {
    const double least = kLeastOfTensor * one.norm();
    const double times = further(size, one);
    for (std::size_t i = 0; i < usual.size(); ++i) {
      usual[i] = std::max(usual[i], std::max(one.norms.at(i), least) * times);
    }
  }
  return usual;
}

std::optional<UpdateBound::Excess> UpdateBound::excess_of(
    const UpdateSize& size) const {
  const std::vector<double> usual = usual_norms(size);
  std::optional<Excess> worst;
  for (std::size_t i = 0; i < size.norms.size(); ++i) {
    if (size.norms[i] == 0) continue;
    const double times = size.norms[i] / usual[i];
    if (times <= kMostTimes) continue;
    if (!worst || times > worst->times) worst = Excess{i, times};
  }
  return worst;
}

}  // namespace quorate
