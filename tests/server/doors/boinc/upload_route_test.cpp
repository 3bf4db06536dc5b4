#include "server/doors/boinc/files/upload_route.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "protocol/native/messages.h"
#include "server/doors/boinc/files/names.h"
#include "server/http/server.h"
#include "tests/support/raw_http.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate::boinc {
namespace {

using test::RawHttp;
using test::RawResponse;

const auto kKey = test::filled<UploadKey>('k');
constexpr std::uint64_t kMax = 100000;

// What a client says of a file; as it should be, until a test changes it.
struct File {
  File(std::string file_name, std::string content)
      : name(std::move(file_name)),
        bytes(std::move(content)),
        nbytes(bytes.size()),
        md5_hex(md5(as_bytes(bytes)).hex()),
        permission(permit_upload(kKey, name, kMax)) {}

  std::string head() const {
    std::string lines = write(permission);
    lines.pop_back();  // clients leave out the newline after the dot
    return fmt::format(
        "<data_server_request>\n"
        "    <core_client_major_version>7</core_client_major_version>\n"
        "<file_upload>\n<file_info>\n<name>{}</name>\n<xml_signature>\n{}"
        "</xml_signature>\n<max_nbytes>{}</max_nbytes>\n</file_info>\n"
        "<nbytes>{}</nbytes>\n<md5_cksum>{}</md5_cksum>\n<offset>{}</offset>\n"
        "<data>\n",
        name, lines, max_nbytes, nbytes, md5_hex, offset);
  }
  std::string request() const { return head() + bytes.substr(offset); }

  std::string name;
  std::string bytes;
  std::uint64_t max_nbytes = kMax;
  std::uint64_t nbytes;
  std::string md5_hex;
  UploadPermission permission;
  std::uint64_t offset = 0;
};

// What result 5 makes.
const std::string kUpdate = output_name(kKey, {5, OutputKind::update});
const std::string kHeader = output_name(kKey, {5, OutputKind::header});

// Its updates are longer than any that the tests send.
TrainingTask wide_task() {
  TrainingTask task = test::sample_task();
  task.model.widths = {2, 10000, 2};
  return task;
}

File update(const std::string& content = std::string(20000, 'u')) {
  return File(kUpdate, content);
}
File header(const std::string& content = std::string(500, 'h')) {
  return File(kHeader, content);
}

std::string question(const std::string& name) {
  return "<data_server_request>\n<get_file_size>" + name +
         "</get_file_size>\n</data_server_request>\n";
}

std::string between(const std::string& text, const std::string& open,
                    const std::string& close) {
  std::size_t at = text.find(open);
  if (at == std::string::npos) return "";
  at += open.size();
  return text.substr(at, text.find(close, at) - at);
}

struct Reply {
  explicit Reply(const RawResponse& response) {
    CHECK(response.status == 200);  // whatever is said
    CHECK(response.body.starts_with("<data_server_reply>\n"));
    std::string found = between(response.body, "<status>", "</status>");
    REQUIRE_FALSE(found.empty());
    status = std::stoi(found);
    file_size = between(response.body, "<file_size>", "</file_size>");
    message = between(response.body, "<message>", "</message>");
  }
  int status = 99;
  std::string file_size;
  std::string message;
};

// Result 5 is in progress.
class Door {
 public:
  explicit Door(std::uint64_t reserve = 0)
      : uploads(folder / "uploads", reserve, open_results, objects) {
    OpenResult result;
    result.id = 5;
    result.task = std::make_shared<const TrainingTask>(wide_task());
    open_results.add(result);
    Router routes;
    route.add_routes(routes);
    port_ = http_.listen({}, std::move(routes));
    http_.start();
  }
  ~Door() { http_.stop(Seconds(0)); }

