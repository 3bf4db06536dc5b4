#include "client/exchange/ledger_copy.h"

#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/limits.h"
#include "protocol/transfer/refusal.h"
#include "workunits/ledger/ledger_file.h"
#include "workunits/ledger/ledger_verifier.h"

namespace quorate::client {
namespace {

constexpr Seconds kPageTime{60};
// Before one page. A page a second comes in the end, with others at our address
// fewer.
constexpr int kMostPauses = 30;
constexpr Seconds kLongestPause{60};
// So much is lost at most when it is cut off; writing the file anew costs less.
constexpr std::size_t kWriteEvery = 16 << 20;
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::corrupt, why);
}

// The copy while it grows: its text, and what was verified of it.
class GrowingCopy {
 public:
  explicit GrowingCopy(const LedgerOrder& order)
      : order_(order),
        verifier_(order.keys),
        text_(write_ledger_head(order.keys) + "\n") {}

  // The file that is there, under the keys of today.
  void read_file() {
    const MappedFile mapped(order_.file);
    LedgerFile file(as_text(mapped.bytes()), order_.file.string());
    if (file.keys().project != order_.keys.project) {
      refuse(
          fmt::format("{}: it is of project {}, not of {}: name another "
                      "file",
                      order_.file.string(), fingerprint(file.keys().project),
                      fingerprint(order_.keys.project)));
    }
    while (const auto record = file.next()) {
      take(*record, order_.file.string());
    }
    copy_.known = copy_.entries();
    unwritten_ = 0;
  }

  // from: for errors.
  void take(const LedgerRecord& record, const std::string& from) {
    const LedgerEntry entry = verifier_.next(record, from);
    if (const auto* run = std::get_if<RunCreated>(&entry.body)) {
      if (run->name != order_.run) {
        refuse(
            fmt::format("{}: expected the ledger of run {}, found that of "
                        "{}: name another file",
                        order_.file.string(), order_.run, run->name));
      }
    }
    const std::string line = write_ledger_line(record) + "\n";
    if (text_.size() + line.size() > kMostBytes) {
      refuse(
          fmt::format("{}: the ledger has more than {} MiB: ask the "
                      "project's operator for a copy",
                      order_.file.string(), kMostBytes >> 20));
    }
    text_ += line;
    unwritten_ += line.size();
    copy_.hashes.push_back(record.hash);
    if (unwritten_ >= kWriteEvery) write();
  }

  // What has come, if anything has.
  void write() {
    if (unwritten_ == 0) return;
    write_file_durably(order_.file, as_bytes(text_));
    unwritten_ = 0;
  }

  const LedgerCopy& copy() const { return copy_; }

 private:
  const LedgerOrder& order_;
  LedgerVerifier verifier_;
  std::string text_;
  std::size_t unwritten_ = 0;
  LedgerCopy copy_;
};

// Whether the project wants to be asked again after a pause that we can make.
bool wants_pause(const HttpReply& reply) {
  if (reply.status != 429) return false;
  const Seconds wanted = read_refusal(reply).retry_after;
  return wanted > Seconds(0) && wanted <= kLongestPause;
}

// Lines of entries from this one on; empty beyond the end.
std::string fetch_page(const LedgerOrder& order, std::uint64_t from,
                       Transfer& transfer, const std::stop_token& stop) {
  std::string page;
  HttpRequest request;
  request.path = fmt::format("/v1/runs/{}/ledger?from={}", order.run, from);
  request.timeout = kPageTime;
  request.sink = [&page](const HttpReply&, ByteView piece) {
    if (page.size() + piece.size() > protocol::kMostLedgerPage) {
      refuse("ledger: the project sends more than a page has");
    }
    page += as_text(piece);
  };
  HttpReply reply = transfer.send(request, stop);
  for (int i = 0; i < kMostPauses && wants_pause(reply); ++i) {
    order.pause(read_refusal(reply).retry_after);
    reply = transfer.send(request, stop);
  }
  if (reply.status == 200) return page;
  if (reply.status == 404) {
    throw Error(ErrorKind::usage,
                fmt::format("ledger: the project shows no ledger of a run "
                            "{}: its page lists the runs; servers from before "
                            "there was this command show none",
                            order.run));
  }
  throw_refusal(reply,
                fmt::format("ask for the ledger of run {}, entry {} (the "
                            "same command goes on from there)",
                            order.run, from));
}

// What the file ends with must be what the project shows there: through the
// chain of hashes that says the same of all entries before.
void expect_same(const LedgerOrder& order, const LedgerCopy& known,
                 const std::optional<LedgerRecord>& shown) {
  if (shown && shown->hash == known.head()) return;
  refuse(fmt::format(
      "run {}: the project shows another history than {} has: {}: keep that "
      "file, for the project had sealed it, and ask its operator: a restored "
      "backup is a reason, hiding something another",
      order.run, order.file.string(),
      shown ? fmt::format("entry {} has the hash {} now, and {} there",
                          known.entries() - 1, shown->hash.hex(),
                          known.head().hex())
            : fmt::format("entry {} is not there any more",
                          known.entries() - 1)));
}

}  // namespace

LedgerCopy copy_ledger(const LedgerOrder& order, Transfer& transfer,
                       const std::stop_token& stop) {
  GrowingCopy growing(order);
  if (fs::exists(order.file)) growing.read_file();
  const std::string head = write_ledger_head(order.keys) + "\n";
  const std::uint64_t known = growing.copy().entries();
  std::uint64_t from = known == 0 ? 0 : known - 1;
  bool is_seen = known == 0;
  const std::string shown = "what the project shows of run " + order.run;
  try {
    while (true) {
      // Only the first has a head.
      const std::string page = (from == 0 ? std::string() : head) +
                               fetch_page(order, from, transfer, stop);
      LedgerFile lines(page, shown);
      std::optional<LedgerRecord> record = lines.next();
      if (!is_seen) {
        expect_same(order, growing.copy(), record);
        is_seen = true;
        record = lines.next();
      }
      if (!record) break;
      for (; record; record = lines.next()) growing.take(*record, shown);
      from = growing.copy().entries();
      order.progress(from);
    }
  } catch (...) {
    growing.write();
    throw;
  }
  growing.write();
  if (growing.copy().hashes.empty()) {
    refuse(shown +
           ": it has no entry, not even that of its creation: ask its "
           "operator");
  }
  return growing.copy();
}

}  // namespace quorate::client
