// The bytes of every format, kept in files: a change of these is a new version
// of the format.
#include <doctest/doctest.h>

#include "tests/support/data.h"
#include "tests/support/formats.h"

namespace quorate {

TEST_CASE("formats are written as they always were") {
  for (const test::Format& format : test::formats()) {
    CAPTURE(format.name);
    Bytes stored = test::golden(fs::path(QUORATE_GOLDEN) / format.golden_file,
                                format.sample);
    CHECK(to_hex(stored) == to_hex(format.sample));
    CHECK_NOTHROW(format.read(stored));
  }
}

}  // namespace quorate
