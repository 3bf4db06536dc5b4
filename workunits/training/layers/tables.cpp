#include "workunits/training/layers/tables.h"

#include "workunits/training/layers/shapes.h"

namespace quorate {
namespace {

// One row per sample, for what happens to every position alike.
View samples_of(const View& rows) {
  return rows.part(0, {rows.shape[0], rows.shape[1]});
}

}  // namespace

Embedding::Embedding(Backend& backend, const PlanStep& step,
                     std::span<const Parameter> parameters,
                     const BatchContext& context)
    : backend_(backend),
      out_(step.layer->out),
      table_(parameters[0]),
      positions_(parameters[1]),
      context_(context) {}

void Embedding::forward(ConstView, const std::optional<ConstView>&, View y) {
  backend_.embedding(table_.value, context_.tokens, pixel_rows(y, out_));
  backend_.add_bias(samples_of(y), positions_.value);
}

void Embedding::backward(ConstView, ConstView, View dy, std::optional<View>) {
  backend_.embedding_gradient(
      context_.tokens, pixel_rows(dy, out_), table_.gradient,
      context_.has_tied_table ? Accumulate::yes : Accumulate::no);
  backend_.sum_rows(samples_of(dy), positions_.gradient);
}

TiedLinear::TiedLinear(Backend& backend, const PlanStep& step,
                       std::span<const Parameter> parameters)
    : backend_(backend),
      in_(step.layer->in),
      out_(step.layer->out),
      table_(parameters[0]) {}

void TiedLinear::forward(ConstView x, const std::optional<ConstView>&, View y) {
  backend_.matmul(pixel_rows(x, in_), Transpose::no, table_.value,
                  Transpose::yes, pixel_rows(y, out_));
}

void TiedLinear::backward(ConstView x, ConstView, View dy,
                          std::optional<View> dx) {
  backend_.matmul(pixel_rows(dy, out_), Transpose::yes, pixel_rows(x, in_),
                  Transpose::no, table_.gradient);
  if (!dx) return;
  backend_.matmul(pixel_rows(dy, out_), Transpose::no, table_.value,
                  Transpose::no, pixel_rows(*dx, in_));
}

}  // namespace quorate
