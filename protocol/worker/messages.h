// What the agent or the server and a `quorate-worker --serve` process say to
// each other: one JSON message a line, objects by path. docs/protocol.md,
// "Worker".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/crypto.h"
#include "workunits/result_header.h"
#include "workunits/sealed.h"

namespace quorate::protocol {

// Computes a sealed workunit, or checks a claim about it. The worker checks the
// seal itself.
struct ComputeRequest {
  std::uint64_t job = 0;
  ProjectId project;
  PublicKey project_key;
  std::string workunit;  // paths
  std::string snapshot;
  std::string shard;
  std::string update;      // to be written
  std::string checkpoint;  // written now and then, read if it is there
  // Bytes of the disk that checkpoints leave free; one for which there is less
  // room is left out. An update is written all the same, for it is the whole
  // work: its room was seen to before the unit was taken.
  std::uint64_t keep_free = 0;
  // To be checked: the worker stops at the first state that is not the claimed
  // one, and writes no update.
  std::optional<Claim> expected = {};
};

// Evaluates parameters on held-out shards.
struct EvaluateRequest {
  std::uint64_t job = 0;
  std::string model;  // JSON of the ModelSpec
  std::string parameters;
  std::vector<std::string> shards;
};

struct StopRequest {};  // give up the present job, after a checkpoint

using WorkerRequest =
    std::variant<ComputeRequest, EvaluateRequest, StopRequest>;

// What it says of itself when the system confines it wholly.
inline constexpr std::string_view kConfined = "confined";

// First line of a worker: it is there, and this is what it computes on.
struct WorkerReady {
  std::string device;  // "cpu:avx512"
  std::uint32_t arithmetic = 0;
  // kConfined, or how far and why not wholly; empty: nobody asked for it.
  std::string confinement = {};
};
struct WorkerProgress {
  std::uint64_t job = 0;
  std::uint32_t step = 0;
  std::uint32_t steps = 0;
};
struct ComputeDone {
  std::uint64_t job = 0;
  Claim claim;
  double seconds = 0;       // that these took
  std::uint32_t steps = 0;  // computed in this process (less when resumed)
};
// A claim that was to be checked is false: it left the path of the computation
// in one of the steps first_step to last_step (from 1).
struct ComputeDiffers {
  std::uint64_t job = 0;
  // The first of the claim's state digests that differs; their number when all
  // agree, and only update, loss or the claim's end do not.
  std::uint32_t digest = 0;
  std::uint32_t first_step = 0;
  std::uint32_t last_step = 0;
  double seconds = 0;       // as of ComputeDone
  std::uint32_t steps = 0;  // as of ComputeDone
};
struct EvaluateDone {
  std::uint64_t job = 0;
  std::uint64_t correct = 0;
  std::uint64_t samples = 0;
  double loss = 0;  // mean
};
struct WorkerStopped {
  std::uint64_t job = 0;
};
struct WorkerFailed {
  std::uint64_t job = 0;
  std::string kind;  // name_of(ErrorKind)
  std::string why;
};

using WorkerReply =
    std::variant<WorkerReady, WorkerProgress, ComputeDone, ComputeDiffers,
                 EvaluateDone, WorkerStopped, WorkerFailed>;

// One line without its newline.
std::string write(const WorkerRequest& request);
std::string write(const WorkerReply& reply);
WorkerRequest parse_worker_request(const std::string& line);
WorkerReply parse_worker_reply(const std::string& line);

}  // namespace quorate::protocol
