#include "tests/fuzz/targets.h"
#include "tests/support/formats.h"
#include "workunits/ledger/ledger_file.h"
#include "workunits/ledger/ledger_verifier.h"
#include "workunits/models/model_spec.h"

namespace quorate::fuzz {
namespace {

constexpr SampleShape kImages{28, 28, 1};

void read_model(ByteView bytes) {
  std::string text(as_text(bytes));
  may_refuse({ErrorKind::usage}, [&] {
    ModelSpec model = parse_model(text, kImages, 10);
    expect(parse_model(name_of(model), kImages, 10) == model,
           "a model is read as it is named");
  });
  may_refuse({ErrorKind::corrupt}, [&] {
    ModelSpec model = model_from_json(text);
    expect(model_from_json(to_json(model)) == model,
           "a model is read as it was written");
  });
}

void read_ledger_file(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    LedgerFile file(as_text(bytes), "file");
    while (const auto record = file.next()) {
      LedgerVerifier verifier(file.keys());
      verifier.next(*record);
    }
  });
}

}  // namespace

std::vector<Target> workunit_targets() {
  std::vector<Target> all{{"model", read_model},
                          {"ledger_file", read_ledger_file}};
  for (test::Format& format : test::formats()) {
    all.push_back({format.name, [read = format.read](ByteView bytes) {
                     may_refuse({ErrorKind::corrupt, ErrorKind::unsupported},
                                [&] { read(bytes); });
                   }});
  }
  return all;
}

}  // namespace quorate::fuzz
