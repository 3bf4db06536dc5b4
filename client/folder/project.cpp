#include "client/folder/project.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "protocol/transfer/statement.h"

namespace quorate::client {
namespace {

Bytes bytes_of_hex(const std::string& text) {
  Bytes bytes(text.size() / 2);
  from_hex(text, bytes, "project statement");
  return bytes;
}

}  // namespace

Project open_statement(Bytes sealed) {
  Project project;
  project.statement = quorate::open_statement(sealed);
  project.id = project_id_of(project.statement.key);
  project.sealed = std::move(sealed);
  return project;
}

void save_project(const fs::path& file, const Project& project) {
  nlohmann::ordered_json json{{"url", project.url},
                              {"user_name", project.user_name},
                              {"host_name", project.host_name},
                              {"statement", to_hex(project.sealed)}};
  write_file_durably(file, as_bytes(json.dump(1)), 0600);
}

Project load_project(const fs::path& file) {
  std::string text = read_text_file(file, 1 << 20);
  try {
    nlohmann::json json = nlohmann::json::parse(text);
    Project project =
        open_statement(bytes_of_hex(json.at("statement").get<std::string>()));
    json.at("url").get_to(project.url);
    json.at("user_name").get_to(project.user_name);
    project.host_name = json.value("host_name", "");
    return project;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: {}: attach to the project again",
                            file.string(), e.what()));
  }
}

}  // namespace quorate::client
