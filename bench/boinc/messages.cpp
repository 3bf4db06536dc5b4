// What the messages of the BOINC door cost, one thread: a JSON object of
// microseconds.
#include <algorithm>
#include <ctime>
#include <functional>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/boinc/scheduler_reply.h"
#include "protocol/boinc/scheduler_request.h"
#include "protocol/boinc/signatures.h"
#include "protocol/boinc/upload.h"
#include "tests/protocol/boinc/samples.h"

namespace {

using namespace quorate;
using namespace quorate::boinc;

// Of processor time, the best of several rounds of about 50 ms: others may be
// at work.
double microseconds(const std::function<void()>& action) {
  constexpr double kPerTick = 1e6 / CLOCKS_PER_SEC;
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    int times = 0;
    double spent = 0;
    std::clock_t begin = std::clock();
    while (spent < 50000) {
      action();
      ++times;
      spent = static_cast<double>(std::clock() - begin) * kPerTick;
    }
    best = std::min(best, spent / times);
  }
  return best;
}

// The dearest of several kinds of 1 MB that is no request.
double garbage() {
  double dearest = 0;
  for (std::string piece : {"<a>", "<a/>", "<a>x</a>\n", "<a b='' c='' d=''/>",
                            "<a b='' c='' d='' e=''            />", "&lt;", "x",
                            "<![CDATA[]]>", "<!---->"}) {
    std::string text = request_with("");
    text.erase(text.rfind("</"));
    while (text.size() < 1000000) text += piece;
    auto read = [&] {
      try {
        parse_scheduler_request(as_bytes(text));
      } catch (const Error&) {
      }
    };
    dearest = std::max(dearest, microseconds(read));
  }
  return dearest;
}

}  // namespace

int main() {
  std::string request = golden("request_reports.xml");
  std::string upload = golden("upload.bin");
  SchedulerReply reply = sample_reply();
  const UploadKey key;
  const UploadPermission permission = permit_upload(key, "r1_update", 50000000);
  fmt::print(
      "{{\"request\": {}, \"reply\": {}, \"permit\": {}, \"head\": {}, "
      "\"verify\": {}, \"garbage\": {}}}\n",
      microseconds([&] { parse_scheduler_request(as_bytes(request)); }),
      microseconds([&] { write(reply); }),
      microseconds([&] { permit_upload(key, "r1_update", 50000000); }),
      microseconds([&] { parse_upload_head(as_bytes(upload)); }),
      microseconds(
          [&] { is_permitted(key, "r1_update", 50000000, permission); }),
      garbage());
}
