// What the project signs: the tasks of its workunits and the entries of its
// ledgers. A simulation in which only the scheduling matters brings one that
// writes nothing, for that is what most of its time would go to.
#pragma once

#include "server/settings/project_folder.h"
#include "workunits/ledger/ledger.h"
#include "workunits/task.h"

namespace quorate {

class Notary {
 public:
  virtual ~Notary() = default;

  // The task as an object that volunteers are sent; its hash names the unit.
  virtual Bytes sealed(const TrainingTask& task) const = 0;
  // The entry as a line, with its hash and the project's signature. The hash
  // includes that of the record before, which the entry names.
  virtual LedgerRecord record(const LedgerEntry& entry) const = 0;
};

class ProjectNotary final : public Notary {
 public:
  // keys: outlive it.
  explicit ProjectNotary(const ProjectKeys& keys) : keys_(keys) {}

  Bytes sealed(const TrainingTask& task) const override;
  LedgerRecord record(const LedgerEntry& entry) const override;

 private:
  const ProjectKeys& keys_;
};

}  // namespace quorate
