// openapi.json names the routes that there are.
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "server/doors/native/native_door.h"
#include "server/doors/peers/peer_door.h"
#include "server/page/assets.h"
#include "server/page/page_routes.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

using nlohmann::json;
using Operations = std::set<std::string>;  // "GET /v1/project"

constexpr std::string_view kDocument = "/v1/openapi.json";

Operations documented() {
  Operations operations;
  for (const Asset& asset : assets()) {
    if (asset.path != kDocument) continue;
    json paths = json::parse(asset.bytes)["paths"];
    for (const auto& [path, item] : paths.items()) {
      for (const auto& [name, operation] : item.items()) {
        if (name == "parameters") continue;
        for (Method method : {Method::get, Method::head, Method::post,
                              Method::put, Method::del}) {
          std::string upper(name_of(method));
          std::string lower = upper;
          for (char& c : lower) c = static_cast<char>(c | 0x20);
          if (lower == name) operations.insert(upper + " " + path);
        }
      }
    }
  }
  return operations;
}

// The page's own files are no part of the protocol.
bool is_file_of_the_page(const std::string& path) {
  for (const Asset& asset : assets()) {
    if (path == asset.path) return path != "/" && path != kDocument;
  }
  return false;
}

Operations served() {
  test::TemporaryFolder place;
  ProjectFolder folder{place / "project"};
  create_project(folder, "small", "");
  Project project(folder.root, load_settings(folder.settings()), {},
                  [](const std::string&) {});
  NativeDoor door(project, "");
  PeerDoor peer_door(project);
  PageRoutes page(project);
  Router router;
  door.add_routes(router);
  peer_door.add_routes(router);
  page.add_routes(router);
  Operations operations;
  for (const Route& route : router.routes()) {
    std::string path;
    for (const std::string& segment : route.segments) path += "/" + segment;
    if (path.empty()) path = "/";
    if (is_file_of_the_page(path)) continue;
    operations.insert(std::string(name_of(route.method)) + " " + path);
  }
  return operations;
}

}  // namespace

TEST_CASE("every route is in the document") {
  Operations known = documented();
  for (const std::string& operation : served()) {
    CAPTURE(operation);
    CHECK(known.contains(operation));
  }
}

TEST_CASE("everything in the document is a route") {
  Operations routes = served();
  REQUIRE(routes.size() > 10);
  for (const std::string& operation : documented()) {
    CAPTURE(operation);
    // HEAD comes with GET.
    bool is_head = operation.starts_with("HEAD ");
    CHECK((routes.contains(operation) ||
           (is_head && routes.contains("GET " + operation.substr(5)))));
  }
}

}  // namespace quorate
