// The volunteer's own page: what the agent does, and the switches for it. For
// browsers on this machine only; it reads and writes the files of the data
// folder, as the commands do.
//
// The room client/ui serves this page with server/http, in a process of its
// own. It owns the page's token (memory), and may include client/status and
// what stands before it, not the agent.
//
// The first segment of every path is a secret token, and a change carries it in
// a header as well: another page in the same browser does not know it, and
// could not send the header. A cookie would be handed to every other server on
// 127.0.0.1, for cookies know no ports. The Host header must name this machine,
// so that a foreign name that is made to resolve to 127.0.0.1 gets nowhere (DNS
// rebinding).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.h"
#include "client/folder/attach.h"
#include "client/folder/data_folder.h"
#include "server/http/router.h"

namespace quorate::client {

class LocalPage {
 public:
  // Folder and clock outlive the page. The token is made anew.
  LocalPage(const DataFolder& folder, const Clock& clock,
            TransferMaker make = make_curl_transfer);

  Router router();
  // The port that it listens on; before the first request.
  void set_port(std::uint16_t port) { port_ = port; }
  std::string url() const;
  const std::string& token() const { return token_; }
  // When somebody last looked at it, or it was made.
  Instant last_seen() const { return last_seen_; }

 private:
  void add_asset(Router& router, const char* name, const char* content_type,
                 std::string_view bytes);
  void add_change(Router& router, const char* name,
                  std::string (LocalPage::*change)(ByteView body));
  bool is_for_us(const Request& request);
  bool may_change(const Request& request);
  std::string status_now() const;
  std::string pause(ByteView body);
  std::string finish(ByteView body);
  std::string resume(ByteView body);
  std::string set_pref(ByteView body);
  std::string attach(ByteView body);
  std::string detach(ByteView body);

  const DataFolder& folder_;
  const Clock& clock_;
  TransferMaker make_;
  std::string token_;
  std::atomic<std::uint16_t> port_{0};
  std::atomic<Instant> last_seen_;
};

}  // namespace quorate::client
