#include <cstring>
#include <unordered_map>

#include <fmt/format.h>

#include "bench/kernels/peers.h"

#include <omp.h>
#include <oneapi/dnnl/dnnl.hpp>

namespace quorate::bench {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

dnnl::engine& engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

dnnl::stream& stream() {
  static dnnl::stream stream(engine());
  return stream;
}

memory::desc array(const memory::dims& dims, Tag tag) {
  return {dims, memory::data_type::f32, tag};
}

// Filled with ones: zeros might be treated as special.
memory filled(const memory::desc& desc) {
  memory made(desc, engine());
  auto* data = static_cast<float*>(made.get_data_handle());
  for (std::size_t i = 0; i < desc.get_size() / sizeof(float); ++i) {
    data[i] = 1.0F;
  }
  return made;
}

Work execute(const dnnl::primitive& primitive,
             const std::unordered_map<int, memory>& arguments) {
  return [=] {
    primitive.execute(stream(), arguments);
    stream().wait();
  };
}

struct Layer {
  memory::desc x, w, y;
  memory::dims strides, padding;

  explicit Layer(const LayerCase& n)
      : x(array({n.images, n.in, n.size, n.size}, Tag::any)),
        w(n.groups == 1 ? array({n.out, n.in, n.kernel, n.kernel}, Tag::any)
                        : array({n.groups, n.out / n.groups, n.in / n.groups,
                                 n.kernel, n.kernel},
                                Tag::any)),
        y(array({n.images, n.out, n.out_size(), n.out_size()}, Tag::any)),
        strides{n.stride, n.stride},
        padding{n.padding(), n.padding()} {}

  dnnl::convolution_forward::primitive_desc forward() const {
    return {
        {dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct,
         x, w, y, strides, padding, padding},
        engine()};
  }
};

Work forward(const Layer& layer) {
  auto desc = layer.forward();
  return execute(dnnl::convolution_forward(desc),
                 {{DNNL_ARG_SRC, filled(desc.src_desc())},
                  {DNNL_ARG_WEIGHTS, filled(desc.weights_desc())},
                  {DNNL_ARG_DST, filled(desc.dst_desc())}});
}

Work data_gradient(const Layer& layer) {
  dnnl::convolution_backward_data::primitive_desc desc(
      {dnnl::algorithm::convolution_direct, layer.x, layer.w, layer.y,
       layer.strides, layer.padding, layer.padding},
      engine(), layer.forward());
  return execute(dnnl::convolution_backward_data(desc),
                 {{DNNL_ARG_DIFF_SRC, filled(desc.diff_src_desc())},
                  {DNNL_ARG_WEIGHTS, filled(desc.weights_desc())},
                  {DNNL_ARG_DIFF_DST, filled(desc.diff_dst_desc())}});
}

Work weight_gradient(const Layer& layer) {
  dnnl::convolution_backward_weights::primitive_desc desc(
      {dnnl::algorithm::convolution_direct, layer.x, layer.w, layer.y,
       layer.strides, layer.padding, layer.padding},
      engine(), layer.forward());
  return execute(dnnl::convolution_backward_weights(desc),
                 {{DNNL_ARG_SRC, filled(desc.src_desc())},
                  {DNNL_ARG_DIFF_WEIGHTS, filled(desc.diff_weights_desc())},
                  {DNNL_ARG_DIFF_DST, filled(desc.diff_dst_desc())}});
}

const char* name_of(dnnl::cpu_isa isa) {
  switch (isa) {
    case dnnl::cpu_isa::avx2:
      return "AVX2";
    case dnnl::cpu_isa::avx512_core:
      return "AVX-512";
    default:
      return "a later AVX-512 (fp32)";
  }
}

}  // namespace

std::string onednn_name(int threads) {
  omp_set_num_threads(threads);
  dnnl::set_default_fpmath_mode(dnnl::fpmath_mode::strict);
  const auto* version = dnnl::version();
  return fmt::format("oneDNN {}.{}.{} {}", version->major, version->minor,
                     version->patch, name_of(dnnl::get_effective_cpu_isa()));
}

Work onednn_product(const ProductCase& n, const Operands& on) {
  bool at = n.a == Transpose::yes;
  bool bt = n.b == Transpose::yes;
  return [=] {
    dnnl::sgemm(at ? 'T' : 'N', bt ? 'T' : 'N', n.m, n.n, n.k, 1.0F, on.a,
                at ? n.m : n.k, on.b, bt ? n.k : n.n, 0.0F, on.c, n.n);
  };
}

Work onednn_layer(const LayerCase& n, Pass pass) {
  Layer layer(n);
  switch (pass) {
    case Pass::forward:
      return forward(layer);
    case Pass::data:
      return data_gradient(layer);
    case Pass::weight:
      return weight_gradient(layer);
  }
  return {};
}

}  // namespace quorate::bench
