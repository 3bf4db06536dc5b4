#include "protocol/transfer/curl_transfer.h"

#include <charconv>
#include <exception>
#include <string_view>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::size_t kMostCollected = 1 << 20;
constexpr long kConnectSeconds = 10;
// A transfer that moves less than this for this long is given up: it resumes
// on a new connection.
constexpr long kLowSpeedBytes = 64;
constexpr long kLowSpeedSeconds = 30;

struct FreeEasy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct FreeMulti {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};

// Header lines of a request.
class HeaderList {
 public:
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  ~HeaderList() { curl_slist_free_all(list_); }

  void add(const std::string& line) {
    curl_slist* longer = curl_slist_append(list_, line.c_str());
    if (longer == nullptr) throw Error(ErrorKind::io, "HTTP: out of memory");
    list_ = longer;
  }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

std::optional<std::uint64_t> number_at(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  std::uint64_t value = 0;
  auto [end, failed] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

// The value of a header line if it is called `name` (lower case, with colon).
std::optional<std::string_view> value_of(std::string_view line,
                                         std::string_view name) {
  if (line.size() < name.size()) return std::nullopt;
  for (std::size_t i = 0; i < name.size(); ++i) {
    char c = line[i];
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c != name[i]) return std::nullopt;
  }
  return line.substr(name.size());
}

// Counters start anew when curl repeats a request on a fresh connection.
std::uint64_t positive(curl_off_t difference) {
  return difference > 0 ? static_cast<std::uint64_t>(difference) : 0;
}

// One request under way: what curl's callbacks write to.
struct Exchange {
  const HttpRequest& request;
  CURL* easy;
  HttpReply reply;
  std::exception_ptr thrown;  // carried over curl's C frames

  void take_header(std::string_view line) {
    if (line.rfind("HTTP/", 0) == 0) reply = HttpReply{};  // 100, then 200
    if (auto value = value_of(line, "content-range: bytes ")) {
      reply.first_byte = number_at(*value).value_or(0);
    } else if (auto offset = value_of(line, "upload-offset:")) {
      reply.upload_offset = number_at(*offset);
    } else if (auto after = value_of(line, "retry-after:")) {
      reply.retry_after =
          Seconds(static_cast<double>(number_at(*after).value_or(0)));
    }
  }

  void take_body(ByteView piece) {
    if (reply.status == 0) {
      long status = 0;
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
      reply.status = static_cast<int>(status);
    }
    if (request.sink && (reply.status == 200 || reply.status == 206)) {
      request.sink(reply, piece);
      return;
    }
    if (reply.body.size() + piece.size() > kMostCollected) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: the reply is longer than {} bytes",
                              request.path, kMostCollected));
    }
    reply.body += as_text(piece);
  }
};

std::size_t on_header(char* data, std::size_t, std::size_t size, void* to) {
  static_cast<Exchange*>(to)->take_header({data, size});
  return size;
}

std::size_t on_body(char* data, std::size_t, std::size_t size, void* to) {
  auto* exchange = static_cast<Exchange*>(to);
  try {
    exchange->take_body(as_bytes({data, size}));
    return size;
  } catch (...) {
    exchange->thrown = std::current_exception();
    return 0;  // curl ends the transfer
  }
}

class CurlTransfer final : public Transfer {
 public:
  explicit CurlTransfer(CurlOptions options)
      : options_(std::move(options)),
        easy_(curl_easy_init()),
        multi_(curl_multi_init()) {
    if (!easy_ || !multi_) throw Error(ErrorKind::io, "start libcurl: failed");
  }

  HttpReply send(const HttpRequest& request,
                 const std::stop_token& stop) override {
    Exchange exchange{request, easy_.get(), {}, nullptr};
    HeaderList headers;
    prepare(request, headers, exchange);
    CURLcode code = perform(stop);
    if (exchange.thrown) std::rethrow_exception(exchange.thrown);
    if (stop.stop_requested()) {
      throw Error(ErrorKind::unavailable, url_of(request) + ": given up");
    }
    if (code != CURLE_OK) fail(request, code);
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    exchange.reply.status = static_cast<int>(status);
    return std::move(exchange.reply);
  }

 private:
  template <class T>
  void set(CURLoption option, T value) {
    if (curl_easy_setopt(easy_.get(), option, value) != CURLE_OK) {
      throw Error(
          ErrorKind::unsupported,
          fmt::format("libcurl lacks option {}", static_cast<int>(option)));
    }
  }

  std::string url_of(const HttpRequest& request) const {
    return options_.base_url + request.path;
  }

  void prepare(const HttpRequest& request, HeaderList& headers,
               Exchange& exchange) {
    curl_easy_reset(easy_.get());  // keeps the connections
    error_[0] = '\0';
    set(CURLOPT_ERRORBUFFER, static_cast<char*>(error_));
    set(CURLOPT_URL, url_of(request).c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    if (!options_.may_use_proxy) set(CURLOPT_PROXY, "");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_USERAGENT, options_.user_agent.c_str());
    set(CURLOPT_HEADERFUNCTION, &on_header);
    set(CURLOPT_HEADERDATA, &exchange);
    set(CURLOPT_WRITEFUNCTION, &on_body);
    set(CURLOPT_WRITEDATA, &exchange);
    set_deadlines(request);
    set_trust();
    set_method(request);
    add_headers(request, headers);
    set(CURLOPT_HTTPHEADER, headers.get());
  }

