#include "protocol/boinc/app_messages.h"

#include <algorithm>

#include <fmt/format.h>

#include "protocol/boinc/xml_reader.h"

namespace quorate::boinc {
namespace {

using Element = const XmlElement&;

constexpr std::size_t kMaxPath = 4096;

void read_hostid(InitData& data, Element e) {
  data.hostid = static_cast<HostId>(e.integer(kMaxId));
}
void read_client_pid(InitData& data, Element e) {
  data.client_pid = static_cast<std::int64_t>(e.integer(INT32_MAX));
}
void read_period(InitData& data, Element e) {
  constexpr double kDay = 86400;
  data.checkpoint_period = Seconds(std::min(e.claimed_number(), kDay));
}
// A part of a CPU is one thread, too.
void read_ncpus(InitData& data, Element e) {
  constexpr double kMaxThreads = 1024;
  data.ncpus = static_cast<std::uint32_t>(
      std::clamp(e.claimed_number(), 1.0, kMaxThreads));
}

constexpr Field<InitData> kInitData[] = {
    {"wu_name", file_name<&InitData::workunit>, 1},
    {"result_name", file_name<&InitData::result>, 1},
    {"project_dir", text<&InitData::project_dir, kMaxPath>, 1},
    {"hostid", read_hostid},
    {"client_pid", read_client_pid},
    {"wu_cpu_time", claimed_number<&InitData::cpu_seconds>},
    {"checkpoint_period", read_period},
    {"ncpus", read_ncpus},
    {"gpu_type", text<&InitData::gpu_type, kMaxPlanClass>},
    {"gpu_device_num", signed_integer<&InitData::gpu_device>},
    {"gpu_opencl_dev_index", signed_integer<&InitData::opencl_device>}};

bool has(std::string_view text, std::string_view tag) {
  return text.find(tag) != std::string_view::npos;
}

}  // namespace

InitData parse_init_data(ByteView bytes) {
  XmlDocument document(bytes, "init_data.xml", "app_init_data");
  return read_as(document.root(), kInitData);
}

ProcessOrders parse_process_orders(std::string_view text) {
  return {has(text, "<suspend/>"), has(text, "<resume/>"), has(text, "<quit/>"),
          has(text, "<abort/>")};
}

std::string write(const AppStatus& status) {
  return fmt::format(
      "<current_cpu_time>{:e}</current_cpu_time>\n"
      "<checkpoint_cpu_time>{:e}</checkpoint_cpu_time>\n"
      "<fraction_done>{:e}</fraction_done>\n",
      status.cpu_seconds, status.checkpoint_cpu_seconds, status.fraction_done);
}

std::optional<std::string> soft_link_target(std::string_view text) {
  constexpr std::string_view kOpen = "<soft_link>";
  constexpr std::string_view kClose = "</soft_link>";
  if (!text.starts_with(kOpen)) return std::nullopt;
  text.remove_prefix(kOpen.size());
  std::size_t end = text.find(kClose);
  if (end == std::string_view::npos || end > kMaxPath) return std::nullopt;
  return std::string(text.substr(0, end));
}

}  // namespace quorate::boinc
