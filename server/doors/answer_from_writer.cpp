#include "server/doors/answer_from_writer.h"

#include "base/error.h"

namespace quorate {

void answer_from_writer(Project& project, Responder responder,
                        std::function<Response()> job) {
  project.daemons().post([&project, job = std::move(job),
                          responder = std::move(responder)]() mutable {
    Response response;
    try {
      response = job();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      response = error_response(error.kind(), error.what());
    }
    project.writer().after_commit([responder = std::move(responder),
                                   response = std::move(response)]() mutable {
      responder.send(std::move(response));
    });
  });
}

}  // namespace quorate
