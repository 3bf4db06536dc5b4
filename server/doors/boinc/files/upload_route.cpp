#include "server/doors/boinc/files/upload_route.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "protocol/native/messages.h"
#include "server/doors/boinc/files/names.h"
#include "server/judging/reports.h"

namespace quorate::boinc {
namespace {

constexpr std::uint64_t kMaxBody = std::uint64_t{1} << 36;
// Of a file that is refused. A client that has more to send breaks off, asks
// for the size when it comes again, and is refused then.
constexpr std::uint64_t kMaxDropped = 64 << 20;

UploadReply never(std::string why) {
  return {UploadStatus::never, {}, std::move(why)};
}
UploadReply later(std::string why) {
  return {UploadStatus::later, {}, std::move(why)};
}

void send(Responder responder, const UploadReply& reply) {
  responder.send(text_response(200, "text/xml", write(reply)));
}

// To the client that sends nbytes.
UploadReply reply_to(const UploadRefusal& refusal, std::uint64_t nbytes) {
  using Why = UploadRefusal::Why;
  switch (refusal.why) {
    case Why::is_here:
      // It did not hear of it.
      return refusal.offset == nbytes ? UploadReply{} : never(refusal.message);
    case Why::too_large:
      return never(refusal.message);
    case Why::no_space:
    case Why::busy:
    case Why::gap:
      break;
  }
  return later(refusal.message);
}

// What is done with the bytes that come next.
struct Head {
  Bytes bytes;
};
struct Answered {
  UploadReply reply;
  std::uint64_t dropped = 0;
};
struct HeaderFile {
  FileUpload upload;
  ResultId result = 0;
  Bytes bytes;
};
struct UpdateFile {
  FileUpload upload;
  IncomingPayload payload;
};
using State = std::variant<Head, Answered, HeaderFile, UpdateFile>;

UploadReply store(Uploads& uploads, const HeaderFile& file) {
  if (md5(file.bytes) != file.upload.md5) {
    return never(file.upload.name + ": the bytes do not have this MD5");
  }
  uploads.keep_header(file.result, file.bytes);
  return {};
}

UploadReply store(Uploads& uploads, UpdateFile& file) {
  if (uploads.keep_durably(std::move(file.payload), file.upload.md5)) return {};
  std::string why = file.upload.name + ": the bytes do not have this MD5";
  return file.upload.offset == 0 ? never(why) : later(why + ": send it anew");
}

}  // namespace

class UploadRoute::Sink final : public BodySink {
 public:
  explicit Sink(UploadRoute& route) : route_(route) {}

  void write(ByteView bytes) override {
    if (std::holds_alternative<Head>(state_)) {
      read_head(bytes);
    } else {
      take(bytes);
    }
  }

  void finish(Request&, Responder responder) override {
    if (std::holds_alternative<Head>(state_)) {
      send(std::move(responder), never("the request ends within its head"));
    } else if (auto* answered = std::get_if<Answered>(&state_)) {
      send(std::move(responder), answered->reply);
    } else if (std::uint64_t missing = missing_bytes(); missing > 0) {
      send(std::move(responder),
           later(fmt::format("{} bytes are missing", missing)));
    } else {
      keep(std::move(responder));
    }
  }

 private:
  // Collects bytes until the head is whole; the others are the file's.
  void read_head(ByteView bytes) {
    Bytes& head = std::get<Head>(state_).bytes;
    std::size_t before = head.size();
    ByteView next =
        bytes.first(std::min(bytes.size(), kMaxUploadHead - before));
    head.insert(head.end(), next.begin(), next.end());
    std::optional<UploadRequest> request;
    try {
      request = parse_upload_head(head);
    } catch (const Error& error) {
      return answer(never(error.what()));
    }
    if (!request) return;
    if (auto* question = std::get_if<FileSizeQuestion>(&*request)) {
      return answer(size_of(*question));
    }
    const FileUpload upload = std::get<FileUpload>(*request);
    state_ = begin(upload);
    take(bytes.subspan(upload.head_bytes - before));
  }

