#include <algorithm>

#include "protocol/boinc/account.h"
#include "protocol/boinc/account_reply.h"
#include "protocol/boinc/app_messages.h"
#include "protocol/boinc/signatures.h"
#include "protocol/boinc/upload.h"
#include "server/doors/boinc/files/names.h"
#include "tests/fuzz/targets.h"
#include "tests/protocol/boinc/samples.h"

namespace quorate::fuzz {
namespace {

using namespace boinc;

// A request without what its reader cannot read twice: of a text for people the
// client's marks are taken away each time.
SchedulerRequest parsed(ByteView bytes) {
  SchedulerRequest request = parse_scheduler_request(bytes);
  for (ReportedResult& result : request.results) result.why.clear();
  return request;
}

void read_request(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    SchedulerRequest request = parsed(bytes);
    expect(parsed(as_bytes(write_request(request))) == request,
           "a request is read as it was written");
  });
}

// Elements that requests have, in and out of their places.
constexpr std::string_view kElements[] = {
    "authenticator",  "hostid",       "rpc_seqno",     "platform_name",
    "result",         "name",         "state",         "exit_status",
    "stderr_out",     "file_info",    "nbytes",        "error_msg",
    "status",         "coprocs",      "coproc_cuda",   "coproc",
    "count",          "req_secs",     "type",          "have_cuda",
    "host_info",      "p_ncpus",      "p_features",    "host_cpid",
    "other_results",  "other_result", "msg_from_host", "result_name",
    "code_sign_key",  "cpu_req_secs", "alt_platform",  "time_stats",
    "dont_send_work", "plan_class",   "now",           "unheard_of"};

// A document in which each byte is an element to open, one to close, or a piece
// of text: what is changed is its structure, not its spelling.
std::string document_of(ByteView bytes) {
  constexpr std::string_view kTexts[] = {"",
                                         "0",
                                         "1",
                                         "5",
                                         "-1",
                                         "nan",
                                         "1055.000000",
                                         "1e9",
                                         "r1",
                                         "../r",
                                         "x&lt;",
                                         "&#0;",
                                         "<![CDATA[<a>]]>",
                                         "1024\n00\n."};
  std::string text =
      "<scheduler_request><authenticator>a</authenticator><hostid>1</hostid>"
      "<rpc_seqno>1</rpc_seqno><platform_name>p</platform_name>";
  std::vector<std::string_view> open{"scheduler_request"};
  for (std::uint8_t byte : bytes) {
    if (byte < 128) {
      open.push_back(kElements[byte % std::size(kElements)]);
      text += '<' + std::string(open.back()) + '>';
    } else if (byte < 192) {
      text += kTexts[byte % std::size(kTexts)];
    } else if (open.size() > 1) {
      text += "</" + std::string(open.back()) + '>';
      open.pop_back();
    }
  }
  for (; !open.empty(); open.pop_back()) {
    text += "</" + std::string(open.back()) + '>';
  }
  return text;
}

void read_structure(ByteView bytes) {
  read_request(as_bytes(document_of(bytes)));
}

void read_upload(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    std::optional<UploadRequest> request = parse_upload_head(bytes);
    if (!request) {
      expect(bytes.size() < kMaxUploadHead, "a head ends");
    } else if (auto* upload = std::get_if<FileUpload>(&*request)) {
      expect(upload->head_bytes <= bytes.size(), "the bytes begin within");
      expect(upload->offset <= upload->nbytes &&
                 upload->nbytes <= upload->max_nbytes,
             "an upload keeps its bounds");
    }
  });
}

void read_signatures(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    RsaPublicKey key = parse_key(as_text(bytes));
    expect(parse_key(write(key)) == key, "a key is read as it was written");
    verify(key, successor(key), RsaSignature{});
  });
  may_refuse({ErrorKind::corrupt}, [&] {
    RsaSignature signature = parse_signature(as_text(bytes));
    expect(parse_signature(write(signature)) == signature,
           "a signature is read as it was written");
  });
  may_refuse({ErrorKind::corrupt}, [&] {
    UploadPermission permission = parse_upload_permission(as_text(bytes));
    expect(parse_upload_permission(write(permission)) == permission,
           "a permission is read as it was written");
  });
}

// Of results and files, as clients give them back.
void read_names(ByteView bytes) {
  std::string_view text = as_text(bytes);
  if (std::optional<ResultId> result = result_of(text)) {
    expect(result_name(*result) == text, "a result has one name");
  }
  const UploadKey key;
  if (std::optional<Output> output = output_of(key, text)) {
    expect(output_name(key, *output) == text, "an output file has one name");
  }
  if (std::optional<Hash> object = object_of(text)) {
    expect(text.ends_with(object->hex()), "an object's name ends in its hash");
  }
}

// What a task reads of its client.
void read_app_messages(ByteView bytes) {
  may_refuse({ErrorKind::corrupt}, [&] {
    InitData data = parse_init_data(bytes);
    expect(data.ncpus >= 1 && data.ncpus <= 1024, "a task has threads");
    expect(data.checkpoint_period >= Seconds(0), "time goes on");
  });
  (void)parse_process_orders(as_text(bytes));
  if (auto target = soft_link_target(as_text(bytes))) {
    expect(target->size() <= bytes.size(), "a link is part of its text");
  }
}

// Three lines: address, hash, name.
void read_account(ByteView bytes) {
  std::string_view text = as_text(bytes);
  std::string_view email = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(email.size() + 1, text.size()));
  std::string_view hash = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(hash.size() + 1, text.size()));
  auto query = read_account_query(email, hash, text);
  if (auto* account = std::get_if<AccountQuery>(&query)) {
    auto again = read_account_query(
        account->email, account->password_hash.hex(), account->user_name);
    expect(std::get<AccountQuery>(again).email == account->email,
           "an account query is the same twice");
  }
}

void read_account_reply(ByteView bytes) {
  may_refuse({ErrorKind::corrupt, ErrorKind::denied}, [&] {
    const std::string key = parse_account_reply(bytes);
    expect(parse_account_reply(as_bytes(write_account(key))) == key,
           "a key is read as it was written");
  });
}

}  // namespace

std::vector<Target> boinc_targets() {
  return {{"boinc_request", read_request},
          {"boinc_structure", read_structure},
          {"boinc_upload", read_upload},
          {"boinc_signatures", read_signatures},
          {"boinc_names", read_names},
          {"boinc_app_messages", read_app_messages},
          {"boinc_account", read_account},
          {"boinc_account_reply", read_account_reply}};
}

}  // namespace quorate::fuzz
