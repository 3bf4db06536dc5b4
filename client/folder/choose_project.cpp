#include "client/folder/choose_project.h"

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/transfer/project_address.h"

namespace quorate::client {
namespace {

// Enough to tell a few projects apart, and short enough to type.
constexpr std::size_t kShortDigits = 8;

bool has_url(const Project& project, std::string url) {
  while (!url.empty() && url.back() == '/') url.pop_back();
  return url == project.url || "https://" + url == project.url ||
         "http://" + url == project.url;
}

bool is_meant(const Project& project, const std::string& name) {
  std::size_t mark = name.find('#');
  if (mark != std::string::npos) {
    return has_url(project, name.substr(0, mark)) &&
           matches(name.substr(mark + 1), project.id);
  }
  return has_url(project, name) ||
         (name.size() >= kShortDigits && matches(name, project.id));
}

std::string list_text(const std::vector<Project>& projects) {
  std::string text;
  for (const Project& project : projects) {
    text += fmt::format("{}{} {} at {}", text.empty() ? "" : ", ",
                        fingerprint(project.id).substr(0, kShortDigits),
                        project.statement.name, project.url);
  }
  return text;
}

std::vector<Project> meant_ones(const std::vector<Project>& projects,
                                const std::string& name) {
  if (name.empty()) return projects;
  std::vector<Project> meant;
  for (const Project& project : projects) {
    if (is_meant(project, name)) meant.push_back(project);
  }
  return meant;
}

}  // namespace

Project choose_project(const std::vector<Project>& projects,
                       const std::string& name, const std::string& how) {
  if (projects.empty()) {
    throw Error(
        ErrorKind::usage,
        "no project is attached: attach one with quorate-client attach URL");
  }
  std::vector<Project> meant = meant_ones(projects, name);
  if (meant.size() == 1) return meant.front();
  if (meant.empty()) {
    throw Error(
        ErrorKind::usage,
        fmt::format("\"{}\" is not an attached project; choose one with {}: {}",
                    name, how, list_text(projects)));
  }
  std::string what = name.empty() ? "" : fmt::format(" as \"{}\"", name);
  throw Error(ErrorKind::usage,
              fmt::format("{} projects are attached{}; choose one with {}: {}",
                          meant.size(), what, how, list_text(meant)));
}

}  // namespace quorate::client
