#include "server/doors/needed_objects.h"

#include <fmt/format.h>

#include "server/doors/answer_from_writer.h"

namespace quorate {
namespace {

constexpr std::string_view kOctets = "application/octet-stream";

Response sealed_response(const Hash& hash, Bytes sealed) {
  Response response;
  response.content_type = kOctets;
  response.etag = fmt::format("\"{}\"", hash.hex());
  response.body = std::move(sealed);
  return response;
}

}  // namespace

void send_needed_object(Project& project, const Hash& hash, Responder responder,
                        std::function<Response(NoObject)> refuse) {
  ProjectState& state = project.state();
  if (!state.open_results.names(hash)) {
    return responder.send(refuse(NoObject::unneeded));
  }
  if (state.objects.contains(hash)) {
    return responder.send(
        file_response(state.objects.path(hash), kOctets, hash.hex()));
  }
  answer_from_writer(project, std::move(responder),
                     [&state, hash, refuse = std::move(refuse)] {
                       std::optional<Bytes> sealed =
                           state.store.sealed_task(hash);
                       return sealed ? sealed_response(hash, std::move(*sealed))
                                     : refuse(NoObject::lost);
                     });
}

}  // namespace quorate