  Reply post(const std::string& body) {
    RawHttp http(port_);
    return post(http, body);
  }
  Reply post(RawHttp& http, const std::string& body) {
    http.send(begin(body.size()) + body);
    return Reply(http.receive());
  }
  // A request whose body does not come whole.
  void break_off(const std::string& body, std::size_t sent) {
    RawHttp http(port_);
    http.send(begin(body.size()) + body.substr(0, sent));
    http.finish();
    http.receive_all();
  }
  static std::string begin(std::size_t length) {
    return fmt::format(
        "POST /boinc/file_upload_handler HTTP/1.1\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        "Content-Length: {}\r\n\r\n",
        length);
  }
  std::uint16_t port() const { return port_; }

  // What the route does with a body, piece by piece, without its end.
  std::unique_ptr<BodySink> sink() {
    Router routes;
    route.add_routes(routes);
    Request request;
    return std::move(std::get<std::unique_ptr<BodySink>>(
        routes.routes().at(0).open_sink(request)));
  }
  OpenResult result() { return open_results.find(5).value(); }
  std::uint64_t offset() { return uploads.offset(result()); }

  test::TemporaryFolder folder;
  OpenResults open_results;
  ObjectStore objects{folder / "objects", folder / "tmp"};
  Uploads uploads;
  UploadRoute route{uploads, open_results, kKey};

 private:
  HttpServer http_{{}};
  std::uint16_t port_ = 0;
};

}  // namespace

TEST_CASE("what a task made is kept before its client is told so") {
  Door door;
  CHECK(door.post(question(kUpdate)).file_size == "0");
  CHECK(door.post(update().request()).status == 0);
  const Hash hash = sha256(as_bytes(update().bytes));
  CHECK(door.result().uploaded == hash);
  CHECK(fs::file_size(door.folder / "uploads/5.whole") == 20000);
  CHECK(read_text_file(door.folder / "uploads/5.payload") == hash.hex());
  CHECK_FALSE(door.objects.contains(hash));  // nobody has signed for it
  Reply size = door.post(question(kUpdate));
  CHECK(size.status == 0);
  CHECK(size.file_size == "20000");

  CHECK(door.post(question(kHeader)).file_size == "0");
  CHECK(door.post(header().request()).status == 0);
  CHECK(door.uploads.header(5) == Bytes(500, 'h'));
  CHECK(door.post(question(kHeader)).file_size == "500");
}

TEST_CASE("an upload that broke off goes on where it ended") {
  Door door;
  File file = update();
  door.break_off(file.request(), file.head().size() + 7000);
  file.offset = std::stoul(door.post(question(kUpdate)).file_size);
  CHECK(file.offset == 6999);
  CHECK(door.post(file.request()).status == 0);
  CHECK(door.result().uploaded == sha256(as_bytes(file.bytes)));
}

TEST_CASE("a body that ends too early is asked for again") {
  Door door;
  File file = update();
  std::string request = file.request();
  request.resize(request.size() - 10);
  CHECK(door.post(request).status == 1);
  CHECK(door.result().uploaded.is_zero());
  CHECK(door.offset() == 19989);
  std::string short_header = header().request();
  short_header.pop_back();
  CHECK(door.post(short_header).status == 1);
  CHECK_FALSE(door.uploads.header(5).has_value());
}

// As after a kill between the last byte and the object.
TEST_CASE("bytes that were whole when the server died are finished") {
  Door door;
  File file = update();
  door.sink()->write(as_bytes(file.request()));
  file.offset = std::stoul(door.post(question(kUpdate)).file_size);
  CHECK(file.offset == 19999);
  CHECK(door.post(file.request()).status == 0);
  CHECK(door.result().uploaded == sha256(as_bytes(file.bytes)));
}

TEST_CASE("a file whose MD5 is another is sent anew once, no more") {
  Door door;
  File file = update();
  File other = update(std::string(20000, 'x'));
  door.sink()->write(as_bytes(other.request().substr(0, 7000)));
  file.offset = door.offset();
  REQUIRE(file.offset > 0);
  CHECK(door.post(file.request()).status == 1);
  CHECK(door.post(question(kUpdate)).file_size == "0");
  file.offset = 0;
  file.md5_hex = other.md5_hex;
  CHECK(door.post(file.request()).status == -1);
  CHECK(door.offset() == 0);
  CHECK(door.result().uploaded.is_zero());
  CHECK(door.post(update().request()).status == 0);

  File wrong = header();
  wrong.md5_hex = other.md5_hex;
  CHECK(door.post(wrong.request()).status == -1);
  CHECK_FALSE(door.uploads.header(5).has_value());
}

