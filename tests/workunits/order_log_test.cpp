#include "workunits/ledger/order_log.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"

namespace quorate {
namespace {

using test::sample_key;
using test::sample_order;
using test::sample_project;

std::vector<OrderRecord> sample_log() {
  std::vector<OrderRecord> log;
  for (std::uint64_t seq : {1U, 2U, 3U, 4U}) {
    OrderEntry entry = sample_order();
    entry.seq = seq;
    entry.previous = log.empty() ? Hash{} : log.back().hash;
    entry.why = "reason " + std::to_string(seq);
    log.push_back(make_order_record(entry, sample_project(), sample_key(1)));
  }
  return log;
}

// What is wrong with the log, or how many it has.
std::string found_in(const std::vector<OrderRecord>& log, std::uint64_t made) {
  OrderChain chain(keyring_of(sample_key(1).public_key()));
  try {
    for (const OrderRecord& record : log) chain.next(record);
    chain.expect_all(made);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return std::to_string(chain.count());
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("an order is read as it was written") {
  const OrderRecord record = sample_log().at(1);
  const OrderEntry entry = parse_order(record.line);
  CHECK(entry.seq == 2);
  CHECK(entry.previous == sample_log().at(0).hash);
  CHECK(entry.who == "anna");
  CHECK(entry.command == "result-revoke");
  CHECK(entry.arguments == "{\"result\":12}");
  CHECK(entry.why == "reason 2");
  CHECK(make_order_record(entry, sample_project(), sample_key(1)).line ==
        record.line);
}

TEST_CASE("what was changed in a log, or taken out of it, shows") {
  const std::vector<OrderRecord> whole = sample_log();
  CHECK(found_in(whole, 4) == "4");
  CHECK(found_in({}, 0) == "0");

  std::vector<OrderRecord> log = whole;
  log.erase(log.begin() + 1);
  CHECK(says(found_in(log, 4), "order 2: it is missing"));
  log = whole;
  log.pop_back();
  CHECK(says(found_in(log, 4), "order 4: it is missing"));
  log = whole;
  log[2].line.replace(log[2].line.find("anna"), 4, "beth");
  CHECK(says(found_in(log, 4), "order 3: its text was changed"));
  log[2].hash = sha256(as_bytes(log[2].line));
  CHECK(says(found_in(log, 4), "order 3: it is not signed"));

  // Numbered anew, but by somebody with the key: the chain shows it.
  log = whole;
  OrderEntry entry = parse_order(log[3].line);
  entry.seq = 3;
  log[2] = make_order_record(entry, sample_project(), sample_key(1));
  log.pop_back();
  CHECK(says(found_in(log, 3), "order 3: the order before it"));
}

TEST_CASE("what is no order is refused") {
  const std::string line = sample_log().at(0).line;
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[1]"), line + " ",
        line.substr(1), std::string(70'000, ' ')}) {
    CHECK_THROWS_AS(parse_order(text), Error);
  }
}

}  // namespace quorate
