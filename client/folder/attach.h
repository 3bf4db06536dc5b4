// Joining a project: who is at that address, and is it the one that was meant?
//
// Used by `attach` alone; afterwards an agent goes by what was pinned here, and
// asks no authority that was not asked then.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/folder/data_folder.h"
#include "client/folder/project.h"
#include "protocol/transfer/curl_transfer.h"
#include "protocol/transfer/project_address.h"
#include "protocol/transfer/transfer.h"

namespace quorate::client {

// How to reach an attached project: its pinned key if it has one.
CurlOptions curl_options(const Project& project);

// Fetches the sealed statement and checks it: sealed by the key that it names,
// of the project that the fingerprint means, served over TLS by the key that it
// pins (or by one that an authority vouches for). Throws unavailable, corrupt,
// denied, or unsupported for an arithmetic that this client does not have.
Project fetch_project(const ProjectAddress& address, const TransferMaker& make);

// Throws denied when the statement is an old one: against_statement().
void expect_newest(const std::vector<Project>& attached, const Project& found,
                   Millis unix_ms);

// Throws denied when another project of `attached` has this address, and no
// fingerprint says that `found` is meant: a server in the middle, or a project
// that has moved. Pure.
void expect_no_stranger(const std::vector<Project>& attached,
                        const Project& found, const ProjectAddress& address);

struct AttachOptions {
  std::string address;  // URL[#FINGERPRINT]
  std::string account;  // key file; empty: this folder's own
  std::string name;     // of the volunteer, up to 64 bytes
  // Of this computer, for everybody; empty: as before, or a neutral one.
  std::string host_name;
};
struct Attached {
  Project project;
  // Nothing but the address said that it is the one: pinned from now on.
  bool is_first = false;
};
// All of it: asks the address and adds the project to the folder. Throws what
// the functions above do, and usage.
Attached attach_project(const DataFolder& folder, const AttachOptions& options,
                        const TransferMaker& make, Millis unix_ms);

// A volunteer's or a computer's name as projects take it: up to 64 bytes, no
// control characters; may be empty. option: by which it was given, for the
// error. Throws usage.
void expect_name(const std::string& name, const char* option);

}  // namespace quorate::client
