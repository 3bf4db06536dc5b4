#include "kernels/host_memory.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

// Kernels stride through large arrays: with pages of 4 KiB, each step would
// look up another one. Only a wish: where it is not granted, all is as before.
void ask_for_huge_pages(void* data, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t kHugePage = 1 << 21;
  void* first = data;
  if (std::align(kHugePage, kHugePage, first, bytes) != nullptr) {
    madvise(first, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  }
#endif
}

constexpr std::align_val_t kAlignment{kHostAlignment};

void check_inside(std::size_t offset, const Shape& shape,
                  const Memory& memory) {
  check(offset <= memory.size() && shape.count() <= memory.size() - offset,
        "view beyond its memory");
}

}  // namespace

void AlignedDelete::operator()(float* data) const {
  ::operator delete[](data, kAlignment);
}

AlignedFloats allocate_aligned(std::size_t count) {
  void* data = nullptr;
  if (count <= std::numeric_limits<std::size_t>::max() / sizeof(float)) {
    data = ::operator new[](count * sizeof(float), kAlignment, std::nothrow);
  }
  if (data == nullptr) {
    throw Error(ErrorKind::io,
                fmt::format("memory for {} numbers of 4 bytes: not available; "
                            "run fewer tasks at a time, or allow more "
                            "(preference memory_mb)",
                            count));
  }
  ask_for_huge_pages(data, count * sizeof(float));
  return AlignedFloats(static_cast<float*>(data));
}

HostMemory::HostMemory(std::size_t count)
    : Memory(count), data_(allocate_aligned(count)) {
  std::fill_n(data_.get(), count, 0.0F);
}

float* host_data(const View& view) {
  auto* memory = dynamic_cast<HostMemory*>(view.memory);
  check(memory != nullptr, "a view of another kind of backend");
  check_inside(view.offset, view.shape, *memory);
  return memory->data() + view.offset;
}

const float* host_data(const ConstView& view) {
  const auto* memory = dynamic_cast<const HostMemory*>(view.memory);
  check(memory != nullptr, "a view of another kind of backend");
  check_inside(view.offset, view.shape, *memory);
  return memory->data() + view.offset;
}

}  // namespace quorate
