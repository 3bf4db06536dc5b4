#include "kernels/golden.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/random.h"

namespace quorate {
namespace {

// Of the arrays below; the first digits of pi, as in Philox's known answers.
constexpr std::uint64_t kKey = 0x85a308d3243f6a88;

// FNV-1a over the bytes that are hashed: little-endian, NaN canonical.
std::uint64_t fnv1a(std::span<const float> values) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (float value : values) {
    std::uint32_t word = canonical_bits(value);
    for (int i = 0; i < 4; ++i) {
      hash = (hash ^ (word >> (8 * i) & 0xff)) * 0x100000001b3;
    }
  }
  return hash;
}

// factor: a power of two.
Tensor uniform_tensor(Backend& backend, Shape shape, std::uint32_t stream,
                      float factor = 1.0F) {
  RandomStream words(kKey, stream, 0);
  std::vector<float> values(shape.count());
  for (float& value : values) value = uniform11(words.next()) * factor;
  Tensor tensor = backend.tensor(shape);
  backend.upload(tensor.view(), values);
  return tensor;
}

std::uint64_t hash_of(Backend& backend, ConstView view) {
  std::vector<float> values(view.shape.count());
  backend.download(view, values);
  return fnv1a(values);
}

// A function of one argument, over bit patterns 65537 apart.
std::uint64_t function_hash(Backend& backend, Function f) {
  constexpr std::uint32_t kCount = 65536;
  std::vector<float> values(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    values[i] = float_of_bits(i * 65537);
  }
  Tensor x = backend.tensor({kCount});
  Tensor y = backend.tensor({kCount});
  backend.upload(x.view(), values);
  backend.map(f, x.view(), y.view());
  return hash_of(backend, y.view());
}

std::uint64_t product_hash(Backend& backend, Transpose transpose_a,
                           Transpose transpose_b) {
  constexpr std::size_t kM = 33;
  constexpr std::size_t kN = 100;
  constexpr std::size_t kK = 1000;
  bool at = transpose_a == Transpose::yes;
  bool bt = transpose_b == Transpose::yes;
  Tensor a = uniform_tensor(backend, at ? Shape{kK, kM} : Shape{kM, kK}, 1);
  Tensor b = uniform_tensor(backend, bt ? Shape{kN, kK} : Shape{kK, kN}, 2);
  Tensor c = backend.tensor({kM, kN});
  backend.matmul(a.view(), transpose_a, b.view(), transpose_b, c.view());
  return hash_of(backend, c.view());
}

// Of values whose products are too small for a number: all that is left is the
// sign of the last one, unless a zero is multiplied after it.
constexpr float kVanishing = 0x1p-80F;

std::uint64_t vanishing_product_hash(Backend& backend) {
  Tensor a = uniform_tensor(backend, {19, 261}, 1, kVanishing);
  Tensor b = uniform_tensor(backend, {261, 35}, 2, kVanishing);
  Tensor c = backend.tensor({19, 35});
  backend.matmul(a.view(), Transpose::no, b.view(), Transpose::no, c.view());
  return hash_of(backend, c.view());
}

std::uint64_t vanishing_convolution_hash(Backend& backend) {
  Tensor x = uniform_tensor(backend, {1, 6, 7, 3}, 5, kVanishing);
  Tensor w = uniform_tensor(backend, {3, 3, 3, 5}, 6, kVanishing);
  Tensor y = backend.tensor({1, 6, 7, 5});
  backend.conv2d(x.view(), w.view(), {.padding = 1}, y.view());
  return hash_of(backend, y.view());
}

std::uint64_t sum_rows_hash(Backend& backend) {
  Tensor x = uniform_tensor(backend, {1000, 70}, 4);
  Tensor y = backend.tensor({70});
  backend.sum_rows(x.view(), y.view());
  return hash_of(backend, y.view());
}

// The three passes of a convolution with sums of more than one segment.
struct ConvolutionHashes {
  std::uint64_t forward, input_gradient, weight_gradient;
};

ConvolutionHashes convolution_hashes(Backend& backend) {
  const Shape images{2, 13, 11, 11};
  const Shape weights{5, 5, 11, 7};
  const Shape outputs{2, 13, 11, 7};
  const Convolution how{.padding = 2};
  Tensor x = uniform_tensor(backend, images, 5);
  Tensor w = uniform_tensor(backend, weights, 6);
  Tensor dy = uniform_tensor(backend, outputs, 7);
  Tensor y = backend.tensor(outputs);
  Tensor dx = backend.tensor(images);
  Tensor dw = backend.tensor(weights);
  backend.conv2d(x.view(), w.view(), how, y.view());
  backend.conv2d_input_gradient(dy.view(), w.view(), how, dx.view());
  backend.conv2d_weight_gradient(x.view(), dy.view(), how, dw.view());
  return {hash_of(backend, y.view()), hash_of(backend, dx.view()),
          hash_of(backend, dw.view())};
}

// Each pixel sees the taps that its place in the stride allows.
std::uint64_t strided_convolution_hash(Backend& backend) {
  Tensor dy = uniform_tensor(backend, {2, 6, 5, 10}, 7);
  Tensor w = uniform_tensor(backend, {3, 3, 4, 10}, 6);
  Tensor dx = backend.tensor({2, 11, 10, 8});
  backend.conv2d_input_gradient(dy.view(), w.view(), {2, 1, 2}, dx.view());
  return hash_of(backend, dx.view());
}

std::uint64_t pooling_hash(Backend& backend) {
  Tensor x = uniform_tensor(backend, {2, 13, 11, 11}, 5);
  Tensor dy = uniform_tensor(backend, {2, 6, 5, 11}, 8);
  Tensor dx = backend.tensor(x.shape());
  backend.max_pool2d_gradient(x.view(), dy.view(), {}, dx.view());
  return hash_of(backend, dx.view());
}

std::uint64_t average_pooling_hash(Backend& backend) {
  Tensor x = uniform_tensor(backend, {2, 13, 11, 11}, 5);
  Tensor y = backend.tensor({2, 7, 6, 11});
  backend.average_pool2d(x.view(), {3, 2, 1}, 0x1.c71c72p-4F, y.view());
  return hash_of(backend, y.view());
}

// Group norm with relu: of more than one segment of pixels.
struct NormalizationHashes {
  std::uint64_t forward, input_gradient, gamma_gradient;
};

NormalizationHashes normalization_hashes(Backend& backend) {
  const Shape images{3, 130, 24};
  const Normalization how{4, 0x1.4f8b58p-17F, true};
  Tensor x = uniform_tensor(backend, images, 9);
  Tensor dy = uniform_tensor(backend, images, 10);
  Tensor gamma = uniform_tensor(backend, {24}, 11);
  Tensor beta = uniform_tensor(backend, {24}, 12);
  Tensor y = backend.tensor(images);
  Tensor mean = backend.tensor({3, 4});
  Tensor variance = backend.tensor({3, 4});
  Tensor dgamma = backend.tensor({24});
  Tensor dbeta = backend.tensor({24});
  backend.normalize(x.view(), gamma.view(), beta.view(), how, y.view(),
                    mean.view(), variance.view());
  backend.normalize_gradient(x.view(), dy.view(), mean.view(), variance.view(),
                             gamma.view(), beta.view(), how, dy.view(),
                             dgamma.view(), dbeta.view());
  return {hash_of(backend, y.view()), hash_of(backend, dy.view()),
          hash_of(backend, dgamma.view())};
}

std::uint64_t layer_norm_hash(Backend& backend) {
  Tensor x = uniform_tensor(backend, {5, 1, 1100}, 9);
  Tensor gamma = uniform_tensor(backend, {1100}, 11);
  Tensor beta = uniform_tensor(backend, {1100}, 12);
  Tensor y = backend.tensor(x.shape());
  Tensor statistics = backend.tensor({2, 5});
  backend.normalize(x.view(), gamma.view(), beta.view(),
                    {1, 0x1.4f8b58p-17F, false}, y.view(),
                    statistics.view().part(0, {5, 1}),
                    statistics.view().part(5, {5, 1}));
  return hash_of(backend, y.view());
}

struct AttentionHashes {
  std::uint64_t forward, gradient;
};

AttentionHashes attention_hashes(Backend& backend) {
  constexpr std::size_t kHeads = 2;
  constexpr std::size_t kLength = 130;
  Tensor qkv = uniform_tensor(backend, {1, kLength, 3 * 34}, 13);
  Tensor dy = uniform_tensor(backend, {1, kLength, 34}, 14);
  Tensor weights = backend.tensor({1, kHeads, kLength, kLength});
  Tensor y = backend.tensor(dy.shape());
  Tensor dqkv = backend.tensor(qkv.shape());
  backend.attention(qkv.view(), kHeads, 0.25F, weights.view(), y.view());
  backend.attention_gradient(qkv.view(), weights.view(), dy.view(), kHeads,
                             0.25F, dqkv.view());
  return {hash_of(backend, y.view()), hash_of(backend, dqkv.view())};
}

std::uint64_t cross_entropy_hash(Backend& backend) {
  constexpr std::uint32_t kRows = 9;
  Tensor x = uniform_tensor(backend, {kRows, 1100}, 19);
  Tensor all = backend.tensor({kRows, 1101});
  View losses = all.view().part(0, {kRows});
  View slopes = all.view().part(kRows, x.shape());
  std::vector<std::uint32_t> targets;
  for (std::uint32_t i = 0; i < kRows; ++i) targets.push_back(i * 137);
  backend.softmax_cross_entropy(x.view(), targets, 0.125F, losses, slopes);
  return hash_of(backend, all.view());
}

std::uint64_t dropout_hash(Backend& backend) {
  Tensor x = uniform_tensor(backend, {1003}, 3);
  backend.dropout(x.view(), {kKey, 1 << 16, 7, 0x30000000, 1.25F}, x.view());
  return hash_of(backend, x.view());
}

// Row 3 of the table is used by more than one chain.
std::uint64_t embedding_gradient_hash(Backend& backend) {
  Tensor dy = uniform_tensor(backend, {200, 19}, 15);
  Tensor table = uniform_tensor(backend, {8, 19}, 16);
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 200; ++i) ids.push_back(i % 2 == 0 ? 3 : i % 7);
  backend.embedding_gradient(ids, dy.view(), table.view(), Accumulate::yes);
  return hash_of(backend, table.view());
}

