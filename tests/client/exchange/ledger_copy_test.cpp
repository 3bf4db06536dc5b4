#include "client/exchange/ledger_copy.h"

#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "protocol/limits.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "workunits/ledger/ledger_file.h"

namespace quorate::client {
namespace {

using Records = std::vector<LedgerRecord>;

// A server that shows a ledger, two entries a page.
class Shown final : public Transfer {
 public:
  HttpReply send(const HttpRequest& request, const std::stop_token&) override {
    ++requests;
    HttpReply reply;
    reply.status = status;
    if (pauses > 0) {
      --pauses;
      reply.status = 429;
      reply.retry_after = retry_after;
      return reply;
    }
    const std::string kPath = "/v1/runs/first/ledger?from=";
    REQUIRE(request.path.starts_with(kPath));
    std::size_t at = std::stoul(request.path.substr(kPath.size()));
    if (status != 200) return reply;
    std::string page;
    if (at == 0) {
      page = write_ledger_head(keyring_of(test::sample_key(9).public_key())) +
             "\n";
    }
    for (std::size_t end = at + 2; at < end && at < records.size(); ++at) {
      page += write_ledger_line(records[at]) + "\n";
    }
    page += tail;
    request.sink(reply, as_bytes(page));
    return reply;
  }

  Records records = test::sample_ledger();
  std::string tail;
  int status = 200;
  int requests = 0;
  int pauses = 0;  // that it demands
  Seconds retry_after{1.5};
};

struct Scene {
  LedgerCopy copy() { return copy_ledger(order, shown, {}); }
  std::string refusal(ErrorKind kind = ErrorKind::corrupt) {
    try {
      copy();
    } catch (const Error& error) {
      CHECK(error.kind() == kind);
      return error.what();
    }
    return "copied";
  }
  std::string text() const { return read_text_file(order.file, 1 << 20); }

  test::TemporaryFolder folder;
  Shown shown;
  LedgerOrder order{"first", keyring_of(test::sample_key(1).public_key()),
                    folder / "first.ledger"};
};

bool has(const std::string& text, std::string_view part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

std::string file_of(const Keyring& keys, const Records& records) {
  std::string text = write_ledger_head(keys) + "\n";
  for (const LedgerRecord& record : records) {
    text += write_ledger_line(record) + "\n";
  }
  return text;
}

// The same run with another history.
Records other_history() {
  std::vector<LedgerEntry> entries = test::sample_entries();
  std::get<ResultAssimilated>(entries.at(3).body).samples += 1;
  return test::chain(entries);
}

}  // namespace

TEST_CASE("a ledger is copied whole, under the project's keys") {
  Scene scene;
  std::vector<std::uint64_t> seen;
  scene.order.progress = [&](std::uint64_t entries) {
    seen.push_back(entries);
  };
  const LedgerCopy copy = scene.copy();
  CHECK(copy.entries() == 6);
  CHECK(copy.known == 0);
  CHECK(copy.head() == scene.shown.records.back().hash);
  CHECK(seen == std::vector<std::uint64_t>{2, 4, 6});
  CHECK(scene.text() == file_of(scene.order.keys, scene.shown.records));
}

TEST_CASE("a copy goes on where it ended, and keys may be others by then") {
  Scene scene;
  const Records all = scene.shown.records;
  scene.shown.records.resize(3);
  REQUIRE(scene.copy().entries() == 3);
  scene.shown.records = all;
  scene.shown.requests = 0;
  scene.order.keys = test::sample_keyring();
  const LedgerCopy copy = scene.copy();
  CHECK(copy.known == 3);
  CHECK(copy.entries() == 6);
  CHECK(scene.shown.requests == 3);
  CHECK(scene.text() == file_of(scene.order.keys, all));
  // Nothing is new.
  const LedgerCopy again = scene.copy();
  CHECK(again.known == 6);
  CHECK(again.entries() == 6);
}

TEST_CASE("a copy pauses as the project wants, within reason") {
  Scene scene;
  Seconds paused{0};
  scene.order.pause = [&](Seconds wanted) { paused += wanted; };
  SUBCASE("and comes to its end") {
    scene.shown.pauses = 3;
    CHECK(scene.copy().entries() == 6);
    CHECK(paused == Seconds(4.5));
    return;
  }
  SUBCASE("but not for ever") {
    scene.shown.pauses = 1000;
  }
  SUBCASE("nor for a day") {
    scene.shown.pauses = 3;
    scene.shown.retry_after = Seconds(86400);
  }
  CHECK(has(scene.refusal(ErrorKind::unavailable), "the same command goes on"));
  CHECK(paused < Seconds(60));
  CHECK_FALSE(fs::exists(scene.order.file));
}

TEST_CASE("a project that changes its history is found, and the file stays") {
  Scene scene;
  scene.copy();
  const std::string before = scene.text();
  SUBCASE("other entries") {
    scene.shown.records = other_history();
    CHECK(has(scene.refusal(), "shows another history"));
  }
  SUBCASE("fewer") {
    scene.shown.records.resize(4);
    CHECK(has(scene.refusal(), "entry 5 is not there any more"));
  }
  CHECK(scene.text() == before);
}

TEST_CASE("what does not verify is refused; what did before it stays") {
  Scene scene;
  SUBCASE("a changed line") {
    scene.shown.records[4].line += " ";
  }
  SUBCASE("signed by another") {
    scene.shown.records[4].signature =
        test::sample_key(2).sign(scene.shown.records[4].hash.view());
  }
  SUBCASE("one left out") {
    scene.shown.records.erase(scene.shown.records.begin() + 4);
  }
  CHECK(has(scene.refusal(), "what the project shows of run first: "));
  const std::string text = scene.text();
  LedgerFile kept(text, "kept");
  std::size_t entries = 0;
  while (kept.next()) ++entries;
  CHECK(entries == 4);
}

TEST_CASE("files of others are left alone") {
  Scene scene;
  const auto write = [&](const std::string& text) {
    write_file_durably(scene.order.file, as_bytes(text));
  };
  write(file_of(keyring_of(test::sample_key(2).public_key()), {}));
  CHECK(has(scene.refusal(), "it is of project "));
  write("{}\n");
  CHECK(scene.refusal() != "copied");
  CHECK(scene.text() == "{}\n");
  std::vector<LedgerEntry> entries = test::sample_entries();
  std::get<RunCreated>(entries.at(0).body).name = "second";
  write(file_of(scene.order.keys, test::chain(entries)));
  CHECK(has(scene.refusal(), "expected the ledger of run first"));
}

TEST_CASE("a run that there is not, a server that fails, and one that floods") {
  Scene scene;
  scene.shown.status = 404;
  CHECK(has(scene.refusal(ErrorKind::usage), "its page lists the runs"));
  CHECK_FALSE(fs::exists(scene.order.file));
  scene.shown.status = 200;
  scene.shown.records.clear();
  CHECK(has(scene.refusal(), "it has no entry"));
  CHECK_FALSE(fs::exists(scene.order.file));
  scene.shown.status = 503;
  CHECK(scene.refusal(ErrorKind::unavailable) != "copied");
  scene.shown.status = 200;
  scene.shown.tail = std::string(protocol::kMostLedgerPage, ' ');
  CHECK(has(scene.refusal(), "more than a page has"));
  CHECK_FALSE(fs::exists(scene.order.file));
}

}  // namespace quorate::client
