#include "server/doors/boinc/files/download_route.h"

#include "protocol/boinc/names.h"
#include "server/doors/boinc/files/names.h"
#include "server/doors/needed_objects.h"

namespace quorate::boinc {
namespace {

constexpr std::string_view kOctets = "application/octet-stream";

Response not_now(const std::string& name) {
  return error_response(503, ErrorKind::unavailable,
                        "file " + name + ": it is not here now: try again",
                        Seconds(60));
}

void send_file(Project& project, const FindAppFile& find_app_file,
               const std::string& name, Responder responder) {
  if (!is_file_name(name)) {
    return responder.send(error_response(
        404, ErrorKind::denied, "file: no file of this project has that name"));
  }
  if (std::optional<Hash> object = object_of(name)) {
    return send_needed_object(project, *object, std::move(responder),
                              [name](NoObject) { return not_now(name); });
  }
  std::optional<AppFileOnDisk> file = find_app_file(name);
  responder.send(file ? file_response(file->path, kOctets, file->etag)
                      : not_now(name));
}

}  // namespace

void add_download_route(Router& router, Project& project,
                        FindAppFile find_app_file) {
  router.add(Method::get, "/boinc/download/{name}",
             [&project, find_app_file = std::move(find_app_file)](
                 Request& request, Responder responder) {
               send_file(project, find_app_file,
                         std::string(request.path_value("name")),
                         std::move(responder));
             });
}

}  // namespace quorate::boinc
