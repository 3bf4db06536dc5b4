#include "client/site/site_door.h"

#include <algorithm>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "client/machine/host_info.h"
#include "client/site/own_addresses.h"
#include "protocol/text.h"

namespace quorate::client {
namespace {

constexpr std::size_t kSealedRequest =
    protocol::kMateRequestBytes + kEncryptionBytes;

// Mates are dozens, and each answer under way may hold a megabyte.
HttpOptions door_options() {
  HttpOptions options;
  options.threads = 1;
  options.limits.max_connections = 64;
  options.limits.max_connections_per_address = 8;
  options.limits.max_head_bytes = 4 << 10;
  return options;
}

Response sealed_reply(Bytes bytes) {
  Response response;
  response.content_type = "application/octet-stream";
  response.body = std::move(bytes);
  return response;
}

// To strangers, whatever they sent.
Response no_reply() {
  Response response;
  response.status = 404;
  return response;
}

// Both families, or what of them the machine has.
std::uint16_t listen_everywhere(HttpServer& server, std::uint16_t port,
                                const Router& router) {
  try {
    return server.listen({"::", port, {}}, router);
  } catch (const Error&) {
    return server.listen({"0.0.0.0", port, {}}, router);
  }
}

std::size_t read_at(int fd, std::span<std::uint8_t> out, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::pread(fd, out.data() + done, out.size() - done,
                                static_cast<off_t>(offset + done));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace

SiteDoor::SiteDoor(const SiteSettings& settings, Find find)
    : settings_(settings),
      find_(std::move(find)),
      process_(secret_random<protocol::ProcessId>()),
      server_(door_options()) {
  Router router;
  router.add(
      Method::post, "/v1/mate",
      [this](Request& request, Responder responder) {
        responder.send(answer(request.body));
      },
      kSealedRequest);
  const std::vector<std::string>& given = settings_.addresses;
  const bool is_local =
      !given.empty() && std::all_of(given.begin(), given.end(), is_loopback);
  port_ = is_local ? server_.listen({given.front(), settings_.port, {}}, router)
                   : listen_everywhere(server_, settings_.port, router);
  server_.start();
}

SiteDoor::~SiteDoor() = default;

std::vector<std::string> SiteDoor::addresses() const {
  return protocol::fitting_addresses(
      settings_.addresses.empty() ? own_addresses() : settings_.addresses);
}

std::string SiteDoor::contact() const {
  const std::vector<std::string> now = addresses();
  std::lock_guard lock(mutex_);
  if (told_.empty() || now != told_addresses_) {
    const protocol::MateContact contact{
        process_, port_,
        protocol::plain_text(host_name(), protocol::kMaxMateName), now};
    told_ = to_hex(
        settings_.secret.seal(MateMessage::contact, protocol::write(contact)));
    told_addresses_ = now;
  }
  return told_;
}

DoorCounters SiteDoor::counters() const {
  return {bytes_given_.load(), refused_.load()};
}

Response SiteDoor::answer(ByteView sealed) {
  try {
    const auto opened = settings_.secret.open(MateMessage::request, sealed);
    if (opened) return answer_mate(*opened);
  } catch (const Error&) {
    // A mate that speaks another language is a stranger, too.
  }
  ++refused_;
  return no_reply();
}

Response SiteDoor::answer_mate(ByteView opened) {
  const protocol::MateRequest request = protocol::parse_mate_request(opened);
  // Meant for an earlier process: its contact is out of date.
  if (request.door != process_) return no_reply();
  const protocol::MateChunk chunk = read(request);
  bytes_given_ += chunk.bytes.size();
  return sealed_reply(settings_.secret.seal(MateMessage::reply,
                                            protocol::write(chunk), opened));
}

protocol::MateChunk SiteDoor::read(const protocol::MateRequest& request) const {
  try {
    const std::optional<fs::path> path = find_(request.hash);
    if (!path) return {};
    const FileDescriptor file = open_file(*path, O_RDONLY);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) throw_errno("look at an object");
    const auto total = static_cast<std::uint64_t>(status.st_size);
    const std::uint64_t begin = std::min(request.offset, total);
    Bytes bytes(std::min<std::uint64_t>(request.length, total - begin));
    bytes.resize(read_at(file.get(), bytes, begin));
    return {true, total, std::move(bytes)};
  } catch (const std::exception&) {
    return {};  // it has just gone
  }
}

}  // namespace quorate::client
