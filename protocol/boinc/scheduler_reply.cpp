#include "protocol/boinc/scheduler_reply.h"

#include <algorithm>

#include "protocol/boinc/limits.h"
#include "protocol/boinc/xml_writer.h"
#include "protocol/text.h"

namespace quorate::boinc {
namespace {

using protocol::plain_text;

// A name that people gave. Clients write it into their own files and answers
// as it is, so that a "<" in it makes those unreadable.
std::string name_of(std::string_view text) {
  std::string name = plain_text(text, kMaxHostText);
  std::replace(name.begin(), name.end(), '<', '(');
  std::replace(name.begin(), name.end(), '>', ')');
  return name;
}

// From this version of the interface on, the client and its tasks speak through
// a mapped file, and the arguments stay as they are.
constexpr std::string_view kApiVersion = "7.20.5";
// The dialect's, of the stock servers of these clients.
constexpr int kSchedulerVersion = 720;
// Clients read a message into 1024 bytes.
constexpr std::size_t kMaxMessage = 900;

void put_names(XmlWriter& xml, std::string_view element,
               const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    xml.group(element, [&] { xml.element("name", name); });
  }
}

void put_user(XmlWriter& xml, const UserInfo& user) {
  xml.element("user_name", name_of(user.name));
  xml.element("userid", user.userid);
  xml.element("user_total_credit", user.total_credit);
  xml.element("user_expavg_credit", user.recent_credit);
  xml.element("user_create_time", user.created);
  if (!user.team.empty()) {
    xml.element("team_name", name_of(user.team));
  }
}

void put_head(XmlWriter& xml, const SchedulerReply& reply) {
  xml.element("scheduler_version", kSchedulerVersion);
  xml.flag("dont_use_dcf");
  xml.element("project_name", name_of(reply.project_name));
  xml.element("master_url", reply.master_url);
  xml.element("request_delay", reply.request_delay.count());
  if (reply.next_rpc_delay) {
    xml.element("next_rpc_delay", reply.next_rpc_delay->count());
  }
  xml.flag("project_is_down", reply.is_down);
  for (const Message& message : reply.messages) {
    xml.element_with("message", "priority",
                     message.is_notice ? "notice" : "low",
                     plain_text(message.text, kMaxMessage));
  }
}

void put_identity(XmlWriter& xml, const SchedulerReply& reply) {
  if (reply.user) put_user(xml, *reply.user);
  if (reply.host_credit) {
    xml.element("host_total_credit", reply.host_credit->total);
    xml.element("host_expavg_credit", reply.host_credit->recent);
  }
  if (reply.hostid != 0) xml.element("hostid", reply.hostid);
  if (reply.code_sign_key) {
    xml.block("code_sign_key", write(*reply.code_sign_key));
  }
  if (reply.code_sign_key_signature) {
    xml.block("code_sign_key_signature", write(*reply.code_sign_key_signature));
  }
}

void put_gui_urls(XmlWriter& xml, const std::vector<GuiUrl>& urls) {
  if (urls.empty()) return;
  xml.group("gui_urls", [&] {
    for (const GuiUrl& url : urls) {
      xml.group("gui_url", [&] {
        xml.element("name", url.name);
        xml.element("description", url.description);
        xml.element("url", url.url);
      });
    }
  });
}

void put_orders(XmlWriter& xml, const SchedulerReply& reply) {
  put_names(xml, "result_ack", reply.acknowledged);
  put_names(xml, "result_abort", reply.aborted);
  put_names(xml, "result_abort_if_not_started", reply.aborted_if_not_started);
  for (const std::string& name : reply.deleted_files) {
    xml.element("delete_file_info", name);
  }
  if (reply.acknowledges_trickles) xml.element("message_ack", 1);
  for (const std::string& type : reply.unused_coprocs) {
    xml.element("no_rsc_apps", type);
  }
}

void put(XmlWriter& xml, const App& app) {
  xml.group("app", [&] {
    xml.element("name", app.name);
    xml.element("user_friendly_name", name_of(app.friendly_name));
    xml.flag("fraction_done_exact");
  });
}

void put(XmlWriter& xml, const InputFile& file) {
  xml.group("file_info", [&] {
    xml.element("name", file.name);
    for (const std::string& url : file.urls) xml.element("download_url", url);
    xml.flag("executable", file.is_executable);
    xml.flag("sticky", file.is_sticky);
    if (file.signature) xml.block("file_signature", write(*file.signature));
    xml.element("md5_cksum", file.md5.hex());
    xml.element("nbytes", file.nbytes);
  });
}

void put(XmlWriter& xml, const OutputFile& file) {
  xml.group("file_info", [&] {
    xml.element("name", file.name);
    xml.flag("generated_locally");
    xml.flag("upload_when_present");
    xml.element("max_nbytes", file.max_nbytes);
    for (const std::string& url : file.urls) xml.element("upload_url", url);
    xml.block("xml_signature", write(file.permission));
  });
}

void put(XmlWriter& xml, const FileRef& file) {
  xml.group("file_ref", [&] {
    xml.element("file_name", file.file_name);
    if (!file.open_name.empty()) xml.element("open_name", file.open_name);
    xml.flag("main_program", file.is_main_program);
    xml.flag("copy_file", file.is_copied);
    xml.flag("optional", file.is_optional);
  });
}

void put_coproc(XmlWriter& xml, const AppVersion& version) {
  if (version.coproc_type.empty()) return;
  xml.group("coproc", [&] {
    xml.element("type", version.coproc_type);
    xml.element("count", version.coproc_count);
  });
  xml.element("gpu_ram", version.gpu_ram_bytes);
}

void put(XmlWriter& xml, const AppVersion& version) {
  xml.group("app_version", [&] {
    xml.element("app_name", version.app_name);
    xml.element("version_num", version.version);
    xml.element("platform", version.platform);
    xml.element("plan_class", version.plan_class);
    xml.element("avg_ncpus", version.ncpus);
    xml.element("flops", version.flops);
    xml.element("api_version", kApiVersion);
    put_coproc(xml, version);
    if (!version.command_line.empty()) {
      xml.element("cmdline", version.command_line);
    }
    for (const FileRef& file : version.files) put(xml, file);
  });
}

void put(XmlWriter& xml, const WorkunitRecord& unit) {
  xml.group("workunit", [&] {
    xml.element("name", unit.name);
    xml.element("app_name", unit.app_name);
    xml.element("version_num", unit.version);
    xml.element("rsc_fpops_est", unit.fpops_estimate);
    xml.element("rsc_fpops_bound", unit.fpops_bound);
    xml.element("rsc_memory_bound", unit.memory_bound_bytes);
    xml.element("rsc_disk_bound", unit.disk_bound_bytes);
    xml.element("command_line", unit.command_line);
    for (const FileRef& file : unit.files) put(xml, file);
  });
}

void put(XmlWriter& xml, const ResultRecord& result) {
  xml.group("result", [&] {
    xml.element("name", result.name);
    xml.element("wu_name", result.workunit);
    xml.element("platform", result.platform);
    xml.element("version_num", result.version);
    xml.element("plan_class", result.plan_class);
    xml.element("report_deadline", result.report_deadline);
    xml.flag("report_immediately");
    for (const FileRef& file : result.files) put(xml, file);
  });
}

template <class Record>
void put_all(XmlWriter& xml, const std::vector<Record>& records) {
  for (const Record& record : records) put(xml, record);
}

}  // namespace

std::string write(const SchedulerReply& reply) {
  XmlWriter xml;
  xml.group("scheduler_reply", [&] {
    put_head(xml, reply);
    put_identity(xml, reply);
    put_gui_urls(xml, reply.gui_urls);
    put_orders(xml, reply);
    put_all(xml, reply.apps);
    put_all(xml, reply.input_files);
    put_all(xml, reply.app_versions);
    put_all(xml, reply.output_files);
    put_all(xml, reply.workunits);
    put_all(xml, reply.results);
  });
  return xml.take();
}

}  // namespace quorate::boinc
