#include "kernels/float_environment.h"

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "kernels/devices/backends.h"
#include "tests/kernels/inputs.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace quorate {
namespace {

// Flushes subnormals and rounds down, as a careless library might leave it.
class SpoiledMode {
 public:
  SpoiledMode() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80 | kSpoiled); }
  ~SpoiledMode() { _mm_setcsr(saved_); }
  static constexpr unsigned kSpoiled = 0x8000 | 0x2000 | 0x0040;

 private:
  unsigned saved_;
};

}  // namespace

TEST_CASE("the canonical mode is set, and the old one comes back") {
  SpoiledMode spoiled;
  {
    CanonicalFloatMode mode;
    CHECK((_mm_getcsr() & 0xffc0) == 0x1f80);
  }
  CHECK((_mm_getcsr() & SpoiledMode::kSpoiled) == SpoiledMode::kSpoiled);
}

TEST_CASE("a spoiled mode of the caller changes no result") {
  auto compute = [](const test::DeviceCase& device) {
    auto backend = make_backend(device.device, device.threads);
    test::Run run(*backend);
    constexpr std::size_t kSide = 130;
    constexpr std::size_t kCount = kSide * kSide;
    auto kind = test::InputKind::subnormal;
    View a = run.put({kSide, kSide}, test::inputs(kind, kCount, 1));
    View b = run.put({kSide, kSide},
                     test::inputs(test::InputKind::uniform, kCount, 2));
    View c = run.put({kSide, kSide}, std::vector<float>(kCount));
    View losses = run.put({kSide}, std::vector<float>(kSide));
    std::vector<std::uint32_t> targets(kSide, 5);
    backend->matmul(a, Transpose::no, b, Transpose::no, c);
    backend->subtract(c, b, c);
    backend->softmax_cross_entropy(c, targets, 1e-30F, losses, b);
    std::vector<float> all = run.get(c);
    for (ConstView view : {ConstView(a), ConstView(b), ConstView(losses)}) {
      std::vector<float> part = run.get(view);
      all.insert(all.end(), part.begin(), part.end());
    }
    all.push_back(backend->sum(a));
    return all;
  };
  for (const test::DeviceCase& device : test::all_devices()) {
    CAPTURE(device.device);
    std::vector<float> expected = compute(device);
    std::vector<float> found;
    {
      SpoiledMode spoiled;
      found = compute(device);
    }
    CHECK(test::first_difference(expected, found) == "");
  }
}

}  // namespace quorate

#endif
