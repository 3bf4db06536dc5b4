// Memory that the bodies of requests, or of answers, take, of all connections
// together.
// Internal to server/http.
#pragma once

#include <atomic>
#include <cstdint>

namespace quorate {

// May be used by several threads.
class BodyBudget {
 public:
  // What one request has of it; gives it back when destroyed.
  class Share {
   public:
    explicit Share(BodyBudget& budget) : budget_(budget) {}
    ~Share() { clear(); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // Has `bytes` in all from now on. False if that is more than there is: then
    // it has what it had.
    bool grow_to(std::uint64_t bytes) {
      const std::uint64_t more = bytes > bytes_ ? bytes - bytes_ : 0;
      if (budget_.used_.fetch_add(more) + more > budget_.most_) {
        budget_.used_ -= more;
        return false;
      }
      bytes_ += more;
      return true;
    }
    void clear() {
      budget_.used_ -= bytes_;
      bytes_ = 0;
    }

   private:
    BodyBudget& budget_;
    std::uint64_t bytes_ = 0;
  };

  explicit BodyBudget(std::uint64_t most) : most_(most) {}

 private:
  const std::uint64_t most_;
  std::atomic<std::uint64_t> used_{0};
};

}  // namespace quorate
