#include "tests/protocol/samples.h"

#include "protocol/native/peer_messages.h"
#include "protocol/worker/reports.h"
#include "tests/support/samples.h"

namespace quorate::protocol {
namespace {

template <class T>
std::function<std::string(const std::string&)> with(T (*parse)(ByteView)) {
  return
      [parse](const std::string& text) { return write(parse(as_bytes(text))); };
}

}  // namespace

std::vector<Sample> native_samples() {
  const std::string one = hex32("01");
  const std::string two = hex32("02");
  const std::string sign3 = hex64("03");
  const std::string sign4 = hex64("04");
  const Keyring ring = test::sample_keyring();
  return {
      {"project statement",
       R"({"name":"Glyphs","url":"https://example.org","key":")" + one +
           R"(","tls_pin":"sha256//abc=","arithmetic":1})",
       with(parse_project_statement)},
      {"account request",
       R"({"account":")" + one + R"(","name":"Zoë","signature":")" + sign3 +
           R"("})",
       with(parse_account_request)},
      {"host request",
       R"({"account":")" + one + R"(","host":")" + two +
           R"(","name":"attic","platform":"linux-x86_64, 8 cores",)" +
           R"("account_signature":")" + sign3 + R"(","host_signature":")" +
           sign4 + R"("})",
       with(parse_host_request)},
      {"host reply", R"({"host":17})", with(parse_host_reply)},
      {"session request, first", R"({"host":")" + two + R"("})",
       with(parse_session_request)},
      {"session request, signed",
       R"({"host":")" + two + R"(","challenge":")" + one +
           R"(","signature":")" + sign3 + R"("})",
       with(parse_session_request)},
      {"session reply, challenge", R"({"challenge":")" + one + R"("})",
       with(parse_session_reply)},
      {"session reply, token", R"({"token":")" + one + R"(","heartbeat":30.0})",
       with(parse_session_reply)},
      {"work request",
       R"({"want":2,"wait":12.5,"device":"cpu:avx512",)"
       R"("speed_flops":15000000000.0,)"
       R"("holding":[{"result":7,"step":3,"steps":20}],)"
       R"("failed":[{"result":8,"why":"disk"}],"shards":[")" +
           hex32("55") + R"(",")" + hex32("66") + R"("],"site":{"id":")" +
           hex32("77") + R"(","contact":"sealed"}})",
       with(parse_work_request)},
      {"work reply",
       R"({"assignments":[{"result":9,"nonce":")" + hex32("11") +
           R"(","objects":[{"kind":"workunit","hash":")" + hex32("22") +
           R"(","size":400},{"kind":"snapshot","hash":")" + hex32("33") +
           R"(","size":1000000},{"kind":"shard","hash":")" + hex32("44") +
           R"(","size":8000000}],"lease":120.0,"deltas":[{"from":")" +
           hex32("88") + R"(","hash":")" + hex32("99") +
           R"(","size":130000}],"exchange":{"from":")" + hex32("aa") +
           R"(","update":")" + hex32("bb") + R"(","met":")" + hex32("cc") +
           R"("}}],"cancel":[4,5],)" +
           R"("closed":[6],"retry_after":0.5,"mates":["one","two"]})",
       with(parse_work_reply)},
      {"report reply", R"({"accepted":false,"reason":"too late"})",
       with(parse_report_reply)},
      {"standing reply",
       R"({"host":17,"valid":40,"invalid":1,"errors":2,"pending":3,)"
       R"("in_progress":1,"credit":12.5,"user_credit":20.0,)"
       R"("runs":[{"run":"first","results":38,"first_version":2,)"
       R"("last_version":90}]})",
       with(parse_standing_reply)},
      {"error reply",
       R"({"kind":"new session","message":"make one","retry_after":1.0})",
       with(parse_error_reply)},
      {"peer session request, first", R"({"project":")" + two + R"("})",
       with(parse_peer_session_request)},
      {"peer session request, signed",
       R"({"project":")" + two + R"(","challenge":")" + one +
           R"(","signature":")" + sign3 + R"("})",
       with(parse_peer_session_request)},
      {"project statement, dated",
       R"({"name":"Glyphs","url":"","key":")" + ring.current().key.hex() +
           R"(","tls_pin":"","arithmetic":1,"issued":1790000000000,)" +
           R"("expires":1792592000000,"keyring":")" + to_hex(ring.sealed) +
           R"("})",
       with(parse_project_statement)},
      {"session reply, keys",
       R"({"token":")" + one + R"(","heartbeat":30.0,"keys":2})",
       with(parse_session_reply)},
      {"peer session request, keyring",
       R"({"project":")" + two + R"(","keyring":")" + to_hex(ring.sealed) +
           R"("})",
       with(parse_peer_session_request)},
  };
}

