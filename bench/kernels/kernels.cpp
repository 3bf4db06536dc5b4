// Measures products and convolutions beside other libraries, in turns, so that
// what else the machine does hits all of them. One line of JSON per case and
// peer; "devices" first. Used by kernels_bench.py.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/random.h"
#include "bench/kernels/peers.h"
#include "kernels/devices/backends.h"
#include "kernels/host_memory.h"

namespace quorate::bench {
namespace {

struct Options {
  std::string device = "cpu";
  unsigned threads = 1;
  int rounds = 9;
  double milliseconds = 12;  // of one measurement
  std::string only;          // cases whose name contains it
};

struct Contender {
  std::string name;
  Work work;
  int repeats = 1;
  std::vector<double> seconds{};  // of one call, in each round
};

// One thread is measured by its processor time: then other programs take turns
// without being counted.
double now(const Options& options) {
  timespec time{};
  clock_gettime(
      options.threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) +
         1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_of(const Work& work, int repeats, const Options& options) {
  double began = now(options);
  for (int i = 0; i < repeats; ++i) work();
  return (now(options) - began) / repeats;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Fills `seconds` of all, in turns.
void measure(std::vector<Contender>& all, const Options& options) {
  for (Contender& one : all) {
    one.work();
    double once = seconds_of(one.work, 1, options);
    one.repeats = std::clamp(
        static_cast<int>(options.milliseconds / 1e3 / once), 1, 1000);
  }
  for (int round = 0; round < options.rounds; ++round) {
    for (Contender& one : all) {
      one.seconds.push_back(seconds_of(one.work, one.repeats, options));
    }
  }
}

// all[0] is ours.
void report(const std::string& group, const std::string& name, double flops,
            std::vector<Contender> all, const Options& options) {
  measure(all, options);
  for (std::size_t i = 1; i < all.size(); ++i) {
    std::vector<double> ratios;
    for (int round = 0; round < options.rounds; ++round) {
      auto at = static_cast<std::size_t>(round);
      ratios.push_back(all[i].seconds[at] / all[0].seconds[at]);
    }
    fmt::print(R"({{"group":"{}","case":"{}","threads":{},"ours":{:.2f},)"
               R"("peer":"{}","peer_value":{:.2f},"ratio":{:.3f},)"
               R"("unit":"Gflop/s"}})"
               "\n",
               group, name, options.threads,
               flops / median(all[0].seconds) / 1e9, all[i].name,
               flops / median(all[i].seconds) / 1e9, median(ratios));
  }
  std::fflush(stdout);
}

// An array of the backend with values in [-1, 1).
Tensor random(Backend& backend, const Shape& shape) {
  RandomStream words(1, 0, 0);
  std::vector<float> values(shape.count());
  for (float& value : values) value = uniform11(words.next());
  Tensor tensor = backend.tensor(shape);
  backend.upload(tensor.view(), values);
  return tensor;
}

std::size_t size(int value) {
  return static_cast<std::size_t>(value);
}

void bench_product(Backend& backend, const ProductCase& n,
                   const Options& options) {
  bool at = n.a == Transpose::yes;
  bool bt = n.b == Transpose::yes;
  std::size_t rows = size(n.m), cols = size(n.n), depth = size(n.k);
  Tensor a = random(backend, at ? Shape{depth, rows} : Shape{rows, depth});
  Tensor b = random(backend, bt ? Shape{cols, depth} : Shape{depth, cols});
  Tensor c = random(backend, {rows, cols});
  Operands on{host_data(a.view()), host_data(b.view()), host_data(c.view())};
  report("products", n.name(), n.flops(),
         {{"ours",
           [&] { backend.matmul(a.view(), n.a, b.view(), n.b, c.view()); }},
          {"OpenBLAS", openblas_product(n, on)},
          {"oneDNN", onednn_product(n, on)},
          {"Eigen", eigen_product(n, on)}},
         options);
}

void bench_layer(Backend& backend, const LayerCase& n, Pass pass,
                 const Options& options) {
  std::size_t images = size(n.images), kernel = size(n.kernel);
  std::size_t in = size(n.size), out = size(n.out_size());
  Tensor x = random(backend, {images, in, in, size(n.in)});
  Tensor w =
      random(backend, {kernel, kernel, size(n.in / n.groups), size(n.out)});
  Tensor y = random(backend, {images, out, out, size(n.out)});
  Convolution how{size(n.stride), size(n.padding()), size(n.groups)};
  Work ours = [&] {
    switch (pass) {
      case Pass::forward:
        return backend.conv2d(x.view(), w.view(), how, y.view());
      case Pass::data:
        return backend.conv2d_input_gradient(y.view(), w.view(), how, x.view());
      case Pass::weight:
        return backend.conv2d_weight_gradient(x.view(), y.view(), how,
                                              w.view());
    }
  };
  report(fmt::format("{}, {}", n.group, name_of(pass)),
         fmt::format("{} {}", n.name(), name_of(pass)), n.flops(),
         {{"ours", ours}, {"oneDNN", onednn_layer(n, pass)}}, options);
}

void bench_all(const Options& options) {
  auto backend = make_backend(options.device, options.threads);
  int threads = static_cast<int>(options.threads);
  fmt::print(R"({{"devices":["{}","{}","{}","{}"]}})"
             "\n",
             backend->device().name, openblas_name(threads),
             onednn_name(threads), eigen_name(threads));
  auto is_wanted = [&](const std::string& name) {
    return name.find(options.only) != std::string::npos;
  };
  for (const ProductCase& n : product_cases()) {
    if (is_wanted("product " + n.name())) bench_product(*backend, n, options);
  }
  for (const LayerCase& n : layer_cases()) {
    for (Pass pass : kPasses) {
      if (!is_wanted(std::string(n.group) + " " + n.name() + " " +
                     name_of(pass))) {
        continue;
      }
      bench_layer(*backend, n, pass, options);
    }
  }
}

}  // namespace
}  // namespace quorate::bench

int main(int argc, char** argv) {
  quorate::bench::Options options;
  CLI::App app("Products and convolutions beside other libraries.");
  app.add_option("--device", options.device, "of ours");
  app.add_option("--threads", options.threads);
  app.add_option("--rounds", options.rounds);
  app.add_option("--only", options.only, "cases whose name contains it");
  CLI11_PARSE(app, argc, argv);
  quorate::bench::bench_all(options);
}
