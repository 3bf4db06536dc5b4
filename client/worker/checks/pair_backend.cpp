#include "client/worker/checks/pair_backend.h"

#include <algorithm>
#include <vector>

#include "base/arithmetic.h"

namespace quorate::worker {
namespace {

// The same array in the memory of both devices.
class PairMemory final : public Memory {
 public:
  PairMemory(std::unique_ptr<Memory> first, std::unique_ptr<Memory> second)
      : Memory(first->size()),
        first_(std::move(first)),
        second_(std::move(second)) {}

  Memory* get(bool is_first) const {
    return is_first ? first_.get() : second_.get();
  }

 private:
  std::unique_ptr<Memory> first_;
  std::unique_ptr<Memory> second_;
};

}  // namespace

// One of the two devices, and the views of its memory.
class PairBackend::Side {
 public:
  Side(Backend& backend, bool is_first)
      : backend_(backend), is_first_(is_first) {}

  Backend* operator->() { return &backend_; }
  View operator()(const View& view) const {
    return {static_cast<PairMemory*>(view.memory)->get(is_first_), view.offset,
            view.shape};
  }
  ConstView operator()(const ConstView& view) const {
    return {static_cast<const PairMemory*>(view.memory)->get(is_first_),
            view.offset, view.shape};
  }
  Epilogue operator()(Epilogue then) const {
    if (then.bias) then.bias = (*this)(*then.bias);
    if (then.addend) then.addend = (*this)(*then.addend);
    return then;
  }
  std::vector<float> values(const View& view) {
    std::vector<float> values(view.shape.count());
    backend_.download((*this)(view), values);
    return values;
  }

