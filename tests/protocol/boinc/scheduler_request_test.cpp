#include "protocol/boinc/scheduler_request.h"

#include <functional>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/protocol/boinc/samples.h"

namespace quorate::boinc {
namespace {

SchedulerRequest parsed(const std::string& text) {
  return parse_scheduler_request(as_bytes(text));
}

std::string refusal_of(const std::string& text) {
  try {
    parsed(text);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return "no error";
}

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("a client's first request is read") {
  SchedulerRequest request = parsed(golden("request_first.xml"));
  CHECK(request.authenticator == "0123456789abcdef0123456789abcdef");
  CHECK(request.hostid == 0);
  CHECK(request.rpc_seqno == 0);
  CHECK(request.client == ClientVersion{7, 20, 5});
  CHECK(request.allow_multiple_clients);
  CHECK_FALSE(request.wants_no_work);
  CHECK(request.platforms ==
        std::vector<std::string>{"x86_64-pc-linux-gnu", "i686-pc-linux-gnu"});
  CHECK(request.cpu == DeviceWish{1, 0});
  CHECK(request.cpu.is_any());
  CHECK(request.coprocs.empty());
  CHECK_FALSE(request.code_sign_key);
  CHECK(request.clock == 1795000000.25);
  CHECK(request.upload_bytes_per_second == 0);
  CHECK(request.results.empty());
  CHECK(request.files.empty());
  CHECK(request.in_progress.empty());

  CHECK(request.host.name == "attic");
  CHECK(request.host.cpid == "00112233445566778899aabbccddeeff");
  CHECK(request.host.ncpus == 2);
  CHECK(request.host.cpu_model ==
        "Example(R) CPU & Co @ 3.00GHz [Family 6 Model 1 Stepping 1]");
  CHECK(request.host.cpu_features.ends_with("avx2 avx512f"));
  CHECK(request.host.cpu_flops == 1e9);
  CHECK(request.host.memory_bytes == 16e9);
  CHECK(request.host.free_disk_bytes == 5e10);
  CHECK(request.host.os_name == "Linux Debian");
  CHECK(request.host.os_version.ends_with("|libc 2.36]"));
}

TEST_CASE("reports are read: an upload refused, a task failed") {
  SchedulerRequest request = parsed(golden("request_reports.xml"));
  CHECK(request.hostid == 7001);
  CHECK(request.rpc_seqno > 0);
  REQUIRE(request.code_sign_key);
  CHECK(request.code_sign_key->exponent.hex().ends_with("00010001"));
  REQUIRE(request.results.size() == 2);

  const ReportedResult& refused = request.results[0];
  CHECK(refused.name == "wu_00002_0");
  CHECK(refused.is_success());  // as the client sees it
  CHECK(refused.cpu_seconds == 0.2);
  CHECK(refused.elapsed_seconds == doctest::Approx(3.018).epsilon(0.01));
  REQUIRE(refused.files.size() == 1);
  CHECK(refused.files[0] ==
        ReportedFile{"wu_00002_0_0", 3000055, "permanent upload error"});
  CHECK(refused.why ==
        "argv ['../../projects/example.org_proj/app_100', '--secs', '3', "
        "'3000055'] x<y && z & <b>");

  const ReportedResult& failed = request.results[1];
  CHECK(failed.name == "wu_00003_0");
  CHECK_FALSE(failed.is_success());
  CHECK(failed.state == ReportedResult::kComputeError);
  CHECK(failed.exit_status == 3);
  CHECK(failed.files.empty());
  CHECK(failed.why.starts_with(
      "process exited with code 3 (0x3, -253) | argv ['../../projects/"));
}

TEST_CASE("a GPU, its wish and what is in progress are read") {
  SchedulerRequest request = parsed(golden("request_gpu.xml"));
  REQUIRE(request.coprocs.size() == 1);
  const Coproc& gpu = request.coprocs[0];
  CHECK(gpu.type == "NVIDIA");
  CHECK(gpu.model == "Stub GPU 9000");
  CHECK(gpu.count == 1);
  CHECK(gpu.has_cuda);
  CHECK_FALSE(gpu.has_opencl);
  CHECK(gpu.wish == DeviceWish{180, 1});
  CHECK(gpu.cuda_version == 12040);
  CHECK(gpu.compute_major == 8);
  CHECK(gpu.compute_minor == 6);
  CHECK(gpu.memory_bytes == 7516192768.0);
  CHECK(gpu.peak_flops == 1.7408e13);

  REQUIRE(request.results.size() == 2);
  CHECK(request.results[1].plan_class == "cuda");
  CHECK(request.in_progress ==
        std::vector<HeldResult>{{"wu_00003_0", ""}, {"wu_00004_0", "cuda"}});
  CHECK(request.files == std::vector<StickyFile>{{"wu_00001_in", 7},
                                                 {"wu_00002_in", 7},
                                                 {"wu_00003_in", 7},
                                                 {"wu_00004_in", 7}});
  REQUIRE(request.trickles.size() == 2);
}

TEST_CASE("a message from a task in progress is read") {
  SchedulerRequest request = parsed(golden("request_trickle.xml"));
  REQUIRE(request.trickles.size() == 1);
  CHECK(request.trickles[0] == TrickleUp{"wu_00001_0", "progress", 17, 0});
  CHECK(request.in_progress == std::vector<HeldResult>{{"wu_00001_0", ""}});
}

TEST_CASE("every member is read as it was written") {
  SchedulerRequest request = sample_request();
  CHECK(parsed(write_request(request)) == request);
}

TEST_CASE("elements that nobody knows are skipped, wherever they stand") {
  SchedulerRequest request = parsed(request_with(
      "<colour><deep><hostid>8</hostid></deep></colour>"
      "<result><name>r1</name><mood>fair</mood><state>5</state></result>"
      "<other_results><x/><other_result><name>r2</name><y>1</y></other_result>"
      "</other_results><coprocs><coproc_new><count>9</count></coproc_new>"
      "</coprocs>"));
  CHECK(request.hostid == 7);
  REQUIRE(request.results.size() == 1);
  CHECK(request.results[0].state == 5);
  CHECK(request.in_progress == std::vector<HeldResult>{{"r2", ""}});
  CHECK(request.coprocs.empty());
}

TEST_CASE("files that the host has not whole are not counted") {
  SchedulerRequest request = parsed(request_with(
      "<file_info><name>a</name><status>0</status></file_info>"
      "<file_info><name>b</name><status>1</status></file_info>"
      "<file_info><name>c</name></file_info>"
      "<file_info><name>d</name><status>-200</status></file_info>"));
  CHECK(request.files == std::vector<StickyFile>{{"b", 0}});
}

TEST_CASE("what a machine says of itself may be nonsense") {
  for (std::string value : {"nan", "-nan", "inf", "-1", "1e31", "x", "", "1 2",
                            "0x10", "1e999", "+1"}) {
    CAPTURE(value);
    SchedulerRequest request = parsed(
        request_with("<host_info><p_fpops>" + value + "</p_fpops><p_ncpus>" +
                     value + "</p_ncpus></host_info><time_stats><now>" + value +
                     "</now></time_stats><result><name>r</name><state>5</state>"
                     "<final_cpu_time>" +
                     value + "</final_cpu_time></result>"));
    CHECK(request.host.cpu_flops == 0);
    CHECK(request.host.ncpus == 0);
    CHECK(request.clock == 0);
    CHECK(request.results[0].cpu_seconds == 0);
  }
}

TEST_CASE("errors name message, element, expectation and finding") {
  CHECK(refusal_of(request_with("<rpc_seqno>1</rpc_seqno>")) ==
        "scheduler request: <rpc_seqno>: expected at most 1, found more");
  CHECK(refusal_of("<scheduler_request><authenticator>a</authenticator>"
                   "</scheduler_request>") ==
        "scheduler request: <scheduler_request>: <hostid> is missing");
  CHECK(refusal_of(request_with("<result><state>5</state></result>")) ==
        "scheduler request: <result>: <name> is missing");
  CHECK(refusal_of(
            request_with("<result><name>r</name><state>x</state></result>")) ==
        "scheduler request: <result><state>: expected an integer from 0 to "
        "100, found \"x\"");
  CHECK(refusal_of(request_with("<cpu_req_secs>-1</cpu_req_secs>")) ==
        "scheduler request: <cpu_req_secs>: expected a number from 0 to "
        "1e+30, found \"-1\"");
  CHECK(refusal_of(request_with("<cpu_req_secs>nan</cpu_req_secs>"))
            .ends_with("found \"nan\""));
  CHECK(refusal_of(request_with(
            "<result><name>../r</name><state>5</state></result>")) ==
        "scheduler request: <result><name>: expected a name of at most 255 "
        "letters, digits, _ . - +, found \"../r\"");
  CHECK(refusal_of(request_with("<result><name>r</name><state>5</state>"
                                "<exit_status>2147483648</exit_status>"
                                "</result>")) ==
        "scheduler request: <result><exit_status>: expected an integer of 32 "
        "bits, found \"2147483648\"");
  CHECK(refusal_of(request_with("<code_sign_key>512 .</code_sign_key>")) ==
        "code-sign key: expected one of 1024 bits");
  CHECK(refusal_of(request_with("<dont_send_work>2</dont_send_work>"))
            .ends_with("expected 0 or 1, found \"2\""));
  CHECK(refusal_of(request_with("<cross_project_id>" + std::string(65, 'x') +
                                "</cross_project_id>"))
            .find("expected a text of at most 64 bytes") != std::string::npos);
}

TEST_CASE("identity is read strictly") {
  auto with_hostid = [](const std::string& value) {
    std::string text = request_with("");
    text.replace(text.find("<hostid>7") + 8, 1, value);
    return text;
  };
  CHECK(parsed(with_hostid("9223372036854775807")).hostid == INT64_MAX);
  for (std::string value : {"9223372036854775808", "-1", "1.0", "", "7x",
                            "99999999999999999999999999", "0x7", " "}) {
    CAPTURE(value);
    CHECK(refusal_of(with_hostid(value)).starts_with("scheduler request: "));
  }
}

TEST_CASE("lists are bounded") {
  auto results = [](std::size_t n) {
    return request_with(
        repeated("<result><name>r</name><state>5</state></result>", n));
  };
  CHECK(parsed(results(256)).results.size() == 256);
  CHECK(refusal_of(results(257)) ==
        "scheduler request: <result>: expected at most 256, found more");
  auto others = [](std::size_t n) {
    return request_with(
        "<other_results>" +
        repeated("<other_result><name>r</name></other_result>", n) +
        "</other_results>");
  };
  CHECK(parsed(others(256)).in_progress.size() == 256);
  CHECK(refusal_of(others(257)).find("found more") != std::string::npos);
  auto files = [](std::size_t n) {
    return request_with(repeated("<file_info><name>f</name></file_info>", n));
  };
  CHECK_NOTHROW(parsed(files(4096)));
  CHECK(refusal_of(files(4097)).find("found more") != std::string::npos);
  auto platforms = [](std::size_t n) {
    return request_with(
        repeated("<alt_platform><name>p</name></alt_platform>", n));
  };
  CHECK(parsed(platforms(16)).platforms.size() == 17);
  CHECK(refusal_of(platforms(17)).find("found more") != std::string::npos);
}

TEST_CASE("of standard error the end is kept, plain and in one line") {
  auto why = [](const std::string& text) {
    return parsed(request_with("<result><name>r</name><state>3</state>"
                               "<stderr_out><![CDATA[" +
                               text + "]]></stderr_out></result>"))
        .results[0]
        .why;
  };
  CHECK(why("") == "");
  CHECK(why("\n\none\n\ttwo\n\n") == "one | ?two");
  CHECK(why("<stderr_txt>\n\x1b[31mred\xff</b>\n</stderr_txt>\n") ==
        "?[31mred?</b>");
  std::string long_text = why(std::string(70000, 'a') + "the cause");
  CHECK(long_text.size() == 1024);
  CHECK(long_text.ends_with("aathe cause"));
}

}  // namespace quorate::boinc
