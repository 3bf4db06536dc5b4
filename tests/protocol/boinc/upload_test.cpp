#include "protocol/boinc/upload.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "protocol/boinc/signatures.h"
#include "tests/protocol/boinc/samples.h"

namespace quorate::boinc {
namespace {

std::string replaced(std::string text, const std::string& what,
                     const std::string& with) {
  std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

FileUpload upload_in(const std::string& text) {
  std::optional<UploadRequest> request = parse_upload_head(as_bytes(text));
  REQUIRE(request);
  return std::get<FileUpload>(*request);
}

std::string refusal_of(const std::string& text) {
  try {
    parse_upload_head(as_bytes(text));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a client's upload is read up to its bytes") {
  std::string text = golden("upload.bin");
  FileUpload upload = upload_in(text);
  CHECK(upload.name == "wu_00001_0_0");
  CHECK(upload.max_nbytes == 50000000);
  CHECK(upload.nbytes == 1055);
  CHECK(upload.md5.hex() == "db7817867033d801afc5a62eb5010f20");
  CHECK(upload.offset == 0);
  CHECK(upload.permission.hex().starts_with("4954fcdbbfbed7708f973d"));
  // The file's own bytes may look like the head.
  CHECK(text.substr(upload.head_bytes) == "<data>\nfirst bytes");
}

TEST_CASE("a question for a file's size is read") {
  auto request = parse_upload_head(as_bytes(golden("file_size.xml")));
  REQUIRE(request);
  CHECK(std::get<FileSizeQuestion>(*request).name == "wu_00002_0_0");
}

TEST_CASE("a head that has not come whole waits for more") {
  std::string upload = golden("upload.bin");
  std::size_t head = upload_in(upload).head_bytes;
  for (std::size_t size = 0; size < head; ++size) {
    CAPTURE(size);
    CHECK_FALSE(parse_upload_head(as_bytes(upload.substr(0, size))));
  }
  CHECK(upload_in(upload.substr(0, head)).head_bytes == head);

  std::string question = golden("file_size.xml");
  std::size_t end = question.find("</data_server_request>") + 22;
  for (std::size_t size = 0; size < end; ++size) {
    CAPTURE(size);
    CHECK_FALSE(parse_upload_head(as_bytes(question.substr(0, size))));
  }
}

TEST_CASE("a head without end is refused") {
  CHECK_FALSE(parse_upload_head(as_bytes(std::string(4095, 'x'))));
  CHECK(refusal_of(std::string(4096, 'x')) ==
        "upload request: no end of the head in its first 4096 bytes");
  CHECK(refusal_of(std::string(4096, 'x') + golden("upload.bin")) !=
        "no error");
}

TEST_CASE("an upload out of bounds is refused") {
  std::string text = golden("upload.bin");
  CHECK(refusal_of(replaced(text, "<nbytes>1055", "<nbytes>50000001")) ==
        "upload request: \"wu_00001_0_0\": expected offset 0 <= nbytes "
        "50000001 <= max_nbytes 50000000");
  CHECK(refusal_of(replaced(text, "<offset>0", "<offset>1056"))
            .find("offset 1056 <= nbytes 1055") != std::string::npos);
  CHECK(upload_in(replaced(text, "<offset>0", "<offset>1055")).offset == 1055);
  CHECK(refusal_of(replaced(text, "<offset>0", "<offset>-1"))
            .find("<offset>: expected a whole number") != std::string::npos);
  CHECK(refusal_of(replaced(text, "<name>wu_", "<name>../wu_"))
            .find("<name>: expected a name") != std::string::npos);
  CHECK(refusal_of(replaced(text, "<md5_cksum>d", "<md5_cksum>g"))
            .starts_with("md5_cksum: not a hexadecimal digit"));
  CHECK(refusal_of(replaced(text, ".</xml_signature>", "</xml_signature>"))
            .starts_with("permission to upload: "));
  CHECK(refusal_of(replaced(text, "<offset>0</offset>\n", ""))
            .find("<offset> is missing") != std::string::npos);
  CHECK(refusal_of(replaced(text, "data_server_request", "other_request")) !=
        "no error");
}

TEST_CASE("replies have the words that clients know") {
  UploadReply size;
  size.file_size = 1000000;
  CHECK(write(size) ==
        "<data_server_reply>\n"
        "  <status>0</status>\n"
        "  <file_size>1000000</file_size>\n"
        "</data_server_reply>\n");
  CHECK(write(UploadReply{UploadStatus::never, {}, "no <permission>\n"}) ==
        "<data_server_reply>\n"
        "  <status>-1</status>\n"
        "  <message>no &lt;permission&gt;?</message>\n"
        "</data_server_reply>\n");
  CHECK(write(UploadReply{UploadStatus::later, {}, ""})
            .find("<status>1</status>") != std::string::npos);
}

}  // namespace quorate::boinc
