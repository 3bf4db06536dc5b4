#include "workunits/training/plan.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "base/error.h"

namespace quorate {
namespace {

// Values begin at whole vectors and cache lines.
constexpr std::size_t kAlignment = 16;

// --- The steps.

// How many of each a place has before it, in declared order.
struct Place {
  std::size_t tensors = 0;
  std::size_t statistics = 0;
  std::uint32_t dropouts = 0;
};

Place after(Place place, const LayerSpec& layer) {
  if (layer.kind == LayerKind::residual) {
    for (const auto* part : {&layer.branch, &layer.shortcut}) {
      for (const LayerSpec& inner : *part) place = after(place, inner);
    }
    return place;
  }
  place.tensors += tensors_of(layer, "").size();
  place.statistics += running_statistics_of(layer, "").size();
  if (layer.kind == LayerKind::dropout) ++place.dropouts;
  return place;
}

// Goes through the layers in order of computation: a shortcut before its
// branch, so that the branch's last product can add it.
class Unroller {
 public:
  Unroller(Plan& plan, std::size_t input_size) : plan_(plan) {
    plan.values.push_back({input_size});
  }

  // Returns the value that the last layer gives.
  std::size_t add(const std::vector<LayerSpec>& layers, std::size_t value) {
    for (const LayerSpec& layer : layers) {
      // Rows of pixels, channels fastest, already are flat.
      if (layer.kind == LayerKind::flatten) continue;
      value = layer.kind == LayerKind::residual ? add_residual(layer, value)
                                                : add_step(layer, value);
    }
    return value;
  }

 private:
  std::size_t add_step(const LayerSpec& layer, std::size_t in) {
    PlanStep step;
    step.layer = layer;
    step.in = in;
    step.first_tensor = at_.tensors;
    step.first_statistic = at_.statistics;
    step.dropout = at_.dropouts;
    at_ = after(at_, layer);
    return finish(std::move(step), layer.out.size());
  }

  // A place counts in declared order: what the branch has comes first.
  std::size_t add_residual(const LayerSpec& layer, std::size_t in) {
    const Place first = at_;
    for (const LayerSpec& inner : layer.branch) at_ = after(at_, inner);
    PlanStep sum;
    sum.addend = add(layer.shortcut, in);
    const Place end = at_;
    at_ = first;
    sum.in = add(layer.branch, in);
    at_ = end;
    return finish(std::move(sum), layer.out.size());
  }

  std::size_t finish(PlanStep step, std::size_t size) {
    step.out = plan_.values.size();
    plan_.values.push_back({size});
    plan_.steps.push_back(std::move(step));
    return plan_.steps.back().out;
  }

