#include "client/folder/project.h"

#include <algorithm>

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

// Two lists that one root cannot mean: of one number, or a later one that takes
// a revocation back. A key that it has forgotten speaks no more, either.
bool contradicts(const Keyring& now, const Keyring& before) {
  if (now.number == before.number) return now.keys != before.keys;
  return std::any_of(before.keys.begin(), before.keys.end(),
                     [&](const SigningKey& one) {
                       if (!one.is_revoked) return false;
                       const SigningKey* still = now.find(one.key);
                       return still != nullptr && !still->is_revoked;
                     });
}

}  // namespace

Project open_statement(Bytes sealed) {
  Project project;
  project.statement = quorate::open_statement(sealed);
  project.id = project.statement.keys.project;
  project.sealed = std::move(sealed);
  return project;
}

std::string against_statement(const Project& found, const Project* known,
                              Millis unix_ms) {
  const protocol::ProjectStatement& now = found.statement;
  std::string late = against_clock(now, unix_ms);
  if (!late.empty() || known == nullptr) return late;
  if (found.id != known->id) {
    return fmt::format("expected project {}, found {}", fingerprint(known->id),
                       fingerprint(found.id));
  }
  const protocol::ProjectStatement& before = known->statement;
  // The root's word goes before that of a key which may be stolen.
  const bool is_older = now.keys.number != before.keys.number
                            ? now.keys.number < before.keys.number
                            : now.issued < before.issued;
  if (is_older) {
    return "the statement is older than the one that is known here: somebody "
           "may be showing it again; if its operator says that all is well, "
           "detach from the project and attach again";
  }
  if (contradicts(now.keys, before.keys)) {
    return fmt::format(
        "the project's list of keys, number {}, contradicts list {} that is "
        "known here: whoever made them has the project's root key: ask its "
        "operator before you do anything else",
        now.keys.number, before.keys.number);
  }
  return "";
}

bool changes_exchange(const Project& found, const Project& known) {
  return found.statement.keys != known.statement.keys ||
         found.statement.tls_pin != known.statement.tls_pin;
}

void save_project(const fs::path& file, const Project& project) {
  nlohmann::ordered_json json{{"url", project.url},
                              {"user_name", project.user_name},
                              {"host_name", project.host_name},
                              {"own_keys", project.has_own_keys},
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
    project.has_own_keys = json.value("own_keys", false);
    return project;
  } catch (const nlohmann::json::exception& e) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: {}: attach to the project again",
                            file.string(), e.what()));
  }
}

}  // namespace quorate::client
