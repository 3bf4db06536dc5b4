#include "server/house/compute_request.h"

#include <string>
#include <system_error>

#include <fcntl.h>

#include "base/arithmetic.h"
#include "base/file.h"
#include "server/units/sealed_tasks.h"

namespace quorate {
namespace {

// A new file; on a full disk nothing of it stays.
void write_new(const std::string& path, ByteView bytes) {
  FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  try {
    write_all(file.get(), bytes, path);
  } catch (...) {
    std::error_code ignored;
    fs::remove(path, ignored);
    throw;
  }
}

}  // namespace

protocol::ComputeRequest compute_request(const ObjectStore& objects,
                                         const ProjectKeys& keys,
                                         ByteView sealed,
                                         const Hash& workunit) {
  const TrainingTask task = task_in(sealed, workunit);
  protocol::ComputeRequest request;
  request.project = keys.id;
  request.project_key = sealer_of(sealed, keys.ring, "workunit").key;
  request.workunit = objects.temporary_path("task").string();
  request.snapshot = objects.path(task.snapshot).string();
  request.shard = objects.path(task.shard).string();
  request.update = objects.temporary_path("update").string();
  request.checkpoint = request.update + ".checkpoint";
  write_new(request.workunit, sealed);
  return request;
}

ResultHeader header_of(const OpenResult& open, const std::string& device) {
  ResultHeader header;
  header.result_id = static_cast<std::uint64_t>(open.id);
  header.nonce = open.nonce;
  header.workunit = open.workunit;
  header.host = open.host_key;
  header.device = device;
  header.arithmetic = kArithmeticVersion;
  return header;
}

}  // namespace quorate
