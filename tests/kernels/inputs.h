// Inputs that find wrong bits, and the devices to try them on.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"

namespace quorate::test {

enum class InputKind {
  uniform,      // [-1, 1)
  wide,         // exponents over the whole range
  vanishing,    // +0, -0 and values whose products underflow to them
  subnormal,    // below the least normal number
  overflowing,  // large values, and a few infinities
  any_bits,     // all bit patterns, NaN included
};
inline constexpr InputKind kAllInputKinds[] = {
    InputKind::uniform,   InputKind::wide,        InputKind::vanishing,
    InputKind::subnormal, InputKind::overflowing, InputKind::any_bits};
std::string name_of(InputKind kind);

// The same values for the same arguments.
std::vector<float> inputs(InputKind kind, std::size_t count,
                          std::uint32_t stream);

// A device and a number of threads, for a table of cases.
struct DeviceCase {
  std::string device;
  unsigned threads;
};
// Every optimised device, CPUs with one to three threads; those that this
// host lacks are named in a message and left out.
std::vector<DeviceCase> optimised_devices();
// The same and the reference.
std::vector<DeviceCase> all_devices();

// Runs an operation on one backend: inputs are uploaded, the output is
// downloaded.
class Run {
 public:
  explicit Run(Backend& backend) : backend_(backend) {}

  View put(Shape shape, const std::vector<float>& values);
  std::vector<float> get(ConstView view);

 private:
  Backend& backend_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
};

// Empty if both have the same bits (one NaN is as good as another), else where
// they first differ.
std::string first_difference(const std::vector<float>& expected,
                             const std::vector<float>& found);

using Floats = std::vector<float>;
Floats append(Floats first, const Floats& second);

// Computes on a backend from inputs of one kind; several outputs are put one
// after another.
using Operation = std::function<Floats(Backend&, InputKind)>;
// Checks that it gives the same bits on the reference and on all others, for
// inputs of all kinds.
void check_operation(const Operation& operation);

}  // namespace quorate::test
