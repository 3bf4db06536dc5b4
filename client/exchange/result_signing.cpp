#include "client/exchange/result_signing.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate::client {
namespace {

// The report follows a restart; the payload has to be there then.
void make_durable(const fs::path& file) {
  FileDescriptor opened = open_file(file, O_RDONLY);
  if (::fsync(opened.get()) != 0) throw_errno("sync " + file.string());
  sync_folder(file.parent_path());
}

}  // namespace

SignedHeader sign_result(const SigningTask& task, Claim claim,
                         const Identity& identity, ResultTamper* tamper) {
  if (tamper != nullptr) {
    tamper->before_signing(task.result, claim, task.update);
  }
  ResultHeader header;
  header.result_id = static_cast<std::uint64_t>(task.result);
  header.nonce = task.nonce;
  header.workunit = task.workunit;
  header.device = task.device;
  header.arithmetic = task.arithmetic;
  MappedFile update;
  if (!claim.update.is_zero()) {
    make_durable(task.update);
    update = MappedFile(task.update);
  }
  SignedHeader sealed =
      sign_claim(std::move(header), std::move(claim), update.bytes(),
                 identity.project, identity.host);
  if (tamper != nullptr) tamper->after_signing(task.result, task.update);
  return sealed;
}

}  // namespace quorate::client
