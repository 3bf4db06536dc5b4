#include "workunits/sealed.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"
#include "workunits/domain_hash.h"

namespace quorate {
namespace {

using test::sample_key;
using test::sample_project;

Bytes sealed_note() {
  return seal(as_bytes("note"), SealKind::workunit, sample_project(),
              sample_key(1));
}

ByteView open_note(ByteView sealed, SealKind kind = SealKind::workunit,
                   const ProjectId& project = sample_project(),
                   const PrivateKey& key = sample_key(1)) {
  return open_sealed(sealed, kind, project, key.public_key(), "note 7");
}

// What opening says after byte `at` from the end has changed.
std::string complaint(std::size_t from_end) {
  Bytes sealed = sealed_note();
  sealed[sealed.size() - from_end] ^= 1;
  try {
    open_note(sealed);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return "opened";
}

}  // namespace

TEST_CASE("a hash in a domain is that of domain, zero byte and parts") {
  Hash joined = sha256(as_bytes(std::string_view("d\0ab", 4)));
  CHECK(domain_hash("d", {as_bytes("a"), as_bytes("b")}) == joined);
}

TEST_CASE("a project is named by its first key") {
  ProjectId id = sample_project();
  CHECK(id != project_id_of(sample_key(2).public_key()));
  CHECK(fingerprint(id) == id.hex().substr(0, 32));
}

TEST_CASE("a sealed payload comes back, as a view") {
  Bytes sealed = sealed_note();
  CHECK(sealed.size() == 4 + kSealBytes);
  ByteView payload = open_note(sealed);
  CHECK(as_text(payload) == "note");
  CHECK(payload.data() == sealed.data());
  CHECK(open_note(seal({}, SealKind::workunit, sample_project(), sample_key(1)))
            .empty());
}

TEST_CASE("a seal vouches for one kind, project and key") {
  Bytes sealed = sealed_note();
  CHECK_THROWS_AS(open_note(sealed, SealKind::project), Error);
  CHECK_THROWS_AS(open_note(sealed, SealKind::workunit, ProjectId{}), Error);
  CHECK_THROWS_AS(
      open_note(sealed, SealKind::workunit, sample_project(), sample_key(2)),
      Error);
}

TEST_CASE("a changed byte is found and named") {
  CHECK(complaint(1) == "note 7: does not end in a seal");
  CHECK(complaint(12) == "note 7: sealed were 5 bytes, found 4");
  CHECK(complaint(16) == "note 7: expected a seal of kind 1, found 0");
  CHECK(complaint(24).find("sealed with key") != std::string::npos);
  CHECK(complaint(88) ==
        "note 7: the seal does not fit: changed, or of another project");
  CHECK(complaint(92) ==
        "note 7: the seal does not fit: changed, or of another project");
}

TEST_CASE("the detached form signs the same") {
  Bytes sealed = sealed_note();
  Signature signature = sign_detached(as_bytes("note"), SealKind::workunit,
                                      sample_project(), sample_key(1));
  CHECK(std::equal(signature.bytes.begin(), signature.bytes.end(),
                   sealed.begin() + 4));
  PublicKey key = sample_key(1).public_key();
  CHECK(verify_detached(as_bytes("note"), SealKind::workunit, sample_project(),
                        key, signature));
  CHECK_FALSE(verify_detached(as_bytes("note"), SealKind::ledger_entry,
                              sample_project(), key, signature));
  CHECK_FALSE(verify_detached(as_bytes("nota"), SealKind::workunit,
                              sample_project(), key, signature));
}

}  // namespace quorate