  UploadReply size_of(const FileSizeQuestion& question) {
    std::optional<Output> output = output_of(route_.key_, question.name);
    if (!output) return never(question.name + ": not a file of this project");
    std::optional<OpenResult> open = route_.open_results_.find(output->result);
    if (!open) return not_open(question.name, output->result);
    if (output->kind == OutputKind::header) {
      std::optional<Bytes> header = route_.uploads_.header(output->result);
      return {UploadStatus::done, header ? header->size() : 0, {}};
    }
    // Said before the volunteer has sent anything.
    if (open->uploaded.is_zero() && route_.uploads_.is_full(*open)) {
      return later("the project's disk is nearly full");
    }
    return {UploadStatus::done, route_.uploads_.offset(*open), {}};
  }

  State begin(const FileUpload& upload) {
    std::optional<Output> output = output_of(route_.key_, upload.name);
    if (!output) {
      return Answered{never(upload.name + ": not a file of this project")};
    }
    if (!is_permitted(route_.key_, upload.name, upload.max_nbytes,
                      upload.permission)) {
      return Answered{
          never(upload.name + ": the permission to upload is not ours")};
    }
    std::optional<OpenResult> open = route_.open_results_.find(output->result);
    if (!open) return Answered{not_open(upload.name, output->result)};
    return output->kind == OutputKind::header ? begin_header(upload, open->id)
                                              : begin_update(upload, *open);
  }

  UploadReply not_open(const std::string& name, ResultId result) const {
    // Whoever knows the name was sent the result.
    if (!route_.open_results_.is_closed(result)) {
      return later(on_hold(result).what());
    }
    return never(name + ": its task has ended or is unknown");
  }

  static State begin_header(const FileUpload& upload, ResultId result) {
    if (upload.nbytes > protocol::kMaxSignedHeader) {
      return Answered{never(
          fmt::format("{}: {} bytes, but a header has at most {}", upload.name,
                      upload.nbytes, protocol::kMaxSignedHeader))};
    }
    if (upload.offset != 0) {
      return Answered{later(upload.name + ": it must be sent in one piece")};
    }
    return HeaderFile{upload, result, {}};
  }

  State begin_update(const FileUpload& upload, const OpenResult& open) {
    auto opened = route_.uploads_.open(open, upload.offset, upload.nbytes);
    if (auto* refusal = std::get_if<UploadRefusal>(&opened)) {
      return Answered{reply_to(*refusal, upload.nbytes)};
    }
    return UpdateFile{upload, std::move(std::get<IncomingPayload>(opened))};
  }

  std::uint64_t missing_bytes() const {
    if (auto* header = std::get_if<HeaderFile>(&state_)) {
      return header->upload.nbytes - header->bytes.size();
    }
    const IncomingPayload& payload = std::get<UpdateFile>(state_).payload;
    return payload.size() - payload.offset();
  }

  void take(ByteView bytes) {
    if (auto* answered = std::get_if<Answered>(&state_)) {
      return drop(*answered, bytes);
    }
    if (bytes.size() > missing_bytes()) {
      return answer(never("more bytes than the head announces"));
    }
    if (auto* header = std::get_if<HeaderFile>(&state_)) {
      header->bytes.insert(header->bytes.end(), bytes.begin(), bytes.end());
    } else {
      std::get<UpdateFile>(state_).payload.write(bytes);
    }
  }

  static void drop(Answered& answered, ByteView bytes) {
    answered.dropped += bytes.size();
    if (answered.dropped > kMaxDropped) {
      throw Error(ErrorKind::denied,
                  "upload: refused: " + answered.reply.message);
    }
  }

  void answer(UploadReply reply) { state_ = Answered{std::move(reply)}; }

  void keep(Responder responder) {
    route_.storing_.post([uploads = &route_.uploads_, state = std::move(state_),
                          responder = std::move(responder)]() mutable {
      UploadReply reply;
      try {
        auto* header = std::get_if<HeaderFile>(&state);
        reply = header ? store(*uploads, *header)
                       : store(*uploads, std::get<UpdateFile>(state));
      } catch (const std::exception& error) {
        log_error("boinc_upload_failed", {{"error", error.what()}});
        reply = later("the server failed; its log says why");
      }
      send(std::move(responder), reply);
    });
  }

  UploadRoute& route_;
  State state_;
};

void UploadRoute::add_routes(Router& router) {
  router.add_upload(
      Method::post, "/boinc/file_upload_handler",
      [this](Request&) -> std::variant<std::unique_ptr<BodySink>, Response> {
        return std::make_unique<Sink>(*this);
      },
      kMaxBody);
}

}  // namespace quorate::boinc
