#include "server/cli/support/client.h"

#include <cerrno>
#include <optional>

#include <curl/curl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"

#include <stdlib.h>

namespace quorate {
namespace {

using nlohmann::json;

struct CurlDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

struct SocketReply {
  long status = 0;
  std::string body;
};

std::size_t append(char* data, std::size_t size, std::size_t count,
                   void* target) {
  static_cast<std::string*>(target)->append(data, size * count);
  return size * count;
}

// Names a socket with a path that fits into sockaddr_un: through a link to its
// folder, if need be. The link is in a folder that nobody else can write to.
class ShortSocketPath {
 public:
  explicit ShortSocketPath(const fs::path& socket) : path_(socket.string()) {
    if (path_.size() < sizeof(sockaddr_un::sun_path)) return;
    std::string folder =
        (fs::temp_directory_path() / "quorate-XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw_errno("make " + folder);
    folder_ = folder;
    const fs::path link = folder_ / "run";
    std::error_code problem;
    fs::create_directory_symlink(fs::absolute(socket.parent_path()), link,
                                 problem);
    if (problem) {
      fs::remove_all(folder_, problem);
      throw Error(ErrorKind::io, fmt::format("make the link {}: {}",
                                             link.string(), problem.message()));
    }
    path_ = (link / socket.filename()).string();
  }
  ~ShortSocketPath() {
    std::error_code ignored;
    if (!folder_.empty()) fs::remove_all(folder_, ignored);
  }
  ShortSocketPath(const ShortSocketPath&) = delete;
  ShortSocketPath& operator=(const ShortSocketPath&) = delete;
  const std::string& get() const { return path_; }

 private:
  std::string path_;
  fs::path folder_;
};

// nullopt when nobody listens.
std::optional<SocketReply> post(const fs::path& socket, const std::string& path,
                                const std::string& body) {
  ShortSocketPath shortened(socket);
  std::unique_ptr<CURL, CurlDeleter> curl(curl_easy_init());
  if (!curl) throw Error(ErrorKind::io, "libcurl: out of memory");
  SocketReply reply;
  std::string url = "http://localhost" + path;
  curl_easy_setopt(curl.get(), CURLOPT_UNIX_SOCKET_PATH,
                   shortened.get().c_str());
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE,
                   static_cast<long>(body.size()));
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &reply.body);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  CURLcode code = curl_easy_perform(curl.get());
  if (code == CURLE_COULDNT_CONNECT) return std::nullopt;
  if (code != CURLE_OK) {
    throw Error(ErrorKind::unavailable,
                fmt::format("ask the server at {}: {}", socket.string(),
                            curl_easy_strerror(code)));
  }
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &reply.status);
  return reply;
}

// Throws denied if another user's project does not let this one in.
bool is_there(const fs::path& socket) {
  if (::access(socket.c_str(), W_OK) == 0) return true;
  if (errno != EACCES) return false;
  throw Error(ErrorKind::denied,
              fmt::format("{}: you may not ask this project: its owner can "
                          "name you in operators or guests in quorate.toml, "
                          "and start the server again",
                          socket.string()));
}

ErrorKind kind_named(const std::string& name) {
  for (ErrorKind kind :
       {ErrorKind::unavailable, ErrorKind::corrupt, ErrorKind::denied,
        ErrorKind::unsupported, ErrorKind::usage}) {
    if (name_of(kind) == name) return kind;
  }
  return ErrorKind::io;
}

}  // namespace

AdminClient::~AdminClient() = default;

json AdminClient::call(const std::string& command, const json& arguments) {
  fs::path socket = ProjectFolder{root_}.admin_socket();
  if (!project_ && is_there(socket)) {
    if (auto reply = post(socket, "/admin/" + command, arguments.dump())) {
      is_served_ = true;
      json body = json::parse(reply->body, nullptr, false);
      if (reply->status == 200) return body;
      if (!body.is_object()) body = json::object();
      throw Error(kind_named(body.value("kind", "")),
                  body.value("message", "the server answered status " +
                                            std::to_string(reply->status)));
    }
  }
  // Not the moment to open the project: the server may be starting again.
  if (is_served_) {
    throw Error(ErrorKind::unavailable,
                "the server stopped in the middle: run the command again");
  }
  return call_here(command, arguments);
}

json AdminClient::call_here(const std::string& command, const json& arguments) {
  if (!project_) {
    load_keys(ProjectFolder{root_});  // says so if there is no project
    project_ = std::make_unique<Project>(
        root_, load_settings(ProjectFolder{root_}.settings()), Roles{},
        [](const std::string&) {});
  }
  return AdminService(*project_).call(command, arguments);
}

}  // namespace quorate
