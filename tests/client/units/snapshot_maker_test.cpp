#include "client/units/snapshot_maker.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/client/scripted_transfer.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/snapshot_delta.h"

namespace quorate::client {
namespace {

// Snapshots 0 to 3 of a run, and the deltas between them.
struct Fixture : ScriptedProject {
  Fixture() {
    std::vector<float> values = initial_parameters(model, 1);
    add_snapshot(values);
    for (std::uint64_t version = 1; version <= 3; ++version) {
      std::vector<float> next = test::sample_delta(model);
      for (std::size_t i = 0; i < next.size(); ++i) next[i] += values[i];
      deltas.push_back(
          encode_snapshot_delta({model, Codec::int4, version}, values, next));
      apply_snapshot_delta(model, deltas.back(), values, "delta");
      assignment.deltas.push_back(
          {refs.back().hash,
           {ObjectKind::delta, sha256(deltas.back()), deltas.back().size()}});
      add_snapshot(values);
    }
    assignment.objects = {refs.back()};
  }

  void add_snapshot(const std::vector<float>& values) {
    snapshots.push_back(write_parameters(model, values));
    refs.push_back({ObjectKind::snapshot, sha256(snapshots.back()),
                    snapshots.back().size()});
  }

  void have(std::size_t version) {
    write_file_durably(cache.part(refs[version]), snapshots[version]);
    cache.adopt(refs[version]);
  }

  void answer(const Bytes& bytes) {
    transfer.answers.push_back([this, bytes](const HttpRequest& request) {
      asked.push_back(request.path);
      HttpReply reply;
      reply.status = 200;
      request.sink(reply, bytes);
      return reply;
    });
  }

  void make() { make_snapshot(api, cache, assignment, model); }

  std::string path_of_delta(std::size_t i) const {
    return "/v1/objects/" + assignment.deltas[i].delta.hash.hex();
  }

  const ModelSpec model = test::sample_codec_task(Codec::int4).model;
  test::TemporaryFolder folder;
  ObjectCache cache{folder.path()};
  std::vector<Bytes> snapshots;
  std::vector<ObjectRef> refs;
  std::vector<Bytes> deltas;
  Assignment assignment;
  std::vector<std::string> asked;
};

TEST_CASE_FIXTURE(Fixture, "a host that is two versions behind adds two") {
  have(0);
  have(1);
  answer(deltas[1]);
  answer(deltas[2]);
  make();
  CHECK(asked == std::vector{path_of_delta(1), path_of_delta(2)});
  CHECK(cache.contains(refs[3]));
  CHECK(read_file(cache.path(refs[3])) == snapshots[3]);
  // and nothing else is left
  CHECK_FALSE(fs::exists(cache.part(assignment.deltas[1].delta)));
}

TEST_CASE_FIXTURE(Fixture, "a model over the memory's limit is not made") {
  have(2);
  answer(deltas[2]);
  const std::uint64_t values = sizeof(float) * parameter_count(model);
  make_snapshot(api, cache, assignment, model, values - 1);
  CHECK(asked.empty());
  CHECK_FALSE(cache.contains(refs[3]));
  make_snapshot(api, cache, assignment, model, values);
  CHECK(cache.contains(refs[3]));
}

TEST_CASE_FIXTURE(Fixture, "who has no earlier snapshot asks for no delta") {
  make();
  CHECK(asked.empty());
  CHECK_FALSE(cache.contains(refs[3]));
}

TEST_CASE_FIXTURE(Fixture, "who has the snapshot asks for nothing") {
  have(0);
  have(3);
  make();
  CHECK(asked.empty());
}

TEST_CASE_FIXTURE(Fixture, "deltas that lead elsewhere are given up") {
  have(2);
  SUBCASE("other bytes than the hash says") {
    answer(deltas[1]);
  }
  SUBCASE("a delta that does not make the snapshot") {
    assignment.deltas[2].delta = assignment.deltas[1].delta;
    answer(deltas[1]);
  }
  SUBCASE("one that is larger than the snapshot") {
    assignment.deltas[2].delta.size = refs[3].size + 1;
  }
  SUBCASE("no delta at all") {
    const Bytes junk(100, 7);
    assignment.deltas[2].delta = {ObjectKind::delta, sha256(junk), junk.size()};
    answer(junk);
  }
  SUBCASE("the server has lost it") {
    transfer.answers.push_back([](const HttpRequest&) {
      HttpReply reply;
      reply.status = 404;
      reply.body = "{}";
      return reply;
    });
  }
  make();
  CHECK_FALSE(cache.contains(refs[3]));
  CHECK(cache.contains(refs[2]));
}

TEST_CASE_FIXTURE(Fixture, "a server that is away is asked for what is left") {
  have(1);
  answer(deltas[1]);
  transfer.answers.push_back([](const HttpRequest&) -> HttpReply {
    throw Error(ErrorKind::unavailable, "away");
  });
  CHECK_THROWS_AS(make(), Error);
  // Other tasks end meanwhile.
  cache.prune({assignment.deltas[1].from, assignment.deltas[1].delta.hash},
              1000);
  answer(deltas[2]);
  make();
  CHECK(asked == std::vector{path_of_delta(1), path_of_delta(2)});
  CHECK(cache.contains(refs[3]));
}

TEST_CASE_FIXTURE(Fixture, "a base that cannot be read is done without") {
  have(2);
  fs::permissions(cache.path(refs[2]), fs::perms::none);
  fs::remove(cache.path(refs[2]));
  fs::create_directory(cache.path(refs[2]));
  make();
  CHECK_FALSE(cache.contains(refs[3]));
}

}  // namespace
}  // namespace quorate::client
