// A model with its loss, and gradients beside finite differences.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include "base/random.h"
#include "kernels/backend.h"
#include "workunits/training/loss.h"
#include "workunits/training/model.h"

namespace quorate::test {

inline constexpr std::size_t kBatch = 5;

// A model with random parameters and inputs, and its batch loss.
struct LossOfModel {
  LossOfModel(Backend& device, const ModelSpec& spec)
      : backend(device),
        model(spec, kBatch, device),
        losses(device.tensor({kBatch * targets_of(spec)})),
        parameters(initial_parameters(spec, 3)) {
    RandomStream words(17, 0, 0);
    if (takes_text(spec)) {
      std::vector<std::uint32_t> tokens(kBatch * targets_of(spec));
      for (std::uint32_t& token : tokens) {
        token = integer_below(words.next(), classes_of(spec));
      }
      model.set_tokens(tokens);
    } else {
      std::vector<float> x(kBatch * inputs_of(spec));
      for (float& value : x) value = uniform11(words.next());
      backend.upload(model.input(kBatch), x);
    }
    for (std::size_t i = 0; i < losses.shape().count(); ++i) {
      targets.push_back(static_cast<std::uint32_t>(i % classes_of(spec)));
    }
    // Of the normalizations: not all alike.
    for (float& value : parameters) {
      if (value == 0.0F || value == 1.0F) {
        value += 0.25F * uniform11(words.next());
      }
    }
    model.begin_step(5, 2);
  }

  double loss_at(const std::vector<float>& at) {
    backend.upload(model.parameters(), at);
    float loss =
        softmax_cross_entropy(backend, model.forward(kBatch), targets,
                              1.0F / static_cast<float>(targets.size()),
                              losses.view(), model.output_gradient(kBatch));
    return loss;
  }

  std::vector<float> gradients() {
    loss_at(parameters);
    model.backward(kBatch);
    std::vector<float> values(model.gradients().shape.count());
    backend.download(model.gradients(), values);
    return values;
  }

  Backend& backend;
  Model model;
  Tensor losses;
  std::vector<float> parameters;
  std::vector<std::uint32_t> targets;
};

// The slopes of every `every`-th parameter, found by moving it by `step`: wide
// enough for binary32 losses, narrow enough that few inputs of a relu cross its
// kink. They may be `tolerance` of their norm apart, all together.
inline void check_slopes(LossOfModel& loss, std::size_t every, float step,
                         double tolerance) {
  std::vector<float> gradients = loss.gradients();
  double error = 0;
  double norm = 0;
  for (std::size_t i = 0; i < gradients.size(); i += every) {
    std::vector<float> above = loss.parameters;
    std::vector<float> below = loss.parameters;
    above[i] += step;
    below[i] -= step;
    double slope = (loss.loss_at(above) - loss.loss_at(below)) /
                   (static_cast<double>(above[i]) - below[i]);
    error += (slope - gradients[i]) * (slope - gradients[i]);
    norm += slope * slope;
  }
  CHECK(std::sqrt(error) < tolerance * std::sqrt(norm));
  CHECK(norm > 0.01);  // the comparison is not one of zeros
}

}  // namespace quorate::test
