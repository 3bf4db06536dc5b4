#include "tests/protocol/boinc/samples.h"

#include "base/file.h"
#include "protocol/boinc/signatures.h"
#include "protocol/boinc/xml_writer.h"
#include "tests/support/samples.h"

namespace quorate::boinc {
namespace {

void put(XmlWriter& xml, const Coproc& coproc) {
  std::string element = coproc.type == "NVIDIA"      ? "coproc_cuda"
                        : coproc.type == "ATI"       ? "coproc_ati"
                        : coproc.type == "intel_gpu" ? "coproc_intel_gpu"
                                                     : "coproc";
  xml.group(element, [&] {
    if (element == "coproc") xml.element("type", coproc.type);
    xml.element("count", coproc.count);
    xml.element("name", coproc.model);
    xml.element("available_ram", coproc.memory_bytes);
    xml.element("have_cuda", int{coproc.has_cuda});
    xml.element("have_opencl", int{coproc.has_opencl});
    xml.element("req_secs", coproc.wish.seconds);
    xml.element("req_instances", coproc.wish.instances);
    xml.element("peak_flops", coproc.peak_flops);
    xml.element("cudaVersion", coproc.cuda_version);
    xml.element("major", coproc.compute_major);
    xml.element("minor", coproc.compute_minor);
  });
}

void put(XmlWriter& xml, const HostInfo& host) {
  xml.group("host_info", [&] {
    xml.element("domain_name", host.name);
    xml.element("host_cpid", host.cpid);
    xml.element("p_ncpus", host.ncpus);
    xml.element("p_model", host.cpu_model);
    xml.element("p_features", host.cpu_features);
    xml.element("p_fpops", host.cpu_flops);
    xml.element("m_nbytes", host.memory_bytes);
    xml.element("d_free", host.free_disk_bytes);
    xml.element("os_name", host.os_name);
    xml.element("os_version", host.os_version);
  });
}

void put(XmlWriter& xml, const ReportedResult& result) {
  xml.group("result", [&] {
    xml.element("name", result.name);
    xml.element("final_cpu_time", result.cpu_seconds);
    xml.element("final_elapsed_time", result.elapsed_seconds);
    xml.element("exit_status", result.exit_status);
    xml.element("state", result.state);
    xml.element("plan_class", result.plan_class);
    xml.element("stderr_out", result.why);
    for (const ReportedFile& file : result.files) {
      xml.group("file_info", [&] {
        xml.element("name", file.name);
        xml.element("nbytes", static_cast<double>(file.nbytes));
        if (!file.error.empty()) xml.element("error_msg", file.error);
      });
    }
  });
}

void put(XmlWriter& xml, const TrickleUp& trickle) {
  xml.group("msg_from_host", [&] {
    xml.element("result_name", trickle.result_name);
    xml.element("variety", trickle.variety);
    xml.element("step", trickle.step);
    xml.element("steps", trickle.steps);
  });
}

void put_head(XmlWriter& xml, const SchedulerRequest& request) {
  xml.element("authenticator", request.authenticator);
  xml.element("hostid", request.hostid);
  xml.element("rpc_seqno", request.rpc_seqno);
  xml.element("core_client_major_version", request.client.major);
  xml.element("core_client_minor_version", request.client.minor);
  xml.element("core_client_release", request.client.release);
  xml.element("allow_multiple_clients", int{request.allow_multiple_clients});
  xml.element("dont_send_work", int{request.wants_no_work});
  xml.element("cpu_req_secs", request.cpu.seconds);
  xml.element("cpu_req_instances", request.cpu.instances);
  std::string element = "platform_name";
  for (const std::string& platform : request.platforms) {
    if (element == "platform_name") {
      xml.element(element, platform);
      element = "alt_platform";
    } else {
      xml.group(element, [&] { xml.element("name", platform); });
    }
  }
  if (request.code_sign_key) {
    xml.block("code_sign_key", write(*request.code_sign_key));
  }
  xml.element("cross_project_id", request.cross_project_id);
  xml.group("time_stats", [&] { xml.element("now", request.clock); });
  xml.group("net_stats",
            [&] { xml.element("bwup", request.upload_bytes_per_second); });
}

void put_held(XmlWriter& xml, const SchedulerRequest& request) {
  for (const StickyFile& file : request.files) {
    xml.group("file_info", [&] {
      xml.element("name", file.name);
      xml.element("nbytes", file.bytes);
      xml.element("status", 1);
    });
  }
  xml.group("other_results", [&] {
    for (const HeldResult& held : request.in_progress) {
      xml.group("other_result", [&] {
        xml.element("name", held.name);
        xml.element("plan_class", held.plan_class);
      });
    }
  });
}

}  // namespace

std::string golden(const std::string& name) {
  return read_text_file(fs::path(QUORATE_BOINC_GOLDEN) / name);
}

SchedulerRequest sample_request() {
  SchedulerRequest request;
  request.authenticator = "0123456789abcdef0123456789abcdef";
  request.hostid = 7001;
  request.rpc_seqno = 12;
  request.client = {7, 20, 5};
  request.allow_multiple_clients = true;
  request.wants_no_work = true;
  request.platforms = {"x86_64-pc-linux-gnu", "i686-pc-linux-gnu"};
  request.cpu = {172.5, 2};
  request.coprocs.resize(2);
  request.coprocs[0] = {"NVIDIA", "Stub GPU", 1, {1.5, 1}, true,  true,
                        12040,    8,          6, 7.5e9,    1.2e13};
  request.coprocs[1].type = "FPGAX";
  request.coprocs[1].count = 2;
  request.code_sign_key = {{quorate::test::filled<FixedBytes<128>>(0xc1)},
                           {quorate::test::filled<FixedBytes<128>>(0x01)}};
  request.cross_project_id = "ffeeddccbbaa99887766554433221100";
  request.clock = 1795000000.25;
  request.upload_bytes_per_second = 259731;
  request.host = {"attic & \"co\"",
                  "00112233445566778899aabbccddeeff",
                  8,
                  "Example <CPU>",
                  "fpu avx2",
                  3.5e9,
                  16e9,
                  5e10,
                  "Linux Debian",
                  "Debian GNU/Linux 12 [6.1|libc 2.36]"};
  request.results = {{"r41",
                      5,
                      0,
                      0.5,
                      7.25,
                      "cuda",
                      "all is well",
                      {{"r41_0", 1055, ""}, {"r41_1", 0, "no such file"}}},
                     {"r42", 3, -186, 0, 0, "", "a | b", {}}};
  request.trickles = {{"r43", "progress", 17, 20}};
  request.files = {{"shard-00ff", 8e6}, {"snapshot-17", 0}};
  request.in_progress = {{"r43", ""}, {"r44", "cuda"}};
  return request;
}

SchedulerReply sample_reply() {
  const auto signature = quorate::test::filled<RsaSignature>(0x5a);
  SchedulerReply reply;
  reply.project_name = "Letters & Digits";
  reply.master_url = "https://example.org/proj/";
  reply.request_delay = Seconds(7);
  reply.next_rpc_delay = Seconds(10.5);
  reply.is_down = true;
  reply.messages = {{"too <few> tasks", false}, {"hello", true}};
  reply.user = {3, "Zo\xc3\xab", "Team", 12.5, 1.25, 1790000000};
  reply.host_credit = {2.5, 0.5};
  reply.hostid = 7001;
  reply.code_sign_key = {{quorate::test::filled<FixedBytes<128>>(0xc1)},
                         {quorate::test::filled<FixedBytes<128>>(0x01)}};
  reply.code_sign_key_signature = signature;
  reply.gui_urls = {{"Page", "What the run does", "https://example.org/"}};
  reply.acknowledged = {"r41", "r42"};
  reply.aborted = {"r43"};
  reply.aborted_if_not_started = {"r44"};
  reply.deleted_files = {"shard-00ff"};
  reply.acknowledges_trickles = true;
  reply.unused_coprocs = {"intel_gpu"};
  reply.apps = {{"quorate", "Training"}};
  reply.input_files = {{"worker_100",
                        {"https://example.org/proj/download/worker_100"},
                        quorate::test::filled<Md5Hash>(0x2d),
                        22160,
                        true,
                        false,
                        signature},
                       {"shard-00fe",
                        {"https://example.org/a", "https://example.org/b"},
                        quorate::test::filled<Md5Hash>(0x67),
                        8038000,
                        false,
                        true,
                        {}}};
  reply.app_versions.resize(1);
  reply.app_versions[0] = {"quorate",
                           100,
                           "x86_64-pc-linux-gnu",
                           "cuda",
                           0.5,
                           5e9,
                           "NVIDIA",
                           1,
                           5e8,
                           "--boinc",
                           {{"worker_100", "", true, false, false}}};
  reply.output_files = {{"r45_0",
                         {"https://example.org/file_upload_handler"},
                         50000000,
                         quorate::test::filled<UploadPermission>(0x5a)}};
  reply.workunits = {{"wu9",
                      "quorate",
                      100,
                      5e9,
                      5e12,
                      1e8,
                      1e9,
                      "--steps 5",
                      {{"shard-00fe", "shard", false, false, false},
                       {"task_9", "task", false, true, false}}}};
  reply.results = {{"r45",
                    "wu9",
                    "x86_64-pc-linux-gnu",
                    100,
                    "cuda",
                    1795781029.5,
                    {{"r45_0", "update", false, false, true}}}};
  return reply;
}

std::string write_request(const SchedulerRequest& request) {
  XmlWriter xml;
  xml.group("scheduler_request", [&] {
    put_head(xml, request);
    put(xml, request.host);
    if (!request.coprocs.empty()) {
      xml.group("coprocs", [&] {
        for (const Coproc& coproc : request.coprocs) put(xml, coproc);
      });
    }
    for (const ReportedResult& result : request.results) put(xml, result);
    for (const TrickleUp& trickle : request.trickles) put(xml, trickle);
    put_held(xml, request);
  });
  return xml.take();
}

std::string request_with(const std::string& elements) {
  return "<scheduler_request><authenticator>a</authenticator>"
         "<hostid>7</hostid><rpc_seqno>1</rpc_seqno>"
         "<platform_name>p</platform_name>" +
         elements + "</scheduler_request>";
}

}  // namespace quorate::boinc
