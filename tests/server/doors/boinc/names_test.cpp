#include "server/doors/boinc/files/names.h"

#include <doctest/doctest.h>

#include "protocol/boinc/names.h"
#include "tests/support/samples.h"

namespace quorate::boinc {
namespace {

const auto kKey = quorate::test::filled<UploadKey>('k');

}  // namespace

TEST_CASE("names say which result and which object they are of") {
  CHECK(result_name(45) == "r45");
  CHECK(result_of("r45") == 45);
  for (Output output :
       {Output{45, OutputKind::header}, Output{45, OutputKind::update}}) {
    const std::string name = output_name(kKey, output);
    CHECK(output_of(kKey, name) == output);
    CHECK(is_file_name(name));
  }
  const Hash hash = quorate::test::filled<Hash>(0xab);
  for (ObjectKind kind :
       {ObjectKind::workunit, ObjectKind::snapshot, ObjectKind::shard}) {
    CHECK(object_of(object_name(kind, hash)) == hash);
    CHECK(is_file_name(object_name(kind, hash)));
  }
  CHECK(object_name(ObjectKind::workunit, hash) == "unit-" + hash.hex());
  CHECK(object_name(ObjectKind::snapshot, hash) == "snapshot-" + hash.hex());
  CHECK(object_name(ObjectKind::shard, hash) == "shard-" + hash.hex());
}

TEST_CASE("the largest result has a name, a larger one has none") {
  CHECK(result_of("r9223372036854775807") == INT64_MAX);
  CHECK(result_of(result_name(INT64_MAX)) == INT64_MAX);
  CHECK_FALSE(result_of("r9223372036854775808"));
  CHECK_FALSE(result_of("r18446744073709551617"));
}

TEST_CASE("a result has one name only") {
  for (const char* name :
       {"", "r", "r0", "r-1", "r+1", "r 1", "r01", "r1 ", "R1", "1", "rr1",
        "r1_", "r1_0", "r1.0", "r0x1", "r1e3", "r1\n"}) {
    CAPTURE(name);
    CHECK_FALSE(result_of(name));
  }
  CHECK_FALSE(result_of(std::string_view("r1\0", 3)));
  CHECK_FALSE(result_of("r" + std::string(100000, '1')));
}

TEST_CASE("who was not sent a result cannot make its files' names") {
  // Clients have such names for weeks: they must not change. By Python's hmac.
  const std::string header = "r1_header_59e0bc46e315083b";
  const std::string update = "r1_update_16e651b8315d93ef";
  CHECK(output_name(kKey, {1, OutputKind::header}) == header);
  CHECK(output_name(kKey, {1, OutputKind::update}) == update);
  CHECK_FALSE(output_of(quorate::test::filled<UploadKey>('l'), header));
  const std::string code = header.substr(header.rfind('_'));
  for (const std::string& name : {std::string(),
                                  code,
                                  "r1_header" + code.substr(0, 16),
                                  header + "0",
                                  header + "/",
                                  "../" + header,
                                  "r1_update" + code,
                                  "r2_header" + code,
                                  "r01_header" + code,
                                  "r1_Header" + code,
                                  "r1__header" + code,
                                  "r1_header_header" + code,
                                  "r1" + code,
                                  "r_header" + code,
                                  "_header" + code,
                                  std::string("r1_header"),
                                  std::string("r1_header_"),
                                  std::string("r1_header_0000000000000000"),
                                  std::string("r1_update"),
                                  "R" + header.substr(1)}) {
    CAPTURE(name);
    CHECK_FALSE(output_of(kKey, name));
  }
}

TEST_CASE("an object has one name of each kind only") {
  const std::string hex = quorate::test::filled<Hash>(0xab).hex();
  std::string capitals = hex;
  capitals[3] = 'B';
  for (const std::string& name :
       {std::string(), hex, "unit" + hex, "unit_" + hex, std::string("unit-"),
        "Unit-" + hex, "unit-" + hex + "0", "unit-" + hex.substr(1),
        "unit-" + capitals, "unit- " + hex.substr(1), "shard-g" + hex.substr(1),
        "snapshot-unit-" + hex, "update-" + hex}) {
    CAPTURE(name);
    CHECK_FALSE(object_of(name));
  }
}

}  // namespace quorate::boinc