// Two steps.
std::uint64_t adamw_hash(Backend& backend) {
  AdamWStep step{.learning_rate = 0.01F,
                 .beta1 = 0.9F,
                 .one_minus_beta1 = 0.1F,
                 .beta2 = 0.99F,
                 .one_minus_beta2 = 0.01F,
                 .correction1 = 10.0F,
                 .correction2 = 100.0F,
                 .epsilon = 0x1p-27F,
                 .weight_decay = 0.01F};
  Tensor w = uniform_tensor(backend, {1003}, 17);
  Tensor g = uniform_tensor(backend, {1003}, 18);
  Tensor m = backend.tensor({1003});
  Tensor v = backend.tensor({1003});
  backend.adamw(w.view(), g.view(), m.view(), v.view(), step);
  backend.adamw(w.view(), g.view(), m.view(), v.view(), step);
  return hash_of(backend, w.view());
}

std::uint64_t moving_average_hash(Backend& backend) {
  Tensor x = uniform_tensor(backend, {1003}, 17);
  Tensor y = uniform_tensor(backend, {1003}, 18);
  backend.move_towards(x.view(), 0x1.19999ap+0F, 0.1F, y.view());
  return hash_of(backend, y.view());
}

float sum_of_squares(Backend& backend, const Tensor& x) {
  const ConstView views[] = {x.view()};
  float sums[1];
  backend.sums_of_squares(views, sums);
  return sums[0];
}

}  // namespace

