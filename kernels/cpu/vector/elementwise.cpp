// Operations on single elements. Compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector/elementwise.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/cpu/vector/elementary-inl.h"
#include "kernels/cpu/vector/kernels.h"
#include "kernels/cpu/vector/random-inl.h"
#include "kernels/cpu/vector/sums-inl.h"

HWY_BEFORE_NAMESPACE();
namespace quorate::HWY_NAMESPACE {
#if HWY_TARGET != HWY_STATIC_TARGET
namespace {

void pixels(const std::uint8_t* x, float* y, std::size_t n) {
  constexpr std::uint32_t kOneOver255 = 0x3b808081;
  const hn::Rebind<std::uint8_t, FloatTag> bytes;
  const std::size_t lanes = hn::Lanes(kF);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    IntVec wide = hn::PromoteTo(kI, hn::LoadU(bytes, x + i));
    hn::StoreU(hn::Mul(hn::ConvertTo(kF, wide), constant(kOneOver255)), kF,
               y + i);
  }
  for (; i < n; ++i) {
    y[i] = static_cast<float>(x[i]) * float_of_bits(kOneOver255);
  }
}

void exp(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](FloatVec v) HWY_ATTR { return canonical_exp(v); });
}
void log(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](FloatVec v) HWY_ATTR { return canonical_log(v); });
}
void tanh(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](FloatVec v) HWY_ATTR { return canonical_tanh(v); });
}
void sigmoid(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](FloatVec v) HWY_ATTR { return canonical_sigmoid(v); });
}
void erf(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](FloatVec v) HWY_ATTR { return canonical_erf(v); });
}
void rsqrt(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](FloatVec v) HWY_ATTR { return canonical_rsqrt(v); });
}
void relu(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](FloatVec v) HWY_ATTR { return canonical_relu(v); });
}
void gelu(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](FloatVec v) HWY_ATTR { return canonical_gelu(v); });
}
void silu(const float* x, float* y, std::size_t n) {
  map(x, y, n, [](FloatVec v) HWY_ATTR { return canonical_silu(v); });
}

void tanh_gradient(const float* x, const float* dy, float* dx, std::size_t n) {
  map(x, dy, dx, n, [](FloatVec v, FloatVec d) HWY_ATTR {
    return canonical_tanh_gradient(v, d);
  });
}
void sigmoid_gradient(const float* x, const float* dy, float* dx,
                      std::size_t n) {
  map(x, dy, dx, n, [](FloatVec v, FloatVec d) HWY_ATTR {
    return canonical_sigmoid_gradient(v, d);
  });
}
void relu_gradient(const float* x, const float* dy, float* dx, std::size_t n) {
  map(x, dy, dx, n, [](FloatVec v, FloatVec d) HWY_ATTR {
    return canonical_relu_gradient(v, d);
  });
}
void gelu_gradient(const float* x, const float* dy, float* dx, std::size_t n) {
  map(x, dy, dx, n, [](FloatVec v, FloatVec d) HWY_ATTR {
    return canonical_gelu_gradient(v, d);
  });
}
void silu_gradient(const float* x, const float* dy, float* dx, std::size_t n) {
  map(x, dy, dx, n, [](FloatVec v, FloatVec d) HWY_ATTR {
    return canonical_silu_gradient(v, d);
  });
}

void add(const float* a, const float* b, float* y, std::size_t n) {
  map(a, b, y, n,
      [](FloatVec u, FloatVec v) HWY_ATTR { return hn::Add(u, v); });
}

void subtract(const float* a, const float* b, float* y, std::size_t n) {
  map(a, b, y, n,
      [](FloatVec u, FloatVec v) HWY_ATTR { return hn::Sub(u, v); });
}

void scale(const float* x, float factor, float* y, std::size_t n) {
  const FloatVec all = hn::Set(kF, factor);
  map(x, y, n, [=](FloatVec v) HWY_ATTR { return hn::Mul(v, all); });
}

void move_towards(const float* x, float factor, float rate, float* y,
                  std::size_t n) {
  const FloatVec factor_all = hn::Set(kF, factor);
  const FloatVec rate_all = hn::Set(kF, rate);
  map(x, y, y, n, [=](FloatVec v, FloatVec old) HWY_ATTR {
    return hn::MulAdd(rate_all, hn::Sub(hn::Mul(v, factor_all), old), old);
  });
}

