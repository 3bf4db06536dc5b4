#include "protocol/boinc/scheduler_request.h"

#include <algorithm>

#include "protocol/boinc/signatures.h"
#include "protocol/boinc/xml_reader.h"
#include "protocol/text.h"

namespace quorate::boinc {
namespace {

using Element = const XmlElement&;
using Request = SchedulerRequest;

constexpr std::uint32_t kMaxState = 100;
constexpr std::uint32_t kMaxDevices = 1024;

// The client's marks around its own message and the program's output.
std::string_view without_marks(std::string_view line) {
  for (std::string_view mark :
       {"<message>", "</message>", "<stderr_txt>", "</stderr_txt>"}) {
    if (line.starts_with(mark)) line.remove_prefix(mark.size());
    if (line.ends_with(mark)) line.remove_suffix(mark.size());
  }
  return line;
}

// The end of `text` as one plain line: the cause mostly stands there.
std::string reason_of(std::string_view text) {
  std::string reason;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line = without_marks(line);
    if (line.empty()) continue;
    if (!reason.empty()) reason += " | ";
    reason += line;
  }
  if (reason.size() > kMaxReason) {
    reason.erase(0, reason.size() - kMaxReason);
  }
  return protocol::plain_text(reason, kMaxReason);
}

void read_reason(ReportedResult& result, Element e) {
  result.why = reason_of(e.raw());
}

constexpr Field<ReportedFile> kReportedFile[] = {
    {"name", file_name<&ReportedFile::name>, 1},
    {"nbytes", count<&ReportedFile::nbytes>},
    {"error_msg", cut_text<&ReportedFile::error, kMaxHostText>}};

constexpr Field<ReportedResult> kReportedResult[] = {
    {"name", file_name<&ReportedResult::name>, 1},
    {"state", integer<&ReportedResult::state, kMaxState>, 1},
    {"exit_status", signed_integer<&ReportedResult::exit_status>},
    {"final_cpu_time", claimed_number<&ReportedResult::cpu_seconds>},
    {"final_elapsed_time", claimed_number<&ReportedResult::elapsed_seconds>},
    {"plan_class", text<&ReportedResult::plan_class, kMaxPlanClass>},
    {"stderr_out", read_reason},
    {"file_info", each<&ReportedResult::files, kReportedFile>, 0,
     kMaxFilesOfResult}};

constexpr Field<TrickleUp> kTrickleUp[] = {
    {"result_name", file_name<&TrickleUp::result_name>, 1},
    {"variety", text<&TrickleUp::variety, kMaxVariety>},
    {"step", claimed_integer<&TrickleUp::step>},
    {"steps", claimed_integer<&TrickleUp::steps>}};

void read_seconds(Coproc& coproc, Element e) {
  coproc.wish.seconds = e.number();
}
void read_instances(Coproc& coproc, Element e) {
  coproc.wish.instances = e.number();
}

constexpr Field<Coproc> kCoproc[] = {
    {"type", text<&Coproc::type, kMaxPlanClass>},
    {"name", cut_text<&Coproc::model, kMaxHostText>},
    {"count", integer<&Coproc::count, kMaxDevices>, 1},
    {"req_secs", read_seconds},
    {"req_instances", read_instances},
    {"have_cuda", flag<&Coproc::has_cuda>},
    {"have_opencl", flag<&Coproc::has_opencl>},
    {"cudaVersion", claimed_integer<&Coproc::cuda_version>},
    {"major", claimed_integer<&Coproc::compute_major>},
    {"minor", claimed_integer<&Coproc::compute_minor>},
    {"available_ram", claimed_number<&Coproc::memory_bytes>},
    {"peak_flops", claimed_number<&Coproc::peak_flops>}};

// The element says the type, but for a kind that the user has declared.
void add_coproc(Request& request, Element e, std::string_view type) {
  Coproc coproc = read_as(e, kCoproc);
  if (!type.empty()) coproc.type = type;
  request.coprocs.push_back(std::move(coproc));
}

constexpr Field<Request> kCoprocs[] = {
    {"coproc_cuda", [](Request& r, Element e) { add_coproc(r, e, "NVIDIA"); }},
    {"coproc_ati", [](Request& r, Element e) { add_coproc(r, e, "ATI"); }},
    {"coproc_intel_gpu",
     [](Request& r, Element e) { add_coproc(r, e, "intel_gpu"); }},
    {"coproc", [](Request& r, Element e) { add_coproc(r, e, {}); }, 0,
     kMaxCoprocs}};

constexpr Field<HostInfo> kHostInfo[] = {
    {"domain_name", cut_text<&HostInfo::name, kMaxHostText>},
    {"host_cpid", text<&HostInfo::cpid, kMaxCpid>},
    {"p_ncpus", claimed_integer<&HostInfo::ncpus>},
    {"p_model", cut_text<&HostInfo::cpu_model, kMaxHostText>},
    {"p_features", cut_text<&HostInfo::cpu_features, kMaxFeatures>},
    {"p_fpops", claimed_number<&HostInfo::cpu_flops>},
    {"m_nbytes", claimed_number<&HostInfo::memory_bytes>},
    {"d_free", claimed_number<&HostInfo::free_disk_bytes>},
    {"os_name", cut_text<&HostInfo::os_name, kMaxHostText>},
    {"os_version", cut_text<&HostInfo::os_version, kMaxHostText>}};

constexpr Field<Request> kTimeStats[] = {
    {"now", claimed_number<&Request::clock>}};
constexpr Field<Request> kNetStats[] = {
    {"bwup", claimed_number<&Request::upload_bytes_per_second>}};

void add_platform(Request& request, Element e) {
  request.platforms.push_back(e.text(kMaxPlatform));
}
constexpr Field<Request> kAltPlatform[] = {{"name", add_platform, 1}};

struct HeldFile : StickyFile {
  std::int32_t status = 0;
};
constexpr Field<HeldFile> kHeldFile[] = {
    {"name", file_name<&HeldFile::name>, 1},
    {"nbytes", claimed_number<&HeldFile::bytes>},
    {"status", signed_integer<&HeldFile::status>}};

void add_held_file(Request& request, Element e) {
  constexpr std::int32_t kPresent = 1;
  HeldFile file = read_as(e, kHeldFile);
  if (file.status == kPresent) request.files.push_back(std::move(file));
}

constexpr Field<HeldResult> kOtherResult[] = {
    {"name", file_name<&HeldResult::name>, 1},
    {"plan_class", text<&HeldResult::plan_class, kMaxPlanClass>}};
constexpr Field<Request> kOtherResults[] = {
    {"other_result", each<&Request::in_progress, kOtherResult>, 0,
     kMaxResults}};

constexpr Field<ClientVersion> kClientVersion[] = {
    {"core_client_major_version", integer<&ClientVersion::major>},
    {"core_client_minor_version", integer<&ClientVersion::minor>},
    {"core_client_release", integer<&ClientVersion::release>}};
constexpr Field<DeviceWish> kCpuWish[] = {
    {"cpu_req_secs", number<&DeviceWish::seconds>},
    {"cpu_req_instances", number<&DeviceWish::instances>}};

void read_hostid(Request& request, Element e) {
  request.hostid = static_cast<HostId>(e.integer(kMaxId));
}
void read_key(Request& request, Element e) {
  request.code_sign_key = parse_key(e.raw());
}

constexpr Field<Request> kRequest[] = {
    {"authenticator", text<&Request::authenticator, kMaxAuthenticator>, 1},
    {"hostid", read_hostid, 1},
    {"rpc_seqno", integer<&Request::rpc_seqno>, 1},
    {"allow_multiple_clients", flag<&Request::allow_multiple_clients>},
    {"dont_send_work", flag<&Request::wants_no_work>},
    {"platform_name", add_platform, 1},
    {"alt_platform", inside<kAltPlatform>, 0, kMaxPlatforms},
    {"coprocs", inside<kCoprocs>},
    {"code_sign_key", read_key},
    {"cross_project_id", text<&Request::cross_project_id, kMaxCpid>},
    {"time_stats", inside<kTimeStats>},
    {"net_stats", inside<kNetStats>},
    {"host_info", part<&Request::host, kHostInfo>},
    {"result", each<&Request::results, kReportedResult>, 0, kMaxResults},
    {"msg_from_host", each<&Request::trickles, kTrickleUp>, 0, kMaxMessages},
    {"file_info", add_held_file, 0, kMaxFiles},
    {"other_results", inside<kOtherResults>}};

}  // namespace

SchedulerRequest parse_scheduler_request(ByteView bytes) {
  XmlDocument document(bytes, "scheduler request", "scheduler_request");
  XmlElement root = document.root();
  SchedulerRequest request = read_as(root, kRequest);
  read_fields(root, kClientVersion, request.client);
  read_fields(root, kCpuWish, request.cpu);
  return request;
}

}  // namespace quorate::boinc
