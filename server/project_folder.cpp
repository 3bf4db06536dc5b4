#include "server/project_folder.h"

#include <fmt/format.h>

#include "base/error.h"
#include "server/http/tls.h"
#include "server/settings.h"

namespace quorate {
namespace {

void expect_new(const ProjectFolder& folder) {
  if (fs::exists(folder.settings())) {
    throw Error(ErrorKind::usage,
                fmt::format("init {}: there is a project already: start it "
                            "with `quorate -C {} serve`",
                            folder.root.string(), folder.root.string()));
  }
  if (fs::exists(folder.root) && !fs::is_empty(folder.root)) {
    throw Error(ErrorKind::usage,
                fmt::format("init {}: the folder is not empty: name a new one",
                            folder.root.string()));
  }
}

std::string host_of(const std::string& url) {
  std::size_t start = url.find("://");
  start = start == std::string::npos ? 0 : start + 3;
  std::size_t end = url.find_first_of(":/", start);
  std::string host = url.substr(
      start, end == std::string::npos ? std::string::npos : end - start);
  return host.empty() ? "localhost" : host;
}

}  // namespace

void make_project_folders(const ProjectFolder& folder) {
  for (const fs::path& path :
       {folder.root, folder.database().parent_path(), folder.objects(),
        folder.temporary(), folder.uploads(), folder.datasets(),
        folder.log().parent_path(), folder.lock().parent_path(),
        folder.keys()}) {
    make_private_folder(path);
  }
}

void create_project(const ProjectFolder& folder, const std::string& name,
                    const std::string& url) {
  expect_new(folder);
  make_project_folders(folder);
  PrivateKey::generate().save(folder.project_key().string());
  PrivateKey::generate().save(folder.house_key().string());
  make_self_signed_certificate({folder.tls_certificate(), folder.tls_key()},
                               host_of(url));
  ServerSettings settings;
  if (!name.empty()) settings.name = name;
  settings.url = url;
  // Last: its presence is what makes the folder a project.
  write_file_durably(folder.settings(), as_bytes(settings_template(settings)));
}

ProjectKeys load_keys(const ProjectFolder& folder) {
  if (!fs::exists(folder.settings())) {
    throw Error(ErrorKind::usage,
                fmt::format("open {}: there is no project here: make one with "
                            "`quorate init {}`, or name its folder with -C",
                            folder.root.string(), folder.root.string()));
  }
  PrivateKey project = PrivateKey::load(folder.project_key().string());
  ProjectId id = project_id_of(project.public_key());
  return {std::move(project), PrivateKey::load(folder.house_key().string()),
          id};
}

}  // namespace quorate
