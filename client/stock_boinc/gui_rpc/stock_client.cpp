#include "client/stock_boinc/gui_rpc/stock_client.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <boinc/lib/error_numbers.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/error.h"
#include "client/stock_boinc/gui_rpc/read_state.h"
#include "protocol/text.h"

namespace quorate::client {
namespace {

// A client answers at once, unless its disk is very busy.
constexpr int kPatienceSeconds = 30;
// Of its operations that take time.
constexpr std::chrono::milliseconds kPollEvery{100};
constexpr int kPolls = 300;
// How many of the last messages, over all projects, are looked at.
constexpr int kMessages = 500;
constexpr std::size_t kMaxWords = 500;

// The client's own thread serves us: one that hangs is given up.
void limit_waiting(int socket) {
  timeval patience{kPatienceSeconds, 0};
  for (int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    if (::setsockopt(socket, SOL_SOCKET, option, &patience, sizeof patience)) {
      throw_errno("limit waiting for the BOINC client");
    }
  }
}

std::string words_for(int code) {
  return protocol::plain_text(boincerror(code), kMaxWords);
}

}  // namespace

struct StockClient::Connection {
  RPC_CLIENT rpc;
  std::string where;  // "127.0.0.1:31416"

  // Throws unless code is 0. tried: "attach it to URL".
  void expect_done(int code, const std::string& tried) const {
    if (code == 0) return;
    bool is_silent = code == ERR_READ || code == ERR_WRITE;
    throw Error(is_silent ? ErrorKind::unavailable : ErrorKind::denied,
                fmt::format("BOINC client at {}: {}: {}", where, tried,
                            is_silent ? "it does not answer (any more)"
                                      : words_for(code)));
  }

  void connect(const GuiAddress& address) {
    if (rpc.init(address.host.c_str(), address.port) != 0) {
      throw Error(
          ErrorKind::unavailable,
          fmt::format("BOINC client at {}: nobody listens there: start it "
                      "(sudo systemctl start boinc-client), or say with "
                      "--host HOST:PORT where one is",
                      where));
    }
    limit_waiting(rpc.sock);
  }

  void authorize(const std::string& password) {
    if (password.empty()) return;
    int code = rpc.authorize(password.c_str());
    if (code == ERR_AUTHENTICATOR) {
      throw Error(ErrorKind::denied,
                  fmt::format("BOINC client at {}: it refuses the password: "
                              "say with --password-file FILE where its "
                              "gui_rpc_auth.cfg is",
                              where));
    }
    expect_done(code, "log in");
  }

  std::string version() {
    VERSION_INFO info;
    expect_done(rpc.exchange_versions("quorate-client", info),
                "ask for its version");
    return fmt::format("{}.{}.{}", info.major, info.minor, info.release);
  }

  int last_message() {
    int last = 0;
    expect_done(rpc.get_message_count(last), "count its messages");
    return last;
  }
};

StockClient::StockClient(const GuiAddress& address, const std::string& password)
    : connection_(std::make_unique<Connection>()) {
  connection_->where = fmt::format("{}:{}", address.host, address.port);
  connection_->connect(address);
  connection_->authorize(password);
}

StockClient::~StockClient() = default;

const std::string& StockClient::where() const {
  return connection_->where;
}

StockState StockClient::state() {
  RPC_CLIENT& rpc = connection_->rpc;
  StockState state;
  state.version = connection_->version();
  CC_STATUS status;
  connection_->expect_done(rpc.get_cc_status(status), "ask for its status");
  state.cpu_suspended = status.task_suspend_reason;
  state.gpu_suspended = status.gpu_suspend_reason;
  state.network_suspended = status.network_suspend_reason;
  Owned<CC_STATE> all;
  connection_->expect_done(rpc.get_state(all), "ask for its state");
  state.projects = read_projects(all);
  Owned<FILE_TRANSFERS> transfers;
  connection_->expect_done(rpc.get_file_transfers(transfers),
                           "ask for its transfers");
  add_transfers(state.projects, transfers);
  state.last_message = connection_->last_message();
  Owned<MESSAGES> messages;
  connection_->expect_done(
      rpc.get_messages(std::max(state.last_message - kMessages, 0), messages),
      "ask for its messages");
  add_messages(state.projects, messages);
  return state;
}

void StockClient::attach(const std::string& master_url,
                         const std::string& authenticator) {
  const std::string tried = "attach it to " + master_url;
  RPC_CLIENT& rpc = connection_->rpc;
  const int code =
      rpc.project_attach(master_url.c_str(), authenticator.c_str(), "");
  if (code == ERR_ALREADY_ATTACHED) return;
  connection_->expect_done(code, tried);
  PROJECT_ATTACH_REPLY reply;
  connection_->expect_done(rpc.project_attach_poll(reply), tried);
  for (int tries = 1; reply.error_num == ERR_IN_PROGRESS && tries < kPolls;
       ++tries) {
    std::this_thread::sleep_for(kPollEvery);
    connection_->expect_done(rpc.project_attach_poll(reply), tried);
  }
  if (reply.error_num != ERR_ALREADY_ATTACHED) {
    connection_->expect_done(reply.error_num, tried);
  }
}

void StockClient::detach(const std::string& master_url) {
  PROJECT project;
  project.master_url[master_url.copy(project.master_url,
                                     sizeof project.master_url - 1)] = 0;
  connection_->expect_done(connection_->rpc.project_op(project, "detach"),
                           "detach it from " + master_url);
}

}  // namespace quorate::client