void dropout(const float* x, const Dropout& how, std::size_t first, float* y,
             std::size_t n) {
  constexpr std::size_t kWords = 4 * hn::MaxLanes(WordTag());
  const WordVec threshold = hn::Set(kW, how.threshold);
  const FloatVec factor = hn::Set(kF, how.scale);
  for (std::size_t i = 0; i < n; i += kWords) {
    HWY_ALIGN std::uint32_t words[kWords];
    philox_words(how.seed, how.stream, how.step, (first + i) / 4, words);
    for_vectors(i, n - i < kWords ? n : i + kWords, [&](auto at) HWY_ATTR {
      const auto is_dropped =
          hn::Lt(hn::LoadU(kW, words + (at.i - i)), threshold);
      at.store(hn::IfThenZeroElse(hn::RebindMask(kF, is_dropped),
                                  hn::Mul(at.load(x), factor)),
               y);
    });
  }
}

// First the velocities, then the weights, in pieces that stay in the cache.
void sgd(float* w, const float* g, float* v, const SgdStep& step,
         std::size_t n) {
  const FloatVec decay = hn::Set(kF, step.weight_decay);
  const FloatVec momentum = hn::Set(kF, step.momentum);
  const FloatVec rate = hn::Set(kF, step.learning_rate);
  constexpr std::size_t kPiece = 1024;
  for (std::size_t i = 0; i < n; i += kPiece) {
    std::size_t count = n - i < kPiece ? n - i : kPiece;
    const float* gradient = g + i;
    float decayed[kPiece];
    if (step.weight_decay != 0.0F) {
      map(w + i, gradient, decayed, count,
          [&](FloatVec a, FloatVec b)
              HWY_ATTR { return hn::MulAdd(decay, a, b); });
      gradient = decayed;
    }
    if (step.momentum == 0.0F) {
      map(gradient, v + i, count, [](FloatVec a) HWY_ATTR { return a; });
    } else {
      map(v + i, gradient, v + i, count, [&](FloatVec a, FloatVec b) HWY_ATTR {
        return hn::MulAdd(momentum, a, b);
      });
    }
    map(v + i, w + i, w + i, count, [&](FloatVec a, FloatVec b) HWY_ATTR {
      return hn::NegMulAdd(rate, a, b);
    });
  }
}

void adamw(float* w, const float* g, float* m, float* v, const AdamWStep& step,
           std::size_t n) {
  const FloatVec rate = hn::Set(kF, step.learning_rate);
  const FloatVec beta1 = hn::Set(kF, step.beta1);
  const FloatVec one_minus_beta1 = hn::Set(kF, step.one_minus_beta1);
  const FloatVec beta2 = hn::Set(kF, step.beta2);
  const FloatVec one_minus_beta2 = hn::Set(kF, step.one_minus_beta2);
  const FloatVec correction1 = hn::Set(kF, step.correction1);
  const FloatVec correction2 = hn::Set(kF, step.correction2);
  const FloatVec epsilon = hn::Set(kF, step.epsilon);
  const FloatVec decay = hn::Set(kF, step.weight_decay);
  for_vectors(0, n, [&](auto at) HWY_ATTR {
    const FloatVec grad = at.load(g);
    const FloatVec weight = at.load(w);
    const FloatVec first =
        hn::MulAdd(beta1, at.load(m), hn::Mul(one_minus_beta1, grad));
    const FloatVec second = hn::MulAdd(
        beta2, at.load(v), hn::Mul(one_minus_beta2, hn::Mul(grad, grad)));
    const FloatVec deviation = hn::Sqrt(hn::Mul(second, correction2));
    const FloatVec u =
        hn::Div(hn::Mul(first, correction1), hn::Add(deviation, epsilon));
    at.store(first, m);
    at.store(second, v);
    at.store(hn::NegMulAdd(rate, hn::MulAdd(decay, weight, u), weight), w);
  });
}

bool all_finite(const float* x, std::size_t n) {
  const IntVec exponent = integer(0x7f800000);
  const std::size_t lanes = hn::Lanes(kF);
  IntVec most = hn::Zero(kI);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    IntVec v = hn::BitCast(kI, hn::LoadU(kF, x + i));
    most = hn::Max(most, hn::And(v, exponent));
  }
  return hn::AllTrue(kI, hn::Lt(most, exponent)) &&
         quorate::all_finite({x + i, n - i});
}

constexpr ElementwiseKernels kTable = {
    pixels,
    {exp, log, tanh, sigmoid, erf, rsqrt, relu, gelu, silu},
    {nullptr, nullptr, tanh_gradient, sigmoid_gradient, nullptr, nullptr,
     relu_gradient, gelu_gradient, silu_gradient},
    add,
    subtract,
    scale,
    move_towards,
    dropout,
    sgd,
    adamw,
    all_finite};

}  // namespace

const ElementwiseKernels& elementwise_table() {
  return kTable;
}

#endif  // HWY_STATIC_TARGET
}  // namespace quorate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quorate {

const ElementwiseKernels& elementwise_kernels(InstructionSet set) {
  return set == InstructionSet::avx512 ? N_AVX3::elementwise_table()
                                       : N_AVX2::elementwise_table();
}

}  // namespace quorate
#endif
