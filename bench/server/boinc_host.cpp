#include "bench/server/boinc_host.h"

#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/weak_crypto.h"

namespace quorate::bench {
namespace {

// Sets the text of an element that is there.
void set(std::string& text, std::string_view name, std::string_view value) {
  std::string_view old = element_of(text, name);
  if (old.data() == nullptr) {
    throw Error(ErrorKind::corrupt,
                fmt::format("recorded request: no <{}>", name));
  }
  text.replace(static_cast<std::size_t>(old.data() - text.data()), old.size(),
               value);
}

std::string held(const BoincTask& task) {
  return fmt::format(
      "    <other_result>\n        <name>r{}</name>\n"
      "        <app_version>0</app_version>\n"
      "        <plan_class></plan_class>\n    </other_result>\n",
      task.assignment.result);
}

std::string done_file(ResultId result, const char* what, bool is_there) {
  return fmt::format(
      "<file_info>\n    <name>r{}_{}</name>\n    <nbytes>{}</nbytes>\n"
      "    <max_nbytes>50000000.000000</max_nbytes>\n"
      "    <md5_cksum>0b1e174aa3034c52fd0c28d7d5b05fe6</md5_cksum>\n"
      "    <upload_url>http://bench/boinc/file_upload_handler</upload_url>\n"
      "</file_info>\n",
      result, what, is_there ? "1000.000000" : "0.000000");
}

std::string done(const BoincTask& task) {
  ResultId id = task.assignment.result;
  return fmt::format(
             "<result>\n    <name>r{}</name>\n"
             "    <final_cpu_time>60.200000</final_cpu_time>\n"
             "    <final_elapsed_time>61.018378</final_elapsed_time>\n"
             "    <exit_status>0</exit_status>\n    <state>5</state>\n"
             "    <platform>x86_64-pc-linux-gnu</platform>\n"
             "    <version_num>100</version_num>\n"
             "    <final_peak_disk_usage>23522</final_peak_disk_usage>\n"
             "    <app_version_num>100</app_version_num>\n"
             "<stderr_out>\n"
             "<core_client_version>7.20.5</core_client_version>\n"
             "<![CDATA[\n<stderr_txt>\n\n</stderr_txt>\n]]>\n"
             "</stderr_out>\n",
             id) +
         done_file(id, "header", true) +
         done_file(id, "update", task.assignment.upload) + "</result>\n";
}

ResultId number(std::string_view text) {
  ResultId value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The word after `option`, or "".
std::string_view word_after(std::string_view line, std::string_view option) {
  std::size_t at = line.find(option);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + option.size());
  return line.substr(0, line.find(' '));
}

// Name, permission and limit of the file to upload whose name begins so, as an
// upload has them.
std::string info_of(std::string_view reply, const std::string& begin) {
  std::size_t at = reply.find("<name>" + begin);
  if (at == std::string_view::npos) return {};
  std::string_view rest = reply.substr(at);
  return fmt::format(
      "<name>{}</name>\n<xml_signature>{}</xml_signature>\n"
      "<max_nbytes>{}</max_nbytes>\n",
      element_of(rest, "name"), element_of(rest, "xml_signature"),
      element_of(rest, "max_nbytes"));
}

BoincTask task_of(std::string_view unit, std::string_view reply) {
  std::string_view line = element_of(unit, "command_line");
  BoincTask task;
  Assignment& assignment = task.assignment;
  assignment.result = number(word_after(line, "--result "));
  assignment.nonce = parse_hex<Nonce>(word_after(line, "--nonce "), "nonce");
  assignment.upload = line.find("--witness") == std::string_view::npos;
  constexpr std::size_t kDigits = 64;
  std::size_t hash = unit.find("unit-") + 5;
  assignment.objects.push_back(
      {ObjectKind::workunit,
       parse_hex<Hash>(unit.substr(hash, kDigits), "workunit"), 0});
  std::string name = fmt::format("r{}", assignment.result);
  task.header_info = info_of(reply, name + "_header_");
  if (assignment.upload) task.update_info = info_of(reply, name + "_update_");
  return task;
}

}  // namespace

std::string_view element_of(std::string_view text, std::string_view name) {
  std::size_t open = text.find(fmt::format("<{}>", name));
  if (open == std::string_view::npos) return {};
  std::size_t begin = open + name.size() + 2;
  std::size_t end = text.find(fmt::format("</{}>", name), begin);
  return text.substr(begin, end - begin);
}

BoincHost::BoincHost(std::string authenticator, const std::string& recorded) {
  std::string text = recorded;
  set(text, "authenticator", authenticator);
  set(text, "hostid", "{hostid}");
  set(text, "rpc_seqno", "{seqno}");
  set(text, "cpu_req_secs", "{wish}");
  set(text, "cpu_req_instances", "{wish}");
  set(text, "code_sign_key", "{key}");
  set(text, "host_cpid", authenticator);
  set(text, "p_ncpus", "1");
  set(text, "other_results", "\n{held}");
  std::size_t results = text.find("<result>");
  std::size_t after = text.find("    <file_info>", results);
  before_results_ = text.substr(0, results);
  after_results_ = text.substr(after);
}

std::string BoincHost::request(bool wants_work, std::size_t reported) {
  std::string results;
  std::string in_progress;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    (i < reported ? results : in_progress) +=
        i < reported ? done(tasks_[i]) : held(tasks_[i]);
  }
  std::string text =
      fmt::format(fmt::runtime(before_results_), fmt::arg("hostid", id_),
                  fmt::arg("seqno", seqno_),
                  fmt::arg("wish", wants_work ? "180.000000" : "0.000000"),
                  fmt::arg("key", code_sign_key_));
  text += results;
  text +=
      fmt::format(fmt::runtime(after_results_), fmt::arg("held", in_progress));
  if (!code_sign_key_.empty()) return text;
  // A client without a key has no such element.
  constexpr std::string_view kNone = "<code_sign_key></code_sign_key>";
  return text.erase(text.find(kNone), kNone.size());
}

std::size_t BoincHost::take(std::string_view reply, std::size_t reported) {
  if (reply.find("</scheduler_reply>") == std::string_view::npos) {
    throw Error(ErrorKind::corrupt, "no reply: " + std::string(reply));
  }
  if (auto id = element_of(reply, "hostid"); !id.empty()) {
    id_ = id;
  } else {
    ++seqno_;
  }
  auto key = element_of(reply, "code_sign_key");
  if (!key.empty()) code_sign_key_ = key;
  tasks_.erase(tasks_.begin(),
               tasks_.begin() + static_cast<std::ptrdiff_t>(reported));
  std::size_t came = 0;
  std::string_view rest = reply;
  for (auto unit = element_of(rest, "workunit"); !unit.empty();
       unit = element_of(rest, "workunit")) {
    tasks_.push_back(task_of(unit, reply));
    ++came;
    rest.remove_prefix(
        static_cast<std::size_t>(unit.data() + unit.size() - rest.data()));
  }
  return came;
}

std::string upload_body(const std::string& info, ByteView bytes) {
  std::string body = fmt::format(
      "<data_server_request>\n"
      "    <core_client_major_version>7</core_client_major_version>\n"
      "    <core_client_minor_version>20</core_client_minor_version>\n"
      "    <core_client_release>5</core_client_release>\n"
      "<file_upload>\n<file_info>\n{}</file_info>\n<nbytes>{}</nbytes>\n"
      "<md5_cksum>{}</md5_cksum>\n<offset>0</offset>\n<data>\n",
      info, bytes.size(), md5(bytes).hex());
  body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return body;
}

}  // namespace quorate::bench
