#include "kernels/opencl/source.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "kernels/opencl/embedded.h"

namespace quorate::opencl {
namespace {

struct File {
  std::string_view name;
  std::string_view text;
};
constexpr File kFiles[] = {
    {"kernels/primitives.h", embedded::kPrimitives},
    {"kernels/elementary-inl.h", embedded::kElementary},
    {"kernels/division-inl.h", embedded::kDivision},
    {"kernels/gpu/device/language.h", embedded::kLanguage},
    {"kernels/gpu/device/arguments.h", embedded::kArguments},
    {"kernels/gpu/device/elementwise.h", embedded::kElementwise},
    {"kernels/gpu/device/sums.h", embedded::kSums},
    {"kernels/gpu/device/softmax.h", embedded::kSoftmax},
    {"kernels/gpu/device/columns.h", embedded::kColumns},
    {"kernels/gpu/device/windows.h", embedded::kWindows},
    {"kernels/gpu/device/tables.h", embedded::kTables},
    {"kernels/gpu/device/operands.h", embedded::kOperands},
    {"kernels/gpu/device/fetch-inl.h", embedded::kFetch},
    {"kernels/gpu/device/tile-inl.h", embedded::kTile},
    {"kernels/gpu/device/products.h", embedded::kProducts},
    {"kernels/gpu/device/all.h", embedded::kAll},
};

std::string_view text_of(std::string_view name) {
  for (const File& file : kFiles) {
    if (file.name == name) return file.text;
  }
  check(false, "a file of kernels that is not embedded");
  return {};
}

// Puts the text of a file in the place of each line that includes it; what is
// included twice is there twice, and guards itself.
void expand(std::string_view text, std::string& out) {
  constexpr std::string_view kInclude = "#include \"";
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with(kInclude)) {
      std::string_view name = line.substr(kInclude.size());
      expand(text_of(name.substr(0, name.find('"'))), out);
    } else {
      out.append(line).push_back('\n');
    }
  }
}

}  // namespace

const std::string& kernel_source() {
  static const std::string source = [] {
    std::string text;
    expand(text_of("kernels/gpu/device/all.h"), text);
    return text;
  }();
  return source;
}

}  // namespace quorate::opencl
