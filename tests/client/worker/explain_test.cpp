#include "client/worker/checks/explain.h"

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "kernels/devices/backends.h"
#include "tests/client/worker/unit_files.h"
#include "tests/support/forwarding_backend.h"

namespace quorate::worker {
namespace {

// Flips the lowest bit of an element of the nth step of the optimiser.
class FaultyBackend final : public test::ForwardingBackend {
 public:
  explicit FaultyBackend(int nth)
      : ForwardingBackend(make_backend("reference")), left_(nth) {}

  void sgd(View w, ConstView g, View v, const SgdStep& step) override {
    ForwardingBackend::sgd(w, g, v, step);
    if (--left_ != 0) return;
    std::vector<float> values(w.shape.count());
    to().download(w, values);
    values.at(5) = float_of_bits(bits(values.at(5)) ^ 1);
    to().upload(w, values);
  }

 private:
  int left_;
};

Explanation explained(const UnitFiles& files, std::unique_ptr<Backend> other) {
  PairBackend pair(make_backend("reference"), std::move(other));
  return explain({files.folder() / "unit", files.folder() / "snapshot",
                  files.folder() / "shard"},
                 pair);
}

}  // namespace

TEST_CASE("equal devices show no difference") {
  const UnitFiles files;
  const Explanation found = explained(files, make_backend("cpu"));
  CHECK_FALSE(found.difference);
  CHECK(found.steps == 12);
  CHECK(found.operations > 12 * 5);
  CHECK(text_of(found).find("no difference: 12 steps") == 0);
}

TEST_CASE("the first operation that differs is named") {
  const UnitFiles files;
  const Explanation found =
      explained(files, std::make_unique<FaultyBackend>(7));
  REQUIRE(found.difference);
  CHECK(found.steps == 7);
  CHECK(found.difference->operation == "sgd");
  CHECK(found.difference->output == "w");
  CHECK(found.difference->element == 5);
  CHECK((bits(found.difference->first) ^ bits(found.difference->second)) == 1);
  CAPTURE(text_of(found));
  CHECK(text_of(found).find("step 7, operation ") == 0);
  CHECK(text_of(found).find(" sgd: w[5] is ") != std::string::npos);
}

TEST_CASE("files that are not those of the unit are refused") {
  const UnitFiles files;
  const UnitFiles other({.hidden = 8});
  PairBackend pair(make_backend("reference"), make_backend("reference"));
  CHECK_THROWS_AS(explain({files.folder() / "unit", other.folder() / "snapshot",
                           files.folder() / "shard"},
                          pair),
                  Error);
  write_file_durably(files.folder() / "unit", as_bytes("short"));
  CHECK_THROWS_AS(explain({files.folder() / "unit", files.folder() / "snapshot",
                           files.folder() / "shard"},
                          pair),
                  Error);
}

}  // namespace quorate::worker