TEST_CASE("a payload that is whole is never changed; a header may be") {
  Door door;
  REQUIRE(door.post(update().request()).status == 0);
  REQUIRE(door.post(header().request()).status == 0);
  // The answer was lost.
  CHECK(door.post(update().request()).status == 0);
  CHECK(door.post(header().request()).status == 0);
  CHECK(door.post(update(std::string(300, 'x')).request()).status == -1);
  // Its task was done again, with another key.
  CHECK(door.post(header(std::string(500, 'x')).request()).status == 0);
  door.post(update(std::string(20000, 'x')).request());
  CHECK(door.result().uploaded == sha256(as_bytes(update().bytes)));
  CHECK(door.uploads.header(5) == Bytes(500, 'x'));
  CHECK_FALSE(fs::exists(door.folder / "uploads/5.part"));
}

TEST_CASE("one upload of a file at a time") {
  Door door;
  std::unique_ptr<BodySink> first = door.sink();
  first->write(as_bytes(update().request().substr(0, 7000)));
  CHECK(door.post(update().request()).status == 1);
  first.reset();
  CHECK(door.post(update().request()).status == 0);
}

TEST_CASE("a file that nobody permitted is refused") {
  Door door;
  File longer = update();
  longer.max_nbytes = kMax + 1;
  File renamed = update();
  renamed.permission = permit_upload(kKey, "r6_update", kMax);
  File as_header = update();
  as_header.permission = header().permission;
  File other_key = update();
  other_key.permission = permit_upload(UploadKey{}, kUpdate, kMax);
  for (const File& file : {longer, renamed, as_header, other_key}) {
    Reply reply = door.post(file.request());
    CHECK(reply.status == -1);
    CHECK(reply.message == kUpdate + ": the permission to upload is not ours");
  }
  CHECK(door.offset() == 0);
  CHECK(fs::is_empty(door.folder / "uploads"));
}

TEST_CASE("names that are none of ours are refused") {
  Door door;
  for (const std::string& name :
       {"../" + kUpdate, kUpdate + "/..", std::string("/etc/passwd"),
        std::string("r5"), "r0" + kUpdate.substr(1), std::string("unit-00"),
        kUpdate.substr(0, kUpdate.size() - 1), kUpdate + ".part"}) {
    CAPTURE(name);
    CHECK(door.post(File(name, "bytes").request()).status == -1);
    CHECK(door.post(question(name)).status == -1);
  }
  CHECK(fs::is_empty(door.folder / "uploads"));
}

// Else whoever has another result of the unit could ask what its partners do.
TEST_CASE("a guessed name tells nothing of what there is") {
  Door door;
  REQUIRE(door.post(update().request()).status == 0);
  REQUIRE(door.post(header().request()).status == 0);
  const UploadKey guessed;
  for (ResultId result : {5, 6}) {  // 6 is unknown
    for (OutputKind kind : {OutputKind::header, OutputKind::update}) {
      const std::string name = output_name(guessed, {result, kind});
      File file(name, "bytes");
      for (const std::string& body : {question(name), file.request()}) {
        Reply reply = door.post(body);
        CHECK(reply.status == -1);
        CHECK(reply.file_size.empty());
        CHECK(reply.message == name + ": not a file of this project");
      }
    }
  }
}

TEST_CASE("a result that is over or unknown takes nothing") {
  Door door;
  const std::string other = output_name(kKey, {6, OutputKind::update});
  Reply unknown = door.post(File(other, "bytes").request());
  CHECK(unknown.status == -1);
  CHECK(unknown.message == other + ": its task has ended or is unknown");
  CHECK(door.post(question(other)).status == -1);
  door.open_results.remove(5);
  for (const File& file : {update(), header()}) {
    CHECK(door.post(file.request()).status == -1);
    CHECK(door.post(question(file.name)).status == -1);
  }
}