  void set_deadlines(const HttpRequest& request) {
    set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    const bool is_limited = request.timeout.count() > 0;
    if (is_limited) {
      set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout.count() * 1e3));
    }
    if (!is_limited || request.sink) {
      set(CURLOPT_LOW_SPEED_LIMIT, kLowSpeedBytes);
      set(CURLOPT_LOW_SPEED_TIME, kLowSpeedSeconds);
    }
  }

  // The pinned key is checked by libcurl whatever the other two say; a
  // self-signed certificate has no authority that could vouch for it.
  void set_trust() {
    if (options_.trust == TlsTrust::authorities) return;
    set(CURLOPT_SSL_VERIFYPEER, 0L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
    if (options_.trust == TlsTrust::pinned) {
      set(CURLOPT_PINNEDPUBLICKEY, options_.pin.c_str());
    }
  }

  void set_method(const HttpRequest& request) {
    switch (request.method) {
      case HttpMethod::get:
        return;
      case HttpMethod::head:
        set(CURLOPT_NOBODY, 1L);
        return;
      case HttpMethod::put:
        set(CURLOPT_CUSTOMREQUEST, "PUT");
        break;
      case HttpMethod::post:
        set(CURLOPT_POST, 1L);
        break;
    }
    const void* body = request.body.empty()
                           ? ""
                           : static_cast<const void*>(request.body.data());
    set(CURLOPT_POSTFIELDSIZE_LARGE,
        static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_POSTFIELDS, body);  // borrowed, not copied
  }

  static void add_headers(const HttpRequest& request, HeaderList& headers) {
    headers.add("Expect:");  // else a big body waits for "100 Continue"
    if (!request.bearer.empty()) {
      headers.add("Authorization: Bearer " + request.bearer);
    }
    if (!request.content_type.empty()) {
      headers.add("Content-Type: " + request.content_type);
    }
    if (request.method == HttpMethod::get && request.from > 0) {
      headers.add(fmt::format("Range: bytes={}-", request.from));
    }
    if (!request.known_etag.empty()) {
      headers.add("If-None-Match: " + request.known_etag);
    }
    if (request.total && !request.body.empty()) {
      headers.add(fmt::format("Content-Range: bytes {}-{}/{}", request.from,
                              request.from + request.body.size() - 1,
                              *request.total));
    }
  }

  // Again and again during a transfer: the volunteer may change the limits.
  void limit_speed() {
    if (options_.network == nullptr) return;
    set(CURLOPT_MAX_RECV_SPEED_LARGE,
        static_cast<curl_off_t>(options_.network->down_limit.load()));
    set(CURLOPT_MAX_SEND_SPEED_LARGE,
        static_cast<curl_off_t>(options_.network->up_limit.load()));
  }

  // Bytes of the present transfer that are counted already.
  struct Moved {
    curl_off_t received = 0;
    curl_off_t sent = 0;
  };
  void count(Moved& moved) {
    if (options_.network == nullptr) return;
    Moved now;
    curl_easy_getinfo(easy_.get(), CURLINFO_SIZE_DOWNLOAD_T, &now.received);
    curl_easy_getinfo(easy_.get(), CURLINFO_SIZE_UPLOAD_T, &now.sent);
    options_.network->received += positive(now.received - moved.received);
    options_.network->sent += positive(now.sent - moved.sent);
    moved = now;
  }

  // curl_easy_perform() notices a stop request after up to a second; the multi
  // interface can be woken.
  CURLcode perform(const std::stop_token& stop) {
    CURLM* multi = multi_.get();
    curl_multi_add_handle(multi, easy_.get());
    std::stop_callback wake(stop, [multi] { curl_multi_wakeup(multi); });
    int running = 1;
    CURLMcode state = CURLM_OK;
    Moved moved;
    while (state == CURLM_OK && running != 0 && !stop.stop_requested()) {
      limit_speed();
      state = curl_multi_perform(multi, &running);
      count(moved);
      if (state == CURLM_OK && running != 0) {
        state = curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
      }
    }
    CURLcode code = CURLE_RECV_ERROR;
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg == CURLMSG_DONE) code = message->data.result;
    }
    curl_multi_remove_handle(multi, easy_.get());
    return code;
  }

  [[noreturn]] void fail(const HttpRequest& request, CURLcode code) const {
    std::string url = url_of(request);
    const char* found = error_[0] != '\0' ? error_ : curl_easy_strerror(code);
    if (code == CURLE_SSL_PINNEDPUBKEYNOTMATCH) {
      throw Error(ErrorKind::denied,
                  fmt::format("{}: the server's TLS key is not the project's: "
                              "somebody may be intercepting the connection, or "
                              "the server has a new key: ask the operator, and "
                              "attach again with the project's fingerprint",
                              url));
    }
    if (code == CURLE_PEER_FAILED_VERIFICATION) {
      throw Error(ErrorKind::denied,
                  fmt::format("{}: the server's certificate cannot be "
                              "trusted: {}",
                              url, found));
    }
    throw Error(ErrorKind::unavailable, fmt::format("{}: {}", url, found));
  }

  CurlOptions options_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  std::unique_ptr<CURLM, FreeMulti> multi_;
  char error_[CURL_ERROR_SIZE] = {};
};

}  // namespace

std::unique_ptr<Transfer> make_curl_transfer(const CurlOptions& options) {
  // Once, and before any thread uses it: a local static is initialised so.
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) throw Error(ErrorKind::io, "start libcurl: failed");
  return std::make_unique<CurlTransfer>(options);
}

}  // namespace quorate
