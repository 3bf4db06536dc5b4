// The key of the permissions to upload, `keys/boinc_upload.key`: it outlives
// restarts, for a client sends a file as much as weeks after it was told that
// it may.
//
// The server's one secret toward BOINC clients: permissions, the codes in names
// of files to upload (server/doors/boinc/files/names) and authenticators of
// accounts (server/doors/boinc/accounts/accounts) are HMACs with it of texts
// that begin differently, so that none of them can be taken for another.
#pragma once

#include "base/file.h"
#include "protocol/boinc/signatures.h"

namespace quorate::boinc {

// Reads the key; makes it, durably and for its owner only, when there is none.
// Throws io, corrupt, or denied when others may read the file.
UploadKey open_upload_key(const fs::path& path);

}  // namespace quorate::boinc
