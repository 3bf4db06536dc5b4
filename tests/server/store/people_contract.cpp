#include "tests/server/store/people_contract.h"

#include <array>

#include <doctest/doctest.h>

#include "tests/server/store/store_rows.h"
#include "tests/support/samples.h"

namespace quorate::test {

void keeps_users(Store& store) {
  std::optional<User> house = store.user(kHouseUser);
  REQUIRE(house);
  CHECK(house->name == "house workers");
  CHECK(house->key.is_zero());
  CHECK_FALSE(store.user_by_key(filled<PublicKey>(1)));

  User one = sample_user(1);
  User two = sample_user(2);
  change(store, [&] {
    one.id = store.insert_user(one);
    two.id = store.insert_user(two);
  });
  CHECK(same(store.users(), {*house, one, two}));
  CHECK(same(store.user_by_key(two.key).value(), two));

  User changed = sample_user(3);
  changed.id = one.id;
  change(store, [&] { store.update_users(std::array{changed, two}); });
  CHECK(same(store.users(), {*house, changed, two}));
  CHECK_FALSE(store.user(two.id + 1));
}

void keeps_hosts(Store& store) {
  CHECK(store.hosts().empty());
  Host one = sample_host(1, kHouseUser);
  Host two;
  change(store, [&] {
    two = sample_host(2, store.insert_user(sample_user(1)));
    one.id = store.insert_host(one);
    two.id = store.insert_host(two);
  });
  CHECK(same(store.hosts(), {one, two}));
  CHECK(same(store.host_by_key(two.key).value(), two));
  CHECK_FALSE(store.host_by_key(filled<PublicKey>(3)));

  Host changed = sample_host(3, two.user_id);
  changed.id = one.id;
  change(store, [&] { store.update_hosts({&changed, 1}); });
  CHECK(same(store.hosts(), {changed, two}));
}

void keeps_device_records(Store& store) {
  CHECK(store.device_records().empty());
  change(store, [&] {
    HostId one = add_host(store, 1);
    HostId two = add_host(store, 2);
    store.replace_device_records(std::array{
        DeviceRecord{two, "cpu", 1, 5}, DeviceRecord{one, "opencl:0", 1, 3},
        DeviceRecord{one, "cpu", 1, 7}, DeviceRecord{one, "cpu", 2, 1}});
    store.replace_device_records(std::array{DeviceRecord{one, "cpu", 1, 0}});
  });
  std::vector<DeviceRecord> found = store.device_records();
  REQUIRE(found.size() == 4);
  CHECK(found[0].device == "cpu");
  CHECK(found[0].validated == 0);
  CHECK(found[1].arithmetic == 2);
  CHECK(found[2].device == "opencl:0");
  CHECK(found[2].validated == 3);
  CHECK(found[3].host != found[0].host);
  CHECK(found[3].validated == 5);
}

void forgets_users(Store& store) {
  Host hers = sample_host(1, kHouseUser), other = sample_host(2, kHouseUser);
  Result failed = sample_result(2, {}), others = failed, reported = failed;
  const auto event = [](HostId host, const char* kind) {
    Event made = sample_event(1);
    made.host = host;
    made.kind = kind;
    made.text = "Ann's laptop";
    return made;
  };
  change(store, [&] {
    hers.user_id = store.insert_user(sample_user(1));
    hers.id = store.insert_host(hers);
    other.user_id = store.insert_user(sample_user(2));
    other.id = store.insert_host(other);
    store.insert_boinc_account({hers.user_id, "ann@b.c", {}, {}});
    store.insert_boinc_account({other.user_id, "bob@b.c", {}, {}});
    store.replace_boinc_hosts(
        std::array{BoincHost{hers.id, "f00", 7}, BoincHost{other.id, "ba", 8}});
    store.replace_device_records(
        std::array{DeviceRecord{hers.id, "cuda:0", 1, 9},
                   DeviceRecord{other.id, "cpu", 1, 5}});
    const Workunit unit = add_workunit(store, 1, add_run(store, 1));
    failed = sample_result(2, unit);
    failed.outcome = ResultOutcome::client_error;
    failed.host = hers.id;
    failed.reason = "/home/ann is full";
    reported = others = failed;
    reported.outcome = ResultOutcome::success;
    others.host = other.id;
    for (Result* result : {&failed, &reported, &others}) {
      *result = add_result(store, *result);
    }
    store.insert_events(std::array{
        event(hers.id, "host_joined"), event(hers.id, "result_failed"),
        event(hers.id, "result_rejected"), event(other.id, "host_joined")});
  });
  store.begin();
  store.forget_user(hers.user_id);
  store.rollback();
  CHECK(store.boinc_accounts().size() == 2);
  CHECK(store.device_records().size() == 2);
  CHECK(store.result(failed.id)->reason == failed.reason);

  change(store, [&] { store.forget_user(hers.user_id); });
  REQUIRE(store.boinc_accounts().size() == 1);
  CHECK(store.boinc_accounts()[0].email == "bob@b.c");
  REQUIRE(store.boinc_hosts().size() == 1);
  CHECK(store.boinc_hosts()[0].host == other.id);
  REQUIRE(store.device_records().size() == 1);
  CHECK(store.device_records()[0].host == other.id);
  CHECK(store.result(failed.id)->reason.empty());
  CHECK(store.result(reported.id)->reason == failed.reason);
  CHECK(store.result(others.id)->reason == failed.reason);
  const std::vector<Event> events = store.events({});
  REQUIRE(events.size() == 4);
  CHECK(events[0].text == "Ann's laptop");  // of the other
  CHECK(events[1].text == "Ann's laptop");  // our own words
  CHECK(events[2].text.empty());
  CHECK(events[3].text.empty());
  // Her address is free again.
  change(store, [&] {
    store.insert_boinc_account(
        {store.insert_user(sample_user(3)), "ann@b.c", {}, {}});
  });
}

void keeps_boinc_accounts(Store& store) {
  CHECK(store.boinc_accounts().empty());
  BoincAccount with_email{0, "a@b.c", filled<FixedBytes<16>>(1),
                          filled<Hash>(2)};
  BoincAccount without;
  change(store, [&] {
    without.user = store.insert_user(sample_user(1));
    with_email.user = store.insert_user(sample_user(2));
    store.insert_boinc_account(with_email);
    store.insert_boinc_account(without);
  });
  std::vector<BoincAccount> found = store.boinc_accounts();
  REQUIRE(found.size() == 2);
  CHECK(found[0].user == without.user);
  CHECK(found[0].email.empty());
  CHECK(found[1].email == "a@b.c");
  CHECK(found[1].salt == with_email.salt);
  CHECK(found[1].password == with_email.password);
  // An address is one account's; without one there may be many.
  check_refused(store, [&] {
    with_email.user = store.insert_user(sample_user(3));
    store.insert_boinc_account(with_email);
  });
  change(store, [&] {
    without.user = store.insert_user(sample_user(4));
    store.insert_boinc_account(without);
  });
  CHECK(store.boinc_accounts().size() == 3);
}

void keeps_boinc_hosts(Store& store) {
  CHECK(store.boinc_hosts().empty());
  change(store, [&] {
    HostId one = add_host(store, 1);
    HostId two = add_host(store, 2);
    store.replace_boinc_hosts(
        std::array{BoincHost{two, "f00", 7}, BoincHost{one, "", 0}});
    store.replace_boinc_hosts(std::array{BoincHost{one, "ba5", 4000000000}});
  });
  std::vector<BoincHost> found = store.boinc_hosts();
  REQUIRE(found.size() == 2);
  CHECK(found[0].cpid == "ba5");
  CHECK(found[0].rpc_seqno == 4000000000);
  CHECK(found[1].cpid == "f00");
  CHECK(found[1].rpc_seqno == 7);
}

void keeps_peers(Store& store) {
  CHECK(store.peers().empty());
  Peer one;
  PeerId first = 0;
  change(store, [&] {
    one.run = add_run(store, 1);
    one.url = "https://b.example";
    one.fingerprint = "00ff";
    one.peer_run = "theirs";
    one.every = 1.5;
    one.weight = 0.25F;
    first = store.insert_peer(one);
    one.id = store.insert_peer(one);
    one.mixed = 3;
    one.last_version = 12;
    one.last_parameters = filled<Hash>(7);
    one.last_time = 99;
    store.update_peer(one);
  });
  const std::vector<Peer> found = store.peers();
  REQUIRE(found.size() == 2);
  CHECK(found[0].id == first);
  CHECK(found[0].mixed == 0);
  CHECK(found[1].id == one.id);
  CHECK(found[1].run == one.run);
  CHECK(found[1].url == one.url);
  CHECK(found[1].fingerprint == one.fingerprint);
  CHECK(found[1].peer_run == one.peer_run);
  CHECK(found[1].every == one.every);
  CHECK(found[1].weight == one.weight);
  CHECK(found[1].mixed == 3);
  CHECK(found[1].last_version == 12);
  CHECK(found[1].last_parameters == one.last_parameters);
  CHECK(found[1].last_time == 99);
  change(store, [&] {
    store.remove_peer(one.id);
    store.remove_peer(one.id);
  });
  CHECK(store.peers().size() == 1);
  // Its number is nobody else's afterwards.
  change(store, [&] { CHECK(store.insert_peer(one) > one.id); });
  check_refused(store, [&] {
    one.run = 77;
    store.insert_peer(one);
  });
  CHECK(store.peers().size() == 2);
}

void keeps_allowed_peers(Store& store) {
  CHECK(store.allowed_peers().empty());
  change(store, [&] {
    store.replace_allowed_peer({"bb", "two", 2});
    store.replace_allowed_peer({"aa", "", 1});
    store.replace_allowed_peer({"bb", "renamed", 3});
  });
  const std::vector<AllowedPeer> found = store.allowed_peers();
  REQUIRE(found.size() == 2);
  CHECK(found[0].fingerprint == "aa");
  CHECK(found[1].name == "renamed");
  CHECK(found[1].since == 3);
  change(store, [&] { store.remove_allowed_peer("aa"); });
  CHECK(store.allowed_peers().size() == 1);
}

}  // namespace quorate::test
