// How fast a rule's step moves its arrays through memory, beside a STREAM triad
// on as many threads in the same minute; a JSON object of bytes a second.
// Usage: bench-assimilator --list
//        bench-assimilator CASE PARAMETERS FOLDER, where the updates' files go
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/element_loop.h"
#include "base/file.h"
#include "validator/model_state.h"
#include "validator/update_rules/update_rule.h"

namespace {

using namespace quorate;

// Arrays that a rule must move to take in the results of a cycle: one result if
// it takes them one by one, `buffer` or `delay` of them if it collects, all of
// a round. An array counts once if it is read and once if it is written,
// however often that is done. W and the published average are read and written
// (4, kModel), each result's delta is read; the rest is said below.
struct Case {
  const char* name;
  const char* rule;
  const char* settings;
  int results;  // of a cycle
  int moved;    // arrays that these move
  int touched;  // arrays, each once
};
constexpr int kModel = 4;
constexpr Case kCases[] = {
    // the base of the result
    {"vc-asgd", "vc-asgd", "", 1, kModel + 2, 4},
    {"fedasync", "fedasync", "", 1, kModel + 2, 4},
    {"dc-asgd", "dc-asgd", "", 1, kModel + 2, 4},
    // ... and the mean square, read and written
    {"dc-asgd-adaptive", "dc-asgd-adaptive", "", 1, kModel + 4, 5},
    // nothing
    {"delta-asgd", "delta-asgd", "", 1, kModel + 1, 3},
    {"downpour", "downpour", "", 1, kModel + 1, 3},
    // with each result the sum, read and written; the model with one of ten
    {"fedbuff", "fedbuff", "", 10, kModel + 10 * 3, 4},
    // with each the model, the buffer read and written, the momentum read; the
    // momentum is written with one of ten
    {"delayed-nesterov", "delayed-nesterov", "", 10, 10 * (kModel + 4) + 1, 5},
    // a replica, read and written
    {"easgd", "easgd", R"({"replicas": 2})", 1, kModel + 3, 4},
    {"eamsgd", "eamsgd", R"({"replicas": 2})", 1, kModel + 3, 4},
    // two replicas, read and written; with "pull" the other is only read
    {"gossip pull", "gossip", R"({"replicas": 2})", 1, kModel + 4, 5},
    {"gossip push", "gossip", R"({"replicas": 2, "exchange": "push"})", 1,
     kModel + 5, 5},
    {"gossip push-sum", "gossip", R"({"replicas": 2, "exchange": "push-sum"})",
     1, kModel + 5, 5},
    // nothing; the momentum, read and written
    {"sync", "sync", "", 8, kModel + 8, 10},
    {"local-sgd", "local-sgd", "", 8, kModel + 8, 10},
    {"diloco", "diloco", "", 8, kModel + 8 + 2, 11},
};

// A sample: long enough that the clock and the start of the triad's threads do
// not show; and as STREAM does, the best of several counts, so that what other
// programs take does not. Fewer of large models.
constexpr double kLeastSeconds = 0.02;
constexpr int kMostSamples = 15;
constexpr int kLeastSamples = 4;
constexpr double kEnoughSeconds = 3;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
      .count();
}

float value_at(std::size_t i) {
  return static_cast<float>(i % 1021) * 1e-6F;
}

std::vector<float> some_values(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = value_at(i);
  return values;
}

// STREAM's triad, a = b + s c. A thread has its own part and waits for nobody.
class Triad {
 public:
  Triad(std::size_t elements, std::size_t threads)
      : threads_(threads),
        a_(elements),
        b_(some_values(elements)),
        c_(some_values(elements)) {}

  using Part = void (*)(float* a, const float* b, const float* c,
                        std::size_t count);

  // Bytes a second, as STREAM counts them: three arrays.
  double bandwidth(Part part) {
    const std::size_t each = a_.size() / threads_;
    for (std::size_t times = 1;; times *= 2) {
      const double seconds = seconds_of([&] { run(part, each, times); });
      if (seconds < kLeastSeconds) continue;
      return static_cast<double>(times * threads_ * each * 3 * sizeof(float)) /
             seconds;
    }
  }

  // As a compiler writes it: what is overwritten is read before.
  static void plain(float* a, const float* b, const float* c,
                    std::size_t count) {
    for_each_element(count, [=](std::size_t i) { a[i] = b[i] + 3.0F * c[i]; });
  }

  // With stores that bypass the caches.
#if defined(__x86_64__)
  [[gnu::target("avx2")]] static void streaming(float* a, const float* b,
                                                const float* c,
                                                std::size_t count) {
    std::size_t i = 0;
    while (i < count && reinterpret_cast<std::uintptr_t>(a + i) % 32 != 0) ++i;
    const __m256 s = _mm256_set1_ps(3.0F);
    for (; i + 8 <= count; i += 8) {
      const __m256 product = _mm256_mul_ps(s, _mm256_loadu_ps(c + i));
      _mm256_stream_ps(a + i, _mm256_add_ps(_mm256_loadu_ps(b + i), product));
    }
    _mm_sfence();
  }
#else
  static constexpr Part streaming = plain;
#endif

