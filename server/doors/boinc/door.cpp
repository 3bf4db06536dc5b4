#include "server/doors/boinc/door.h"

#include "server/apps/shipped_worker.h"
#include "server/doors/boinc/files/download_route.h"
#include "server/doors/boinc/files/upload_key.h"

namespace quorate::boinc {

BoincDoor::BoincDoor(Project& project, bool is_tls)
    : project_(project),
      key_(open_upload_key(project.folder().boinc_upload_key())),
      apps_(project.folder(), project.state().clock),
      accounts_(project.state(), key_),
      account_routes_(project, accounts_, is_tls,
                      [this] { return apps_.current()->platforms(); }),
      scheduler_(project, accounts_, apps_, key_, is_tls),
      upload_(project.uploads(), project.state().open_results, key_) {}

void BoincDoor::start(const Hash& worker) {
  publish_shipped_worker(project_.folder(), worker);
}

void BoincDoor::add_routes(Router& router) {
  account_routes_.add_routes(router);
  scheduler_.add_routes(router);
  upload_.add_routes(router);
  add_download_route(
      router, project_,
      [this](std::string_view name) -> std::optional<AppFileOnDisk> {
        std::shared_ptr<const AppVersions> versions = apps_.current();
        const AppFile* file = versions->file(name);
        if (file == nullptr) return std::nullopt;
        return AppFileOnDisk{versions->path_of(*file), file->md5.hex()};
      });
}

}  // namespace quorate::boinc
