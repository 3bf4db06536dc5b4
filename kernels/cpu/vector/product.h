// Matrix products as the kernels take them: how they are laid out, cut into
// panels and shared among threads. Pure; docs/numerics.md, section 3.
//
// Who calls it: CpuBackend for matmul, Convolver and Attention with tables of
// their own. The kernel sees sides R and V, not a and b: which operand is which
// is arrange_product's choice, by cost.
//
// Rejected: a BLAS library. It would sum in an order that depends on its
// version, the processor and the number of threads, and a replica's bits would
// not agree.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/vector/instruction_set.h"
#include "kernels/shapes.h"

namespace quorate {

// Length of a segment of a sum over k.
inline constexpr std::size_t kSegment = 256;

// Steps along k that lie side by side in R. A segment consists of whole spans.
struct Span {
  std::ptrdiff_t offset = 0;  // in R, of the first
  std::size_t count = 0;      // at least 1
  bool ends_segment = false;
  // If not negative: R is +0 at all its steps, and adding row `zeros` of
  // Product::zeros has the same effect as they have.
  std::ptrdiff_t zeros = -1;
};

// Rows of R that have their steps along k in the same spans: of `depth` steps
// in all.
// `first` counts in the order of Product::r_rows. Spans are shared by all rows
// of the class and borrowed.
struct RowClass {
  std::size_t first = 0;
  std::size_t rows = 0;
  const Span* spans = nullptr;
};

// What happens to the sums before they are stored, in this order: bias, addend,
// relu. Null and false are left out.
struct Finish {
  const float* bias = nullptr;    // one per column of the matrix in memory
  const float* addend = nullptr;  // laid out as C, elsewhere
  bool relu = false;
};

// C(i,j) = sum over k of R(i,k) V(k,j). R is read element by element, V in
// vectors along j; each is any of the operands, transposed or not. All pointers
// are borrowed. C may not overlap R or V.
struct Product {
  const float* r = nullptr;  // R(i,k) is r[i * r_row + k * r_k]
  std::size_t r_row = 0;     // one of the two strides is 1
  std::size_t r_k = 0;
  const float* v = nullptr;  // V(k,j) is v[k * v_k + j * v_col]
  std::size_t v_k = 0;       // one of the two strides is 1
  std::size_t v_col = 0;
  float* c = nullptr;     // C(i,j) is c[i * c_row + j * c_col]
  std::size_t c_row = 0;  // one of the two strides is 1
  std::size_t c_col = 0;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t depth = 0;  // at least 1
  // If set: what takes the place of i * r_row (then r_k is 1), of i * c_row
  // (then c_col is 1), and of k * r_k: classes of rows, which are
  // computed, and others are not.
  const std::ptrdiff_t* r_rows = nullptr;
  const std::ptrdiff_t* c_rows = nullptr;
  const RowClass* classes = nullptr;
  std::size_t class_count = 0;
  // If set: V in panels (cut_panels), each with all its depth.
  const float* packed_v = nullptr;
  // For spans of zeros, in panels as packed_v: zero_count rows, each the sum
  // of such a span that starts with -0.
  const float* zeros = nullptr;
  std::size_t zero_count = 0;
  bool continues = false;  // C holds the sum over the segments before
  Finish finish{};
};

// The product c = op(a) op(b) with either operand on the vector side, whichever
// costs less: partly filled vectors and transposing cost. Both sides give the
// same bits, since a sum's order is along k in either. lanes: of a vector.
// finish is left empty.
Product arrange_product(const MatmulSizes& sizes, const float* a,
                        Transpose transpose_a, const float* b,
                        Transpose transpose_b, float* c, std::size_t lanes);

// c (rows,cols) where depth is 0: +0, and what follows it.
void multiply_nothing(std::size_t rows, std::size_t cols, const Finish& finish,
                      float* c);

// In how many pieces of similar cost, at most `most`, the product is worth
// computing; and piece i of so many. Pieces share nothing of C.
std::size_t piece_count(const Product& product, std::size_t most,
                        std::size_t lanes);
Product piece_of(const Product& product, std::size_t pieces, std::size_t i,
                 std::size_t lanes);

// Columns of C that are made together, as many whole vectors as a tile has.
// first, cols: in columns of C. `vectors` says how wide a packed row is.
struct PanelCut {
  std::size_t first = 0;
  std::size_t cols = 0;
  std::size_t vectors = 0;  // the last may be partly filled
};
// The most vectors of a tile, for vectors of 16 and of 8 lanes.
constexpr std::size_t most_tile_vectors(std::size_t lanes) {
  return lanes == 16 ? 4 : 2;
}
std::size_t panel_count(std::size_t cols, std::size_t lanes);
// Panels are as equal as whole vectors allow: narrow tiles are slow.
PanelCut cut_panel(std::size_t cols, std::size_t lanes, std::size_t i);
// Floats of V in panels, the last of which is filled up to whole vectors.
std::size_t packed_size(std::size_t cols, std::size_t depth, std::size_t lanes);

// Floats of scratch memory that `multiply` needs.
inline constexpr std::size_t kMatmulScratch = 1 << 18;

struct MatmulKernels {
  // Computes the whole product on this thread. scratch: kMatmulScratch floats
  // that no other thread uses meanwhile.
  void (*multiply)(const Product& product, float* scratch);
  // Writes rows of V, depth of them, as a panel's: vectors * lanes floats each.
  // V(k,j) is v[k * v_k + j * v_col] for the panel's first column j = 0.
  void (*pack)(const float* v, std::size_t v_k, std::size_t v_col,
               std::size_t depth, const PanelCut& panel, float* to);
  // sum (width) = the sum over `depth` rows v of a packed panel, each times +0,
  // that starts with -0. It is -0, +0 or NaN. Added to any number it gives what
  // the products would, one by one: they change nothing but -0, or all to NaN.
  void (*sum_zeros)(const float* v, std::size_t depth, std::size_t width,
                    float* sum);
  std::size_t lanes;  // of a vector
};
// Lives as long as the program; this host must have the instructions.
const MatmulKernels& matmul_kernels(InstructionSet set);

}  // namespace quorate
