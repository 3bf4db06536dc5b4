#include "server/hosts/hosts.h"

#include <string>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"

namespace quorate {
namespace {

using test::filled;

struct Table {
  Table() { store->begin(); }
  ~Table() { store->rollback(); }

  Host machine(std::uint8_t fill) {
    Host host;
    host.key = filled<PublicKey>(fill);
    host.name = "machine";
    host.door = "native";
    return host;
  }

  std::unique_ptr<Store> store = open_memory_store();
  HostTable hosts{*store, 1000};
  PublicKey ann = filled<PublicKey>(1), bob = filled<PublicKey>(2);
};

Instant at(double seconds) {
  return Instant{Seconds(seconds)};
}

}  // namespace

TEST_CASE("an account is registered once; again, it changes its name") {
  Table table;
  UserId ann = table.hosts.register_user(table.ann, "Ann", 5).id;
  CHECK(ann != kHouseUser);
  CHECK(table.hosts.register_user(table.ann, "Anne", 6).id == ann);
  CHECK(table.hosts.user(ann)->name == "Anne");
  CHECK(table.hosts.register_user(table.ann, "", 7).name == "Anne");
  CHECK(table.hosts.register_user(table.bob, "", 8).id != ann);
  CHECK_FALSE(table.hosts.register_user(table.bob, "", 8).name.empty());
}

TEST_CASE("only a name that was chosen is everybody's") {
  Table table;
  table.hosts.register_user(table.ann, "Ann", 5);
  Host machine = table.machine(9);  // an older client's: its network's name
  machine.name = "anns-laptop";
  machine.platform = "linux-x86_64, 8 cores, 15 GiB";
  const HostId id = table.hosts.register_host(machine, table.ann, 6).id;
  const std::string neutral = "host-" + machine.key.hex().substr(0, 6);
  CHECK(public_name(*table.hosts.host(id)) == neutral);
  CHECK(public_platform(*table.hosts.host(id)) == "linux-x86_64");

  machine.name = neutral;  // a newer client, without a choice
  table.hosts.register_host(machine, table.ann, 7);
  CHECK(table.hosts.host(id)->name == "anns-laptop");  // to the operator
  CHECK(public_name(*table.hosts.host(id)) == neutral);

  machine.name = "lab 3";
  machine.has_chosen_name = true;
  table.hosts.register_host(machine, table.ann, 8);
  CHECK(public_name(*table.hosts.host(id)) == "lab 3");

  machine.name = neutral;
  machine.has_chosen_name = false;
  table.hosts.register_host(machine, table.ann, 9);
  CHECK(table.hosts.host(id)->name == "lab 3");
  CHECK(public_name(*table.hosts.host(id)) == neutral);
}

TEST_CASE("a host belongs to the account that registered it first") {
  Table table;
  table.hosts.register_user(table.ann, "Ann", 5);
  table.hosts.register_user(table.bob, "Bob", 5);
  Host machine = table.machine(9);
  HostId id = table.hosts.register_host(machine, table.ann, 6).id;
  machine.name = "renamed";
  CHECK(table.hosts.register_host(machine, table.ann, 7).id == id);
  CHECK(table.hosts.host(id)->name == "renamed");
  CHECK_THROWS_AS(table.hosts.register_host(machine, table.bob, 8), Error);
  CHECK_THROWS_AS(
      table.hosts.register_host(table.machine(10), filled<PublicKey>(3), 8),
      Error);
  CHECK(table.hosts.host_by_key(machine.key)->id == id);
  CHECK(table.hosts.host_by_key(filled<PublicKey>(10)) == nullptr);
  CHECK(table.hosts.host(id + 1) == nullptr);
}

// A house worker's word decides a quorum by itself; its user's key is zero, and
// for that key anybody can make signatures that verify.
TEST_CASE("nobody joins the user of the house workers") {
  Table table;
  for (const char* name : {"", "house workers"}) {
    CHECK_THROWS_WITH_AS(table.hosts.register_user(PublicKey{}, name, 5),
                         doctest::Contains("not a usable key"), Error);
  }
  CHECK_THROWS_AS(table.hosts.register_host(table.machine(9), PublicKey{}, 5),
                  Error);
  Host house = table.hosts.register_house_host(table.machine(9), 5);
  CHECK(house.user_id == kHouseUser);
  CHECK_THROWS_AS(table.hosts.register_host(table.machine(9), PublicKey{}, 6),
                  Error);
}

TEST_CASE("an account has only so many hosts") {
  Table table;
  HostTable hosts(*table.store, 3);
  hosts.register_user(table.ann, "Ann", 5);
  hosts.register_user(table.bob, "Bob", 5);
  for (std::uint8_t i = 10; i < 13; ++i) {
    hosts.register_host(table.machine(i), table.ann, 6);
  }
  CHECK_THROWS_WITH_AS(hosts.register_host(table.machine(13), table.ann, 6),
                       doctest::Contains("has 3 hosts"), Error);
  hosts.register_host(table.machine(12), table.ann, 7);  // a known one
  hosts.register_host(table.machine(13), table.bob, 7);
  hosts.register_house_host(table.machine(14), 7);
}

TEST_CASE("a name that looks like another's has digits of the key") {
  Table table;
  const UserId ann = table.hosts.register_user(table.ann, "Anni", 5).id;
  for (const char* name :
       {"Anni", "ANNI", "anni", "An ni", "\u0391nni", "\uff21nni",
        "\u1d00nn\u0456", "Ann\u0456", "\U0001d400nni", "A\u0274\u0274i"}) {
    CAPTURE(name);
    CHECK(table.hosts.register_user(table.bob, name, 6).name ==
          std::string(name) + " (02020202)");
  }
  CHECK(table.hosts.user(ann)->name == "Anni");
  CHECK(table.hosts.register_user(table.ann, "ANNI", 7).name == "ANNI");
  CHECK(table.hosts.register_user(table.bob, "Annie", 7).name == "Annie");
  CHECK_THROWS_WITH_AS(table.hosts.give_name(ann, "annie"),
                       doctest::Contains("another volunteer has this name"),
                       Error);
  // Also after a restart, and until she has another.
  HostTable reloaded(*table.store, 1000);
  CHECK(reloaded.register_user(table.bob, "Anni", 8).name == "Anni (02020202)");
  reloaded.register_user(table.ann, "Eve", 9);
  CHECK(reloaded.register_user(table.bob, "Anni", 9).name == "Anni");
}

TEST_CASE("what is added to a long name leaves room for itself") {
  Table table;
  const std::string name(64, 'w');
  table.hosts.register_user(table.ann, name, 5);
  CHECK(table.hosts.register_user(table.bob, name, 5).name ==
        std::string(53, 'w') + " (02020202)");
}

TEST_CASE("accounts of before that share a name keep it") {
  Table table;
  for (const PublicKey& key : {table.ann, table.bob}) {
    User user;
    user.key = key;
    user.name = "Ann";
    table.store->insert_user(user);
  }
  HostTable hosts(*table.store, 1000);
  CHECK(hosts.register_user(table.ann, "Ann", 5).name == "Ann");
  CHECK(hosts.register_user(table.bob, "Ann", 5).name == "Ann");
}

TEST_CASE("nobody takes the name of the house workers") {
  Table table;
  for (const char* name :
       {"house workers", "House-Workers!", " HOUSE  WORKERS ", "house worker",
        // Digits, Cyrillic, Greek, full width, bold.
        "House workers 3", "H0use w0rker5", "Н\u043euse workers",
        "h\u03bfuse w\u03bfr\u03baers", "\uff28\uff4fuse workers",
        "\U0001d421\U0001d428use workers"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(table.hosts.register_user(table.ann, name, 5), Error);
  }
  table.hosts.register_user(table.ann, "Ann of the White House", 5);
  CHECK_THROWS_AS(table.hosts.register_user(table.ann, "house workers", 6),
                  Error);
  CHECK(table.hosts.user_by_key(table.ann)->name == "Ann of the White House");
}

TEST_CASE("where a host asked from is forgotten when it is silent for long") {
  Table table;
  table.hosts.note_block(1, "192.0.2.0/24", at(0));
  table.hosts.note_block(2, "198.51.100.0/24", at(3 * 86400));
  CHECK(table.hosts.block(1) == "192.0.2.0/24");
  table.hosts.note_block(3, "203.0.113.0/24", at(7 * 86400));
  CHECK(table.hosts.block(1).empty());
  CHECK(table.hosts.block(2) == "198.51.100.0/24");
}

TEST_CASE("credit and last-seen times are in the store after flush()") {
  Table table;
  UserId ann = table.hosts.register_user(table.ann, "Ann", 0).id;
  HostId id = table.hosts.register_host(table.machine(9), table.ann, 0).id;
  table.hosts.add_credit(id, 2.5, 0, 0);
  table.hosts.add_credit(id, 1.0, 0, 0);
  table.hosts.touch(*table.hosts.host(id), at(99), 99'000);
  CHECK(table.store->user(ann)->credit == 0);
  table.hosts.flush();
  HostTable reloaded(*table.store, 1000);
  CHECK(reloaded.host(id)->credit == 3.5);
  CHECK(reloaded.user(ann)->credit == 3.5);
  CHECK(reloaded.host(id)->last_seen == 99'000);
  CHECK(reloaded.host_by_key(filled<PublicKey>(9))->id == id);
  CHECK(reloaded.user_by_key(table.ann)->id == ann);
}

}  // namespace quorate