 private:
  void run(Part part, std::size_t each, std::size_t times) {
    std::vector<std::jthread> running;
    for (std::size_t first = 0; running.size() < threads_; first += each) {
      running.emplace_back([=, this] {
        for (std::size_t i = 0; i < times; ++i) {
          part(a_.data() + first, b_.data() + first, c_.data() + first, each);
        }
      });
    }
  }

  std::size_t threads_;
  std::vector<float> a_;
  std::vector<float> b_;
  std::vector<float> c_;
};

// An update's file, which is mapped anew for each result as the server does it.
class UpdateFile {
 public:
  UpdateFile(const fs::path& path, std::size_t elements) : path_(path) {
    const std::vector<float> values = some_values(elements);
    write_file_durably(path,
                       {reinterpret_cast<const std::uint8_t*>(values.data()),
                        elements * sizeof(float)});
  }

  // Its pages are there, as after its hash was checked.
  ParameterValues map() const {
    MappedFile mapped(path_);
    const ByteView bytes = mapped.bytes();
    for (std::size_t i = 0; i < bytes.size(); i += 4096) {
      touched_ = touched_ + bytes[i];
    }
    return {std::move(mapped), bytes};
  }

 private:
  fs::path path_;
  mutable volatile unsigned touched_ = 0;
};

// A model that takes in cycles of results of staleness 0.
class Merge {
 public:
  Merge(const Case& what, std::size_t elements, const fs::path& folder)
      : case_(what),
        rule_(make_update_rule(what.rule, what.settings)),
        state_(some_values(elements)),
        base_(rule_->in_rounds() ? 0 : elements) {
    for (std::size_t i = 0; i < base_.size(); ++i) base_[i] = value_at(i + 7);
    const int files = rule_->in_rounds() ? case_.results : 1;
    for (int i = 0; i < files; ++i) {
      files_.emplace_back(folder / std::to_string(i), elements);
    }
    cycle();  // the rule's state begins
  }

  // Bytes a second that the rule must move.
  double bandwidth() {
    double seconds = 0;
    double cycles = 0;
    while (seconds < kLeastSeconds) {
      seconds += cycle();
      ++cycles;
    }
    return cycles * case_.moved * sizeof(float) *
           static_cast<double>(state_.parameters().size()) / seconds;
  }

 private:
  double cycle() {
    double seconds = 0;
    for (int i = 0; i < case_.results; ++i) {
      const bool closes = !rule_->in_rounds() || i + 1 == case_.results;
      const ResultAssimilated entry = next_entry(closes);
      ParameterValues delta =
          files_[static_cast<std::size_t>(i) % files_.size()].map();
      seconds += seconds_of(
          [&] { state_.apply(entry, *rule_, base_, std::move(delta)); });
    }
    return seconds;
  }

  ResultAssimilated next_entry(bool closes) {
    ResultAssimilated entry;
    entry.version_before = state_.version();
    entry.version_after = state_.version() + (closes ? 1 : 0);
    entry.base_version = state_.version();
    entry.unit_index = units_++;
    entry.rule = rule_->name();
    entry.coefficients = rule_->coefficients({.version = state_.version(),
                                              .base_version = state_.version(),
                                              .state = &state_.rule_state()});
    return entry;
  }

  const Case& case_;
  std::unique_ptr<UpdateRule> rule_;
  ModelState state_;
  std::vector<float> base_;
  std::vector<UpdateFile> files_;
  std::uint64_t units_ = 0;
};

// Of the triad's arrays: together as much memory as the case's, so that caches
// help both alike, unless none could hold it.
std::size_t triad_elements(const Case& what, std::size_t elements) {
  constexpr std::size_t kBeyondCaches = 100'000'000;
  return std::min(elements * static_cast<std::size_t>(what.touched) / 3,
                  std::max(elements, kBeyondCaches));
}

void measure(const Case& what, std::size_t elements, const fs::path& folder) {
  const std::size_t threads = merging_threads(elements);
  Triad triad(triad_elements(what, elements), threads);
  Merge merge(what, elements, folder);
  double plain = 0;
  double streaming = 0;
  double moved = 0;
  double seconds = 0;
  for (int i = 0; i < kMostSamples; ++i) {
    if (i >= kLeastSamples && seconds > kEnoughSeconds) break;
    seconds += seconds_of([&] {
      plain = std::max(plain, triad.bandwidth(Triad::plain));
      moved = std::max(moved, merge.bandwidth());
      streaming = std::max(streaming, triad.bandwidth(Triad::streaming));
    });
  }
  fmt::print(R"({{"threads": {}, "results": {}, "arrays": {}, )"
             R"("triad": {:.0f}, "triad_streaming": {:.0f}, "rule": {:.0f}}})"
             "\n",
             threads, what.results, what.moved, plain, streaming, moved);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Case& one : kCases) {
    if (argc == 2 && name == "--list") fmt::print("{}\n", one.name);
    if (argc == 4 && name == one.name) {
      measure(one, std::strtoull(argv[2], nullptr, 10), argv[3]);
      return 0;
    }
  }
  return argc == 2 && name == "--list" ? 0 : 2;
}
