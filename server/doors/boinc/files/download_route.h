// GET /boinc/download/NAME: where BOINC clients fetch what their tasks need.
//
// Nobody is asked who they are: stock clients have no way to say it here. So
// anybody who knows the name of a file may read it; of objects only those that
// a result in progress needs, and those only as long as it is. Names are
// hashes, which nobody guesses; but they stand in sealed units and in the
// public ledger. A project with this door shows the model in training, and the
// samples that are being trained on, to everybody. Updates, headers and the
// objects of other results are never read here.
//
// A client gives a task up at a 404. So what is not here, or not yet, is a 503,
// after which it tries again; only what can be no file's name is a 404.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/router.h"
#include "server/project/project.h"

namespace quorate::boinc {

// A file of an app version.
struct AppFileOnDisk {
  fs::path path;
  std::string etag;  // without quotes; of its content, which never changes
};
using FindAppFile =
    std::function<std::optional<AppFileOnDisk>(std::string_view name)>;

void add_download_route(Router& router, Project& project,
                        FindAppFile find_app_file);

}  // namespace quorate::boinc