TEST_CASE("a result whose run is not there yet is to come later") {
  Door door;
  door.open_results.hold(6, 1);
  const std::string name = output_name(kKey, {6, OutputKind::update});
  CHECK(door.post(question(name)).status == 1);
  CHECK(door.post(File(name, "bytes").request()).status == 1);
}

TEST_CASE("numbers out of bounds are refused") {
  Door door;
  File past = update();
  past.offset = past.nbytes + 1;
  past.bytes.resize(past.offset);
  CHECK(door.post(past.request()).status == -1);
  File large = update();
  large.nbytes = kMax + 1;
  CHECK(door.post(large.request()).status == -1);
  // Permitted, and more than the task can have.
  File huge = update();
  huge.max_nbytes = huge.nbytes = std::uint64_t{1} << 40;
  huge.permission = permit_upload(kKey, huge.name, huge.max_nbytes);
  CHECK(door.post(huge.request()).status == -1);
  File long_header = header(std::string(protocol::kMaxSignedHeader + 1, 'h'));
  CHECK(door.post(long_header.request()).status == -1);
  CHECK(fs::is_empty(door.folder / "uploads"));
  // What never came cannot go on; the client then asks where to begin.
  File gap = update();
  gap.offset = 5000;
  CHECK(door.post(gap.request()).status == 1);
  File late_header = header();
  late_header.offset = 5;
  CHECK(door.post(late_header.request()).status == 1);
}

TEST_CASE("more bytes than the head says are refused") {
  Door door;
  CHECK(door.post(update().request() + "x").status == -1);
  CHECK(door.result().uploaded.is_zero());
  CHECK(door.post(header().request() + "x").status == -1);
  CHECK_FALSE(door.uploads.header(5).has_value());
}

TEST_CASE("what is no upload is refused, and the connection goes on") {
  Door door;
  RawHttp http(door.port());
  for (const std::string& body :
       {std::string("<data_server_request>"), std::string("hello"),
        std::string(kMaxUploadHead, 'x'), std::string(3000000, '\0'),
        std::string("<data>\n"), update().head().substr(20) + "bytes",
        std::string("<data_server_request></data_server_request>")}) {
    CHECK(door.post(http, body).status == -1);
  }
  CHECK(door.post(http, update().request()).status == 0);
}

TEST_CASE("a refused file is dropped up to a bound") {
  Door door;
  std::unique_ptr<BodySink> sink = door.sink();
  const Bytes megabyte(1 << 20);
  CHECK_NOTHROW(sink->write(Bytes(kMaxUploadHead, 'x')));
  CHECK_THROWS_AS(
      [&] {
        for (int i = 0; i < 100; ++i) sink->write(megabyte);
      }(),
      Error);
}

TEST_CASE("a head may come in any pieces") {
  Door door;
  const std::string request = update("some bytes").request();
  for (std::size_t first = 0; first <= request.size(); ++first) {
    CAPTURE(first);
    {
      std::unique_ptr<BodySink> sink = door.sink();
      sink->write(as_bytes(request.substr(0, first)));
      sink->write(as_bytes(request.substr(first)));
    }
    CHECK(door.offset() == 9);
    door.uploads.forget(5);
  }
  std::unique_ptr<BodySink> sink = door.sink();
  for (char c : request) sink->write(as_bytes({&c, 1}));
  sink.reset();
  CHECK(read_text_file(door.folder / "uploads/5.part") == "some bytes");
}

TEST_CASE("a disk that is nearly full is said before anything is sent") {
  Door door(std::uint64_t{1} << 60);
  Reply size = door.post(question(kUpdate));
  CHECK(size.status == 1);
  CHECK(size.message == "the project's disk is nearly full");
  CHECK(door.post(update().request()).status == 1);
}

}  // namespace quorate::boinc