std::vector<GoldenResult> golden_results(Backend& backend) {
  using enum Transpose;
  ConvolutionHashes convolution = convolution_hashes(backend);
  NormalizationHashes normalization = normalization_hashes(backend);
  AttentionHashes attention = attention_hashes(backend);
  Tensor summed = uniform_tensor(backend, {100003}, 3);
  return {
      {"exp", 0xe479d2bbb12c35ac, function_hash(backend, Function::exp)},
      {"log", 0x44a8006bc5ec078a, function_hash(backend, Function::log)},
      {"tanh", 0x5ca48efc9e15a574, function_hash(backend, Function::tanh)},
      {"sigmoid", 0x7da94cb4b69040bf,
       function_hash(backend, Function::sigmoid)},
      {"erf", 0x951aa307ec6980cc, function_hash(backend, Function::erf)},
      {"rsqrt", 0x3d6ec720ab3e20f5, function_hash(backend, Function::rsqrt)},
      {"gelu", 0x34e062d0ce88b2cb, function_hash(backend, Function::gelu)},
      {"A B", 0x01484c8390d86264, product_hash(backend, no, no)},
      {"A^T B", 0x6582a4f8674576c1, product_hash(backend, yes, no)},
      {"A B^T", 0x8b498bc51f647ad4, product_hash(backend, no, yes)},
      {"A B, vanishing", 0x5312979234bf6475, vanishing_product_hash(backend)},
      {"sum R1", bits(0x1.2f8154p+7F), bits(backend.sum(summed.view()))},
      {"sum R2", 0xc7507eedd06402e4, sum_rows_hash(backend)},
      {"convolution", 0xcc045e3ec6bb2323, convolution.forward},
      {"convolution, dx", 0x76e8414528249da2, convolution.input_gradient},
      {"convolution, dw", 0xe1276c4d4fa08b13, convolution.weight_gradient},
      {"convolution, stride 2, dx", 0x9214b0f7cb7cafe3,
       strided_convolution_hash(backend)},
      {"convolution, vanishing", 0xb9c750d34f3d9745,
       vanishing_convolution_hash(backend)},
      {"max pooling, dx", 0xdc56361b42303cef, pooling_hash(backend)},
      {"average pooling", 0x653496e4b6538e84, average_pooling_hash(backend)},
      {"dot R1", bits(0x1.043aaap+15F), bits(sum_of_squares(backend, summed))},
      {"group norm", 0x251bb02f600e446e, normalization.forward},
      {"group norm, dx", 0xd454a017074d512b, normalization.input_gradient},
      {"group norm, dgamma", 0xf80f23a1f56a1ff0, normalization.gamma_gradient},
      {"layer norm", 0x0ac61bbe42eb3604, layer_norm_hash(backend)},
      {"cross-entropy", 0x5d575c4ce57bd40d, cross_entropy_hash(backend)},
      {"attention", 0x3491158f4071076a, attention.forward},
      {"attention, dqkv", 0xf627faeb865e5ba4, attention.gradient},
      {"dropout", 0x00e00921b18e88cc, dropout_hash(backend)},
      {"embedding, dtable", 0xfa6957c0f5a2c6f1,
       embedding_gradient_hash(backend)},
      {"moving average", 0x57be2c7a95f814db, moving_average_hash(backend)},
      {"adamw", 0x554ae6aceaef6ae3, adamw_hash(backend)},
  };
}

void check_golden(Backend& backend) {
  for (const GoldenResult& result : golden_results(backend)) {
    if (result.found == result.expected) continue;
    throw Error(
        ErrorKind::unsupported,
        fmt::format("self-test of device \"{}\": {}: expected {:016x}, found "
                    "{:016x}; this device does not compute exactly and must "
                    "not take part; check its driver, or use another device",
                    backend.device().name, result.name, result.expected,
                    result.found));
  }
}

}  // namespace quorate