 private:
  Backend& backend_;
  bool is_first_;
};

void PairBackend::run(const char* operation,
                      std::initializer_list<Output> outputs,
                      const std::function<void(Side& side)>& on) {
  Side first(*first_, true);
  Side second(*second_, false);
  on(first);
  on(second);
  if (difference_) return;
  ++operations_;
  for (const Output& output : outputs) {
    compare(operation, output.name, first.values(output.view),
            second.values(output.view));
  }
}

std::vector<float> PairBackend::ask(
    const char* operation, const std::function<std::vector<float>(Side&)>& on) {
  Side first(*first_, true);
  Side second(*second_, false);
  std::vector<float> answer = on(first);
  const std::vector<float> other = on(second);
  if (!difference_) {
    ++operations_;
    compare(operation, "result", answer, other);
  }
  return answer;
}

// Any NaN is any other, as in state digests.
void PairBackend::compare(const char* operation, const char* output,
                          std::span<const float> first,
                          std::span<const float> second) {
  for (std::size_t i = 0; i < first.size() && !difference_; ++i) {
    if (canonical_bits(first[i]) == canonical_bits(second[i])) continue;
    difference_ = {operation, output, i, first[i], second[i]};
  }
}

DeviceInfo PairBackend::device() const {
  const std::string name =
      first_->device().name + " and " + second_->device().name;
  return {name, name};
}

std::unique_ptr<Memory> PairBackend::allocate(std::size_t count) {
  return std::make_unique<PairMemory>(first_->allocate(count),
                                      second_->allocate(count));
}

void PairBackend::upload(View to, std::span<const float> from) {
  run("upload", {{"to", to}}, [&](Side& s) { s->upload(s(to), from); });
}
void PairBackend::upload_pixels(View to, std::span<const std::uint8_t> from) {
  run("upload_pixels", {{"to", to}},
      [&](Side& s) { s->upload_pixels(s(to), from); });
}
void PairBackend::download(ConstView from, std::span<float> to) {
  first_->download(Side(*first_, true)(from), to);
}
void PairBackend::matmul(ConstView a, Transpose transpose_a, ConstView b,
                         Transpose transpose_b, View c, const Epilogue& then) {
  run("matmul", {{"c", c}}, [&](Side& s) {
    s->matmul(s(a), transpose_a, s(b), transpose_b, s(c), s(then));
  });
}
void PairBackend::conv2d(ConstView x, ConstView w, const Convolution& how,
                         View y, const Epilogue& then) {
  run("conv2d", {{"y", y}},
      [&](Side& s) { s->conv2d(s(x), s(w), how, s(y), s(then)); });
}
void PairBackend::conv2d_input_gradient(ConstView dy, ConstView w,
                                        const Convolution& how, View dx) {
  run("conv2d_input_gradient", {{"dx", dx}},
      [&](Side& s) { s->conv2d_input_gradient(s(dy), s(w), how, s(dx)); });
}
void PairBackend::conv2d_weight_gradient(ConstView x, ConstView dy,
                                         const Convolution& how, View dw) {
  run("conv2d_weight_gradient", {{"dw", dw}},
      [&](Side& s) { s->conv2d_weight_gradient(s(x), s(dy), how, s(dw)); });
}
void PairBackend::attention(ConstView qkv, std::size_t heads, float scale,
                            View weights, View y) {
  run("attention", {{"weights", weights}, {"y", y}},
      [&](Side& s) { s->attention(s(qkv), heads, scale, s(weights), s(y)); });
}
void PairBackend::attention_gradient(ConstView qkv, ConstView weights,
                                     ConstView dy, std::size_t heads,
                                     float scale, View dqkv) {
  run("attention_gradient", {{"dqkv", dqkv}}, [&](Side& s) {
    s->attention_gradient(s(qkv), s(weights), s(dy), heads, scale, s(dqkv));
  });
}
void PairBackend::max_pool2d(ConstView x, const Pooling& how, View y) {
  run("max_pool2d", {{"y", y}},
      [&](Side& s) { s->max_pool2d(s(x), how, s(y)); });
}
void PairBackend::max_pool2d_gradient(ConstView x, ConstView dy,
                                      const Pooling& how, View dx) {
  run("max_pool2d_gradient", {{"dx", dx}},
      [&](Side& s) { s->max_pool2d_gradient(s(x), s(dy), how, s(dx)); });
}
void PairBackend::average_pool2d(ConstView x, const Pooling& how,
                                 float reciprocal, View y) {
  run("average_pool2d", {{"y", y}},
      [&](Side& s) { s->average_pool2d(s(x), how, reciprocal, s(y)); });
}
void PairBackend::average_pool2d_gradient(ConstView dy, const Pooling& how,
                                          float reciprocal, View dx) {
  run("average_pool2d_gradient", {{"dx", dx}}, [&](Side& s) {
    s->average_pool2d_gradient(s(dy), how, reciprocal, s(dx));
  });
}
void PairBackend::mean_pixels(ConstView x, float reciprocal, View y) {
  run("mean_pixels", {{"y", y}},
      [&](Side& s) { s->mean_pixels(s(x), reciprocal, s(y)); });
}
void PairBackend::mean_pixels_gradient(ConstView dy, float reciprocal,
                                       View dx) {
  run("mean_pixels_gradient", {{"dx", dx}},
      [&](Side& s) { s->mean_pixels_gradient(s(dy), reciprocal, s(dx)); });
}
void PairBackend::normalize(ConstView x, ConstView gamma, ConstView beta,
                            const Normalization& how, View y, View mean,
                            View variance) {
  run("normalize", {{"mean", mean}, {"variance", variance}, {"y", y}},
      [&](Side& s) {
        s->normalize(s(x), s(gamma), s(beta), how, s(y), s(mean), s(variance));
      });
}
void PairBackend::normalize_with(ConstView x, ConstView mean,
                                 ConstView variance, ConstView gamma,
                                 ConstView beta, const Normalization& how,
                                 View y) {
  run("normalize_with", {{"y", y}}, [&](Side& s) {
    s->normalize_with(s(x), s(mean), s(variance), s(gamma), s(beta), how, s(y));
  });
}
void PairBackend::normalize_gradient(ConstView x, ConstView dy, ConstView mean,
                                     ConstView variance, ConstView gamma,
                                     ConstView beta, const Normalization& how,
                                     View dx, View dgamma, View dbeta) {
  run("normalize_gradient", {{"dx", dx}, {"dgamma", dgamma}, {"dbeta", dbeta}},
      [&](Side& s) {
        s->normalize_gradient(s(x), s(dy), s(mean), s(variance), s(gamma),
                              s(beta), how, s(dx), s(dgamma), s(dbeta));
      });
}
void PairBackend::add_bias(View x, ConstView bias) {
  run("add_bias", {{"x", x}}, [&](Side& s) { s->add_bias(s(x), s(bias)); });
}
void PairBackend::sum_rows(ConstView x, View y) {
  run("sum_rows", {{"y", y}}, [&](Side& s) { s->sum_rows(s(x), s(y)); });
}
float PairBackend::sum(ConstView x) {
  return ask("sum", [&](Side& s) { return std::vector<float>{s->sum(s(x))}; })
      .front();
}
void PairBackend::sums_of_squares(std::span<const ConstView> x,
                                  std::span<float> sums) {
  const std::vector<float> found = ask("sums_of_squares", [&](Side& s) {
    std::vector<ConstView> views;
    for (const ConstView& view : x) views.push_back(s(view));
    std::vector<float> values(sums.size());
    s->sums_of_squares(views, values);
    return values;
  });
  std::copy(found.begin(), found.end(), sums.begin());
}
void PairBackend::embedding(ConstView table, Indices ids, View y) {
  run("embedding", {{"y", y}},
      [&](Side& s) { s->embedding(s(table), ids, s(y)); });
}
void PairBackend::embedding_gradient(Indices ids, ConstView dy, View dtable,
                                     Accumulate accumulate) {
  run("embedding_gradient", {{"dtable", dtable}}, [&](Side& s) {
    s->embedding_gradient(ids, s(dy), s(dtable), accumulate);
  });
}
void PairBackend::softmax_cross_entropy(ConstView logits, Indices targets,
                                        float scale, View losses,
                                        View dlogits) {
  run("softmax_cross_entropy", {{"losses", losses}, {"dlogits", dlogits}},
      [&](Side& s) {
        s->softmax_cross_entropy(s(logits), targets, scale, s(losses),
                                 s(dlogits));
      });
}
// A count is below 2^24: a float has it exactly.
std::size_t PairBackend::count_correct(ConstView logits, Indices targets) {
  return static_cast<std::size_t>(
      ask("count_correct", [&](Side& s) {
        return std::vector<float>{
            static_cast<float>(s->count_correct(s(logits), targets))};
      }).front());
}
void PairBackend::map(Function f, ConstView x, View y) {
  run("map", {{"y", y}}, [&](Side& s) { s->map(f, s(x), s(y)); });
}
void PairBackend::map_gradient(Function f, ConstView x, ConstView dy, View dx) {
  run("map_gradient", {{"dx", dx}},
      [&](Side& s) { s->map_gradient(f, s(x), s(dy), s(dx)); });
}
void PairBackend::add(ConstView a, ConstView b, View y) {
  run("add", {{"y", y}}, [&](Side& s) { s->add(s(a), s(b), s(y)); });
}
void PairBackend::subtract(ConstView a, ConstView b, View y) {
  run("subtract", {{"y", y}}, [&](Side& s) { s->subtract(s(a), s(b), s(y)); });
}
void PairBackend::scale(ConstView x, float factor, View y) {
  run("scale", {{"y", y}}, [&](Side& s) { s->scale(s(x), factor, s(y)); });
}
void PairBackend::move_towards(ConstView x, float factor, float rate, View y) {
  run("move_towards", {{"y", y}},
      [&](Side& s) { s->move_towards(s(x), factor, rate, s(y)); });
}
void PairBackend::dropout(ConstView x, const Dropout& how, View y) {
  run("dropout", {{"y", y}}, [&](Side& s) { s->dropout(s(x), how, s(y)); });
}
void PairBackend::sgd(View w, ConstView g, View v, const SgdStep& step) {
  run("sgd", {{"v", v}, {"w", w}},
      [&](Side& s) { s->sgd(s(w), s(g), s(v), step); });
}
void PairBackend::adamw(View w, ConstView g, View m, View v,
                        const AdamWStep& step) {
  run("adamw", {{"m", m}, {"v", v}, {"w", w}},
      [&](Side& s) { s->adamw(s(w), s(g), s(m), s(v), step); });
}
bool PairBackend::all_finite(ConstView x) {
  return ask("all_finite", [&](Side& s) {
           return std::vector<float>{s->all_finite(s(x)) ? 1.0F : 0.0F};
         }).front() != 0.0F;
}

}  // namespace quorate::worker
