// The names by which BOINC clients know results and files. Clients keep all
// files of a project in one flat folder and take a name's content as fixed for
// ever, so a name says what it stands for: a number that is never given twice,
// or a hash. Pure; the parsers know exactly what the writers write.
//
// The room server/doors/boinc/files moves files: names, the routes to fetch and
// to send, MD5s and the permissions' key. It owns a cache of MD5s and a thread
// that stores uploads, and may include server/objects.
//
//   r45                result 45, and its workunit record: each result has its
//                      own, for nonce and number stand in its command line
//   r45_header_CODE    what it makes: its signed header
//   r45_update_CODE    ... and its payload
//   unit-HASH, snapshot-HASH, shard-HASH    what it needs, 64 digits each
//
// CODE: 16 digits that only the server can make. A host that was not sent a
// result cannot ask what has come of it.
//
// Files of app versions have any other name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/crypto.h"
#include "protocol/boinc/signatures.h"
#include "workunits/assignment.h"

namespace quorate::boinc {

std::string result_name(ResultId result);  // from 1
std::optional<ResultId> result_of(std::string_view name);

enum class OutputKind { header, update };
struct Output {
  ResultId result = 0;
  OutputKind kind = OutputKind::header;

  bool operator==(const Output&) const = default;
};
std::string output_name(const UploadKey& key, const Output& output);
// nullopt for a name that was not made with this key: what result it names, and
// whether there is one, is not looked at.
std::optional<Output> output_of(const UploadKey& key, std::string_view name);

// Of a workunit, a snapshot or a shard.
std::string object_name(ObjectKind kind, const Hash& hash);
// The hash in a name of any kind.
std::optional<Hash> object_of(std::string_view name);

}  // namespace quorate::boinc
