#include "protocol/boinc/upload.h"

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/boinc/xml_reader.h"
#include "protocol/boinc/xml_writer.h"
#include "protocol/text.h"

namespace quorate::boinc {
namespace {

using Element = const XmlElement&;

constexpr std::string_view kMessage = "upload request";
constexpr const char* kRoot = "data_server_request";
constexpr std::string_view kEnd = "</data_server_request>";
constexpr std::string_view kData = "<data>\n";

void read_permission(FileUpload& upload, Element e) {
  upload.permission = parse_upload_permission(e.raw());
}
void read_md5(FileUpload& upload, Element e) {
  upload.md5 = parse_hex<Md5Hash>(e.raw(), "md5_cksum");
}

constexpr Field<FileUpload> kFileInfo[] = {
    {"name", file_name<&FileUpload::name>, 1},
    {"xml_signature", read_permission, 1},
    {"max_nbytes", count<&FileUpload::max_nbytes>, 1}};
constexpr Field<FileUpload> kFileUpload[] = {
    {"file_info", inside<kFileInfo>, 1},
    {"nbytes", count<&FileUpload::nbytes>, 1},
    {"md5_cksum", read_md5, 1},
    {"offset", count<&FileUpload::offset>, 1}};
constexpr Field<FileUpload> kUploadRequest[] = {
    {"file_upload", inside<kFileUpload>, 1}};
constexpr Field<FileSizeQuestion> kSizeRequest[] = {
    {"get_file_size", file_name<&FileSizeQuestion::name>, 1}};

FileUpload parse_upload(std::string_view head) {
  // The client never closes what it has opened.
  std::string whole = fmt::format("{}</file_upload>{}", head, kEnd);
  XmlDocument document(as_bytes(whole), kMessage, kRoot);
  FileUpload upload = read_as(document.root(), kUploadRequest);
  if (upload.nbytes > upload.max_nbytes || upload.offset > upload.nbytes) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: \"{}\": expected offset {} <= nbytes {} <= "
                            "max_nbytes {}",
                            kMessage, upload.name, upload.offset, upload.nbytes,
                            upload.max_nbytes));
  }
  upload.head_bytes = head.size() + kData.size();
  return upload;
}

}  // namespace

std::optional<UploadRequest> parse_upload_head(ByteView prefix) {
  std::string_view text = as_text(prefix).substr(0, kMaxUploadHead);
  if (std::size_t data = text.find(kData); data != std::string_view::npos) {
    return parse_upload(text.substr(0, data));
  }
  if (std::size_t end = text.find(kEnd); end != std::string_view::npos) {
    XmlDocument document(as_bytes(text.substr(0, end + kEnd.size())), kMessage,
                         kRoot);
    return read_as(document.root(), kSizeRequest);
  }
  if (prefix.size() < kMaxUploadHead) return std::nullopt;
  throw Error(ErrorKind::corrupt,
              fmt::format("{}: no end of the head in its first {} bytes",
                          kMessage, kMaxUploadHead));
}

std::string write(const UploadReply& reply) {
  XmlWriter xml;
  xml.group("data_server_reply", [&] {
    xml.element("status", static_cast<int>(reply.status));
    if (reply.file_size) xml.element("file_size", *reply.file_size);
    if (!reply.message.empty()) {
      xml.element("message", protocol::plain_text(reply.message, kMaxReason));
    }
  });
  return xml.take();
}

}  // namespace quorate::boinc