std::vector<Sample> worker_samples() {
  auto request = [](const std::string& line) {
    return write(parse_worker_request(line));
  };
  auto reply = [](const std::string& line) {
    return write(parse_worker_reply(line));
  };
  return {
      {"compute",
       R"({"type":"compute","job":3,"project":")" + hex32("01") +
           R"(","project_key":")" + hex32("02") +
           R"(","workunit":"/o/unit","snapshot":"/o/snapshot",)" +
           R"("shard":"/o/shard","update":"/r/out",)" +
           R"("checkpoint":"/r/checkpoint"})",
       request},
      {"check of a claim",
       R"({"type":"compute","job":3,"project":")" + hex32("01") +
           R"(","project_key":")" + hex32("02") +
           R"(","workunit":"/o/unit","snapshot":"/o/snapshot",)" +
           R"("shard":"/o/shard","update":"","checkpoint":"",)" +
           R"("expected":{"update":")" + hex32("55") + R"(","digests":[")" +
           hex32("66") + R"("],"samples":1280,"loss_bits":1075010958,)" +
           R"("outcome":"success","diverged_step":0}})",
       request},
      {"evaluate",
       R"({"type":"evaluate","job":4,"model":"{\"family\":\"mlp\"}",)"
       R"("parameters":"/o/p","shards":["/o/a","/o/b"]})",
       request},
      {"stop", R"({"type":"stop"})", request},
      {"ready", R"({"type":"ready","device":"cpu:avx2","arithmetic":1})",
       reply},
      {"progress", R"({"type":"progress","job":3,"step":5,"steps":20})", reply},
      {"computed",
       R"({"type":"computed","job":3,"claim":{"update":")" + hex32("55") +
           R"(","digests":[")" + hex32("66") + R"(",")" + hex32("77") +
           R"("],"samples":1280,"loss_bits":1075010958,"outcome":"success",)" +
           R"("diverged_step":0},"seconds":0.25,"steps":20})",
       reply},
      {"differs",
       R"({"type":"differs","job":3,"digest":1,"first_step":4,"last_step":6,)"
       R"("seconds":0.25,"steps":6})",
       reply},
      {"evaluated",
       R"({"type":"evaluated","job":4,"correct":91,"samples":100,"loss":0.25})",
       reply},
      {"evaluated, diverged",
       R"({"type":"evaluated","job":4,"correct":9,"samples":100,"loss":null})",
       reply},
      {"stopped", R"({"type":"stopped","job":3})", reply},
      {"failed", R"({"type":"failed","job":3,"kind":"corrupt","why":"seal"})",
       reply},
      {"list of devices",
       R"({"program":"0.1.0","devices":[{"name":"cuda:0",)"
       R"("description":"RTX, CUDA 13.0","model":"RTX","gpu":true}],)"
       R"("refused":["device \"opencl:1\": it is not available"]})",
       [](const std::string& line) { return write(parse_device_list(line)); }},
      {"measurement",
       R"({"cases":[{"case":"matmul 1024x1024x1024","value":203.9,)"
       R"("unit":"Gflop/s"}],"failure":""})",
       [](const std::string& line) { return write(parse_bench_report(line)); }},
      {"compute where the disk is short",
       R"({"type":"compute","job":3,"project":")" + hex32("01") +
           R"(","project_key":")" + hex32("02") +
           R"(","workunit":"/o/unit","snapshot":"/o/snapshot",)" +
           R"("shard":"/o/shard","update":"/r/out",)" +
           R"("checkpoint":"/r/checkpoint","keep_free":67108864})",
       request},
  };
}

}  // namespace quorate::protocol