  Plan& plan_;
  Place at_;
};

bool uses(const PlanStep& step, std::size_t value) {
  return step.in == value || step.addend == value;
}

std::size_t count_uses(const Plan& plan, std::size_t value) {
  return static_cast<std::size_t>(std::ranges::count_if(
      plan.steps, [&](const PlanStep& step) { return uses(step, value); }));
}

bool is_product(const PlanStep& step) {
  return step.layer && (step.layer->kind == LayerKind::conv2d ||
                        step.layer->kind == LayerKind::linear);
}

bool is_kind(const PlanStep& step, LayerKind kind) {
  return step.layer && step.layer->kind == kind;
}

// Where a value is added to another, both share one slope, which must then not
// be changed on its way through a fused relu.
bool is_summand(const Plan& plan, std::size_t value) {
  return std::ranges::any_of(plan.steps, [&](const PlanStep& step) {
    return step.addend == value || (!step.layer && step.in == value);
  });
}

// Whether `next`, which takes what `step` alone gives it, can be the epilogue
// of `step`.
bool can_fuse(const Plan& plan, const PlanStep& step, const PlanStep& next) {
  if (next.in != step.out || step.relu || count_uses(plan, step.out) != 1) {
    return false;
  }
  if (!next.layer) return is_product(step) && !step.addend;
  if (next.layer->kind != LayerKind::activation ||
      next.layer->activation != Activation::relu) {
    return false;
  }
  if (is_kind(step, LayerKind::normalize)) return true;
  return is_product(step) && !is_summand(plan, next.out);
}

void fuse(Plan& plan) {
  for (std::size_t i = 0; i + 1 < plan.steps.size();) {
    PlanStep& step = plan.steps[i];
    const PlanStep& next = plan.steps[i + 1];
    if (!can_fuse(plan, step, next)) {
      ++i;
      continue;
    }
    step.out = next.out;
    if (next.layer) {
      step.relu = true;
    } else {
      step.addend = next.addend;
    }
    plan.steps.erase(plan.steps.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

// --- When values and slopes are needed. Forward step i happens at time i, the
// loss at n, the way back through step i at 2 n - i.

bool needs_input(const PlanStep& step) {
  if (!step.layer) return false;
  switch (step.layer->kind) {
    case LayerKind::average_pool2d:
    case LayerKind::mean_pixels:
    case LayerKind::dropout:
    case LayerKind::embedding:
      return false;
    default:
      return true;
  }
}

// A relu in a product goes back by what came out.
bool needs_output(const PlanStep& step) {
  return step.relu && is_product(step);
}

struct Buffer {
  std::size_t size = 0;
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::size_t last = 0;
  std::size_t offset = 0;

  void need_at(std::size_t time) {
    first = std::min(first, time);
    last = std::max(last, time);
  }
};

class Layout {
 public:
  Layout(Plan& plan, std::size_t max_batch, Purpose purpose)
      : plan_(plan),
        batch_(max_batch),
        training_(purpose == Purpose::training) {}

  void make() {
    place_values();
    slopes_.resize(plan_.values.size());
    scratch_.resize(steps());
    if (training_) place_slopes();
    assign_offsets();
    for (std::size_t v = 0; v < plan_.values.size(); ++v) {
      plan_.values[v].offset = buffers_[v].offset;
      if (slopes_[v]) plan_.values[v].slope = buffers_[*slopes_[v]].offset;
    }
    for (std::size_t i = 0; i < steps(); ++i) {
      if (scratch_[i]) plan_.steps[i].scratch = buffers_[*scratch_[i]].offset;
    }
  }

 private:
  std::size_t steps() const { return plan_.steps.size(); }
  std::size_t back(std::size_t step) const { return 2 * steps() - step; }

  std::size_t new_buffer(std::size_t value) {
    std::size_t size = plan_.values[value].size * batch_;
    buffers_.push_back({(size + kAlignment - 1) / kAlignment * kAlignment});
    return buffers_.size() - 1;
  }

  void place_values() {
    for (std::size_t v = 0; v < plan_.values.size(); ++v) new_buffer(v);
    buffers_[0].need_at(0);
    for (std::size_t i = 0; i < steps(); ++i) {
      const PlanStep& step = plan_.steps[i];
      buffers_[step.in].need_at(i);
      buffers_[step.out].need_at(i);
      if (step.addend) buffers_[*step.addend].need_at(i);
      if (!training_) continue;
      if (needs_input(step)) buffers_[step.in].need_at(back(i));
      if (needs_output(step)) buffers_[step.out].need_at(back(i));
    }
    buffers_[plan_.output].need_at(steps());
  }

  // The slope of a sum is that of both its parts.
  void place_slopes() {
    auto& slope = slopes_;
    slope[plan_.output] = new_buffer(plan_.output);
    buffers_[*slope[plan_.output]].need_at(steps());
    for (std::size_t i = steps(); i-- > 0;) {
      PlanStep& step = plan_.steps[i];
      Buffer& out = buffers_[*slope[step.out]];
      out.need_at(back(i));
      if (step.addend) {
        check(!slope[*step.addend], "a sum is the last use of what it adds");
        slope[*step.addend] = slope[step.out];
      }
      if (step.in == 0) continue;  // no gradient of the samples
      if (!step.layer) {
        check(!slope[step.in], "a sum is the last use of what it adds");
        slope[step.in] = slope[step.out];
        continue;
      }
      place_slope_of_input(i, slope[step.in]);
    }
  }

  void place_slope_of_input(std::size_t i, std::optional<std::size_t>& slope) {
    PlanStep& step = plan_.steps[i];
    if (!slope) {
      slope = new_buffer(step.in);
    } else {
      step.accumulates = true;
      scratch_[i] = new_buffer(step.in);
      buffers_[*scratch_[i]].need_at(back(i));
    }
    buffers_[*slope].need_at(back(i));
  }

  // Largest first, each at the lowest place that is free all its time.
  void assign_offsets() {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i].first <= buffers_[i].last) order.push_back(i);
    }
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t i) { return buffers_[i].size; });
    std::vector<const Buffer*> placed;  // by offset
    for (std::size_t i : order) {
      Buffer& buffer = buffers_[i];
      for (const Buffer* other : placed) {
        if (other->last < buffer.first || buffer.last < other->first) continue;
        if (buffer.offset + buffer.size <= other->offset) break;
        buffer.offset = std::max(buffer.offset, other->offset + other->size);
      }
      plan_.arena = std::max(plan_.arena, buffer.offset + buffer.size);
      placed.insert(
          std::ranges::upper_bound(placed, buffer.offset, {},
                                   [](const Buffer* b) { return b->offset; }),
          &buffer);
    }
  }

  Plan& plan_;
  std::size_t batch_;
  bool training_;
  std::vector<Buffer> buffers_;  // of values, then of slopes and scratch
  using BufferIndex = std::optional<std::size_t>;
  std::vector<BufferIndex> slopes_;   // of each value
  std::vector<BufferIndex> scratch_;  // of each step
};

}  // namespace

Plan plan_of(const std::vector<LayerSpec>& layers, std::size_t max_batch,
             Purpose purpose) {
  Plan plan;
  Unroller unroller(plan, layers.front().in.size());
  plan.output = unroller.add(layers, 0);
  fuse(plan);
  Layout(plan, max_batch, purpose).make();
  return plan;
}

}  // namespace quorate
