#include <algorithm>

#include "server/http/clients/forwarded.h"
#include "server/http/clients/places.h"
#include "server/http/clients/proxy_header.h"
#include "server/http/request_parser.h"
#include "server/http/text.h"
#include "tests/fuzz/targets.h"

namespace quorate::fuzz {
namespace {

struct Counted : BodyReceiver {
  std::uint64_t bytes = 0;
  void receive_body(ByteView piece) override { bytes += piece.size(); }
};

// As a connection does: what a piece of the body leaves comes again with more.
void read_body(RequestParser& parser, const Counted& body,
               std::string_view bytes) {
  constexpr std::size_t kPiece = 7;  // so that parts are split
  std::size_t begin = 0;
  std::size_t end = 0;
  while (!parser.is_complete() && end < bytes.size()) {
    end = std::min(end + kPiece, bytes.size());
    begin += parser.parse_body(bytes.substr(begin, end - begin));
    expect(begin <= end, "no more is used than was given");
  }
  expect(body.bytes <= bytes.size(), "no more arrives than was sent");
}

void use(const Request& request, const std::string& target) {
  (void)parse_target(target);
  const std::string client =
      forwarded_address(joined_values(request, "x-forwarded-for"), "192.0.2.1",
                        {*parse_ip_block("10.0.0.0/8")});
  expect(parse_ip(client).has_value(), "every client has an address");
  expect(!places_of(client).empty(), "every client is somewhere");
  (void)is_host(request.header("host"));
  Conditions conditions = conditions_of(request);
  (void)is_known(conditions, "\"abc\"");
  for (std::uint64_t size : {0ULL, 1ULL, 1000ULL, ~0ULL}) {
    ContentRange range = content_range(conditions, "\"abc\"", size);
    expect(range.first <= size && range.length <= size - range.first,
           "a range lies within the content");
  }
}

void read_request(ByteView bytes) {
  std::string_view text = as_text(bytes);
  std::size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return;
  may_refuse({ErrorKind::corrupt}, [&] {
    Counted body;
    RequestParser parser(body);
    std::size_t head = parser.parse_head(text.substr(0, end + 4));
    expect(head == end + 4, "the whole head is used");
    use(parser.request(), parser.target());
    read_body(parser, body, text.substr(head));
  });
}

// The first byte says how many are given at once.
void read_proxy_header(ByteView bytes) {
  if (bytes.empty()) return;
  const std::size_t step = bytes[0] % 32 + 1;
  bytes = bytes.subspan(1);
  may_refuse({ErrorKind::corrupt}, [&] {
    ProxyHeader header;
    std::size_t used = 0;
    while (header.wanted() > 0 && used < bytes.size()) {
      const std::size_t size =
          std::min({header.wanted(), step, bytes.size() - used});
      header.take(bytes.subspan(used, size));
      used += size;
    }
    expect(used <= ProxyHeader::kMostAddresses + 16, "a header has an end");
    if (!header.client()) return;
    expect(header.wanted() == 0, "a client is known once the header is whole");
    expect(parse_ip(text_of(*header.client())) == header.client(),
           "a client's address is read as it is written");
  });
}

}  // namespace

std::vector<Target> http_targets() {
  return {{"http_proxy_header", read_proxy_header},
          {"http_request", read_request}};
}

}  // namespace quorate::fuzz
