// fmt's functions, for a program that is sent to volunteers: each library
// beside it is one more file to download before the first task. A function that
// is missing here would come from the shared library, which a test notices.
#include <fmt/format-inl.h>

namespace fmt::detail {

// Which <fmt/format.h> says are elsewhere.
template FMT_API thousands_sep_result<char> thousands_sep_impl(locale_ref);
template FMT_API char decimal_point_impl(locale_ref);

}  // namespace fmt::detail
