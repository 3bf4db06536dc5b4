// Arrays of binary32 values in a device's memory. A Tensor owns, a View
// borrows. Neither gives a host pointer: data go through Backend::upload and
// Backend::download.
//
// Layers and the trainer hold Tensors and pass Views. A view is three words and
// is copied freely; it does not keep its memory alive.
//
// Rejected: strides and transposed views. Every kernel would have to handle all
// layouts; the few operations that need a transposed matrix take a flag.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>

#include "base/error.h"

namespace quorate {

// Sizes of an array in row-major order; rank 1 to 4.
class Shape {
 public:
  // Images have four sizes; nothing has more.
  static constexpr std::size_t kMaxRank = 4;

  // Sizes may be 0: such an array has no elements, and operations on it do
  // nothing. Aborts for no size or more than four.
  Shape(std::initializer_list<std::size_t> sizes) : rank_(sizes.size()) {
    check(rank_ >= 1 && rank_ <= kMaxRank, "a shape has 1 to 4 sizes");
    std::size_t i = 0;
    for (std::size_t size : sizes) sizes_[i++] = size;
  }

  std::size_t rank() const { return rank_; }
  // axis < rank(); not checked.
  std::size_t operator[](std::size_t axis) const { return sizes_[axis]; }
  // Number of elements.
  // Does not check for overflow: a model's sizes were bounded before.
  std::size_t count() const {
    std::size_t count = 1;
    for (std::size_t i = 0; i < rank_; ++i) count *= sizes_[i];
    return count;
  }
  bool operator==(const Shape&) const = default;

 private:
  std::array<std::size_t, kMaxRank> sizes_{};
  std::size_t rank_;
};

// A piece of a device's memory; made by Backend::allocate.
// The class has no data access: only the backend that made it knows what lies
// behind (HostMemory, GpuMemory), and finds out by a cast. A view of another
// kind of backend aborts there.
class Memory {
 public:
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Capacity in elements of 4 bytes.
  std::size_t size() const { return size_; }

  // For the backends' own kinds only.
 protected:
  explicit Memory(std::size_t size) : size_(size) {}

 private:
  std::size_t size_;
};

// Borrowed elements [offset, offset + shape.count()) of a memory, to write. The
// memory is not null and outlives the operations that use the view. That the
// view lies inside the memory is checked when an operation uses it.
struct View {
  Memory* memory;
  std::size_t offset;
  Shape shape;

  // A part of it with its own shape, `first` elements from its start. Aborts if
  // it reaches beyond this view.
  View part(std::size_t first, Shape part_shape) const {
    check(first + part_shape.count() <= shape.count(), "part beyond a view");
    return {memory, offset + first, part_shape};
  }
};

// The same, to read. Every View converts to one; never the other way.
struct ConstView {
  const Memory* memory;
  std::size_t offset;
  Shape shape;

  ConstView(const Memory* m, std::size_t o, Shape s)
      : memory(m), offset(o), shape(s) {}
  ConstView(const View& view)  // NOLINT: a writable view can be read
      : memory(view.memory), offset(view.offset), shape(view.shape) {}

  // As View::part.
  ConstView part(std::size_t first, Shape part_shape) const {
    check(first + part_shape.count() <= shape.count(), "part beyond a view");
    return {memory, offset + first, part_shape};
  }
};

// Owns memory and gives it a shape, for as long as it lives; views of it live
// no longer. Move-only. The memory may be larger than the shape.
class Tensor {
 public:
  Tensor(std::unique_ptr<Memory> memory, Shape shape)
      : memory_(std::move(memory)), shape_(shape) {}

  const Shape& shape() const { return shape_; }
  // The whole of it. Null memory only after it was moved from.
  View view() { return {memory_.get(), 0, shape_}; }
  ConstView view() const { return {memory_.get(), 0, shape_}; }

 private:
  std::unique_ptr<Memory> memory_;
  Shape shape_;
};

}  // namespace quorate
