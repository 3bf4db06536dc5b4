#include "protocol/boinc/app_messages.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/protocol/boinc/samples.h"

namespace quorate::boinc {
namespace {

std::string init_data_with(const std::string& elements) {
  return "<app_init_data><wu_name>w</wu_name><result_name>r</result_name>"
         "<project_dir>/p</project_dir>" +
         elements + "</app_init_data>";
}

InitData parsed(const std::string& text) {
  return parse_init_data(as_bytes(text));
}

}  // namespace

TEST_CASE("what a client writes for a task is read") {
  InitData data = parsed(golden("init_data.xml"));
  CHECK(data.workunit == "wu_00001");
  CHECK(data.result == "wu_00001_0");
  CHECK(data.project_dir == "/var/lib/boinc-client/projects/example.org_proj");
  CHECK(data.hostid == 7001);
  CHECK(data.client_pid == 4711);
  CHECK(data.cpu_seconds == 0);
  CHECK(data.checkpoint_period == Seconds(2));
  CHECK(data.ncpus == 1);
  CHECK(data.gpu_type == "");
  CHECK(data.gpu_device == -1);
  CHECK(data.opencl_device == -1);
}

TEST_CASE("a GPU task says which device") {
  InitData data = parsed(init_data_with(
      "<gpu_type>NVIDIA</gpu_type><gpu_device_num>2</gpu_device_num>"
      "<gpu_opencl_dev_index>1</gpu_opencl_dev_index><ncpus>0.5</ncpus>"
      "<wu_cpu_time>12.5</wu_cpu_time>"));
  CHECK(data.gpu_type == "NVIDIA");
  CHECK(data.gpu_device == 2);
  CHECK(data.opencl_device == 1);
  CHECK(data.ncpus == 1);
  CHECK(data.cpu_seconds == 12.5);
  CHECK(parsed(init_data_with("<ncpus>8.000000</ncpus>")).ncpus == 8);
  CHECK(parsed(init_data_with("<ncpus>1e9</ncpus>")).ncpus == 1024);
}

TEST_CASE("init data without what a task needs are refused") {
  CHECK_THROWS_WITH_AS(parsed("<app_init_data/>"),
                       "init_data.xml: <app_init_data>: <wu_name> is missing",
                       Error);
  CHECK_THROWS_AS(parsed("<other/>"), Error);
  CHECK_THROWS_AS(parsed(""), Error);
  std::string text = golden("init_data.xml");
  std::size_t whole = text.find("</app_init_data>") + 16;
  for (std::size_t size = 0; size < whole; size += 7) {
    CHECK_THROWS_AS(parsed(text.substr(0, size)), Error);
  }
}

TEST_CASE("orders are read, several at once, others skipped") {
  CHECK(parse_process_orders("<suspend/>").suspend);
  CHECK(parse_process_orders("<quit/>\n").quit);
  ProcessOrders both = parse_process_orders(
      "<network_available/><resume/>\n"
      "<abort/>");
  CHECK(both.resume);
  CHECK(both.abort);
  CHECK_FALSE(both.suspend);
  CHECK_FALSE(both.quit);
  ProcessOrders none = parse_process_orders("<reread_app_info/> suspend");
  CHECK_FALSE((none.suspend || none.resume || none.quit || none.abort));
}

TEST_CASE("a status has the words that clients know, and fits its channel") {
  CHECK(write(AppStatus{7.071e-3, 6.043e-3, 1}) ==
        "<current_cpu_time>7.071000e-03</current_cpu_time>\n"
        "<checkpoint_cpu_time>6.043000e-03</checkpoint_cpu_time>\n"
        "<fraction_done>1.000000e+00</fraction_done>\n");
  CHECK(write(AppStatus{1e300, 1e300, 1e300}).size() < 1000);
}

TEST_CASE("a soft link says where a file is; anything else is the file") {
  CHECK(soft_link_target(
            "<soft_link>../../projects/example.org_proj/a</soft_link>\n") ==
        "../../projects/example.org_proj/a");
  CHECK_FALSE(soft_link_target(""));
  CHECK_FALSE(soft_link_target("bytes"));
  CHECK_FALSE(soft_link_target("<soft_link>../a"));
  CHECK_FALSE(soft_link_target(" <soft_link>a</soft_link>"));
  CHECK_FALSE(soft_link_target("<soft_link>" + std::string(5000, 'a') +
                               "</soft_link>"));
}

}  // namespace quorate::boinc
