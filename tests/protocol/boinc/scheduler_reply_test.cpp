#include "protocol/boinc/scheduler_reply.h"

#include <doctest/doctest.h>
#include <pugixml.hpp>

#include "protocol/boinc/signatures.h"
#include "tests/protocol/boinc/samples.h"

namespace quorate::boinc {
namespace {

pugi::xml_document parsed(const SchedulerReply& reply) {
  pugi::xml_document document;
  REQUIRE(document.load_string(write(reply).c_str()));
  return document;
}

std::string value_of(const SchedulerReply& reply, const std::string& path) {
  return parsed(reply)
      .select_node(("/scheduler_reply/" + path).c_str())
      .node()
      .child_value();
}

}  // namespace

TEST_CASE("a reply without work says when to come again") {
  SchedulerReply reply;
  reply.project_name = "Letters";
  reply.master_url = "https://example.org/proj/";
  reply.request_delay = Seconds(7);
  reply.next_rpc_delay = Seconds(30);
  reply.messages = {{"No tasks are available", false}};
  CHECK(write(reply) ==
        "<scheduler_reply>\n"
        "  <scheduler_version>720</scheduler_version>\n"
        "  <dont_use_dcf/>\n"
        "  <project_name>Letters</project_name>\n"
        "  <master_url>https://example.org/proj/</master_url>\n"
        "  <request_delay>7</request_delay>\n"
        "  <next_rpc_delay>30</next_rpc_delay>\n"
        "  <message priority=\"low\">No tasks are available</message>\n"
        "</scheduler_reply>\n");
}

TEST_CASE("a reply with all there is has the bytes of the golden file") {
  CHECK(write(sample_reply()) == golden("reply.xml"));
}

TEST_CASE("what is not set is not said") {
  std::string text = write(SchedulerReply{});
  for (const char* element :
       {"hostid", "code_sign_key", "next_rpc_delay", "user_name", "result",
        "project_is_down", "message_ack", "gui_url", "host_total_credit"}) {
    CAPTURE(element);
    CHECK(text.find(std::string("<") + element) == std::string::npos);
  }
}

TEST_CASE("what people wrote cannot leave its element") {
  SchedulerReply reply;
  reply.user.emplace();
  reply.user->name = "</user_name><hostid>1</hostid>\n& \x01";
  reply.messages = {{"<b>\"x\"</b>\n</scheduler_reply>", true}};
  CHECK(value_of(reply, "user_name") == "(/user_name)(hostid)1(/hostid)?& ?");
  CHECK(value_of(reply, "hostid").empty());
  CHECK(value_of(reply, "message") == "<b>\"x\"</b>?</scheduler_reply>");
  reply.messages = {{std::string(5000, 'x'), false}};
  CHECK(value_of(reply, "message").size() == 900);
}

TEST_CASE("numbers are exact") {
  SchedulerReply reply;
  reply.hostid = INT64_MAX;
  reply.results.resize(1);
  reply.results[0].report_deadline = 1795781029.452720;
  reply.input_files.resize(1);
  reply.input_files[0].nbytes = 9007199254740993;
  CHECK(value_of(reply, "hostid") == "9223372036854775807");
  CHECK(value_of(reply, "result/report_deadline") == "1795781029.45272");
  CHECK(value_of(reply, "file_info/nbytes") == "9007199254740993");
}

}  // namespace quorate::boinc
