// A stock BOINC client, driven through its GUI RPC: what BOINC's manager says
// to it. Behind this header is libboinc, with its error numbers and its
// blocking sockets; nothing else includes BOINC's headers.
//
// Errors of all of it: unavailable when the client cannot be reached or stops
// answering, denied when it refuses us.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace quorate::client {

// Where a client listens for its manager.
struct GuiAddress {
  std::string host = "127.0.0.1";
  int port = 31416;
};

enum class StockTaskState {
  downloading,  // its files, or those of the program
  ready,        // waits for its turn
  running,
  suspended,  // begun, and stands still
  // Nothing more is computed for it:
  uploading,
  uploaded,  // waits to be reported
  failed,
  aborted,
};

// All texts are plain and short (protocol/text.h). Times are seconds since 1970
// by the client's clock, 0 for never.
struct StockTask {
  std::string name;
  StockTaskState state = StockTaskState::ready;
  double fraction_done = 0;    // 0 to 1
  double elapsed_seconds = 0;  // computing
  std::string why;             // it waits, if the client says so
};

struct StockTransfer {
  std::string file;
  bool is_upload = false;
  bool is_moving = false;
  double bytes = 0;  // of the file
  double moved = 0;  // of them
  int failures = 0;
  std::int64_t next_try = 0;
};

struct StockMessage {
  int number = 0;  // counts since the client's start, over all projects
  std::int64_t time = 0;
  bool is_alert = false;  // for the volunteer to act on
  std::string text;
};

struct StockProject {
  std::string url;        // master URL
  std::string name;       // the URL until the project has answered
  std::string user_name;  // empty until then
  std::int64_t host = 0;  // 0 until the project has taken this computer
  double host_credit = 0;
  double user_credit = 0;  // of all computers of this user
  bool is_suspended = false;
  bool takes_no_more_work = false;
  int failures = 0;  // contacts and tasks that failed, in a row
  std::int64_t next_contact = 0;
  std::vector<std::string> apps;  // names
  std::vector<StockTask> tasks;
  std::vector<StockTransfer> transfers;
  std::vector<StockMessage> messages;  // the last ones, oldest first
};

struct StockState {
  std::string version;  // "7.20.5"
  // Why nothing is computed or sent, as a sum of BOINC's numbers
  // (suspension_text); 0: nothing stands in the way.
  int cpu_suspended = 0;
  int gpu_suspended = 0;
  int network_suspended = 0;
  int last_message = 0;  // its number
  std::vector<StockProject> projects;
};

// A connection to one client. Used by one thread.
class StockClient {
 public:
  // password: empty if the client has none.
  StockClient(const GuiAddress& address, const std::string& password);
  ~StockClient();

  const std::string& where() const;  // "127.0.0.1:31416"

  StockState state();

  // Changes nothing if the client has that project already. Throws denied, in
  // the client's words, when it does not take this URL or key. Whether the
  // project takes the client shows later, in state().
  void attach(const std::string& master_url, const std::string& authenticator);
  // The project's tasks and files are gone at once.
  void detach(const std::string& master_url);

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

}  // namespace quorate::client
