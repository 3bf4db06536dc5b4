#include "server/doors/native/native_upload.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace quorate {
namespace {

struct Range {
  std::uint64_t first = 0;
  std::uint64_t total = 0;  // bytes of the whole payload
};

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

// "bytes 0-99/100". Without it, the body is the whole payload.
std::optional<Range> requested_range(const Request& request) {
  std::string_view text = request.header("content-range");
  if (text.empty()) {
    auto length = parse_number(request.header("content-length"));
    if (!length) return std::nullopt;
    return Range{0, *length};
  }
  constexpr std::string_view kUnit = "bytes ";
  std::size_t dash = text.find('-');
  std::size_t slash = text.find('/');
  if (!text.starts_with(kUnit) || dash == std::string_view::npos ||
      slash == std::string_view::npos || dash > slash) {
    return std::nullopt;
  }
  auto first = parse_number(text.substr(kUnit.size(), dash - kUnit.size()));
  auto last = parse_number(text.substr(dash + 1, slash - dash - 1));
  auto total = parse_number(text.substr(slash + 1));
  // It goes to the end: a payload is sent in one piece from where it broke off.
  if (!first || !last || !total || *total == 0 || *last != *total - 1 ||
      *first > *last) {
    return std::nullopt;
  }
  return Range{*first, *total};
}

Response offset_response(int status, std::uint64_t offset,
                         const std::string& message) {
  Response response = error_response(status, ErrorKind::denied, message);
  response.headers.emplace_back("Upload-Offset", std::to_string(offset));
  return response;
}

Response response_of(const UploadRefusal& refusal) {
  using Why = UploadRefusal::Why;
  switch (refusal.why) {
    case Why::is_here:
    case Why::gap:
      return offset_response(409, refusal.offset, refusal.message);
    case Why::too_large:
      return error_response(413, ErrorKind::denied, refusal.message);
    case Why::no_space:
      return error_response(ErrorKind::unavailable, refusal.message,
                            Seconds(60));
    case Why::busy:
      break;
  }
  return error_response(ErrorKind::unavailable, refusal.message, Seconds(1));
}

class UpdateSink final : public BodySink {
 public:
  UpdateSink(Uploads& uploads, IncomingPayload payload, ResultId result)
      : uploads_(uploads), payload_(std::move(payload)), result_(result) {}

  void write(ByteView bytes) override { payload_.write(bytes); }

  void finish(Request&, Responder responder) override {
    if (!payload_.is_whole()) {
      responder.send(offset_response(
          400, payload_.offset(),
          fmt::format("upload for result {}: {} of {} bytes arrived: continue "
                      "from there",
                      result_, payload_.offset(), payload_.size())));
      return;
    }
    Hash hash = uploads_.keep(std::move(payload_));
    responder.send(
        json_response(200, fmt::format("{{\"sha256\":\"{}\"}}", hash.hex())));
  }

 private:
  Uploads& uploads_;
  IncomingPayload payload_;
  ResultId result_;
};

}  // namespace

std::variant<std::unique_ptr<BodySink>, Response> open_native_upload(
    Uploads& uploads, const OpenResult& open, const Request& request) {
  std::optional<Range> range = requested_range(request);
  if (!range) {
    return error_response(
        400, ErrorKind::corrupt,
        fmt::format("upload for result {}: expected Content-Range: bytes "
                    "A-B/TOTAL with B = TOTAL - 1",
                    open.id));
  }
  auto opened = uploads.open(open, range->first, range->total);
  if (auto* refusal = std::get_if<UploadRefusal>(&opened)) {
    return response_of(*refusal);
  }
  return std::make_unique<UpdateSink>(
      uploads, std::move(std::get<IncomingPayload>(opened)), open.id);
}

}  // namespace quorate
