#include "server/http/router.h"

#include <doctest/doctest.h>

#include "server/http/text.h"

using namespace quorate;

namespace {

RouteMatch match(const Router& router, Method method, const char* path,
                 std::vector<NameValue>& values) {
  return router.match(method, parse_target(path)->segments, values);
}

}  // namespace

TEST_CASE("routes are found by method and path") {
  // Given
  Router router;
  Handler handler = [](Request&, Responder) {};
  router.add(Method::get, "/", handler);
  router.add(Method::get, "/v1/objects/newest", handler);
  router.add(Method::get, "/v1/objects/{hash}", handler);
  router.add(Method::put, "/v1/results/{id}/update", handler, 10);
  router.add(Method::get, "/files/{path...}", handler);
  std::vector<NameValue> values;

  SUBCASE("a name takes one segment") {
    RouteMatch found = match(router, Method::get, "/v1/objects/abc", values);
    REQUIRE(found.route);
    CHECK(values == std::vector<NameValue>{{"hash", "abc"}});
    CHECK_FALSE(match(router, Method::get, "/v1/objects/a/b", values).route);
    CHECK_FALSE(match(router, Method::get, "/v1/objects", values).route);
  }
  SUBCASE("the first route added wins") {
    match(router, Method::get, "/v1/objects/newest", values);
    CHECK(values.empty());
  }
  SUBCASE("the rest of a path") {
    REQUIRE(match(router, Method::get, "/files/a/b/c", values).route);
    CHECK(values == std::vector<NameValue>{{"path", "a/b/c"}});
    CHECK_FALSE(match(router, Method::get, "/files", values).route);
  }
  SUBCASE("GET answers HEAD") {
    CHECK(match(router, Method::head, "/", values).route);
  }
  SUBCASE("the wrong method names the right ones") {
    RouteMatch found = match(router, Method::post, "/", values);
    CHECK_FALSE(found.route);
    CHECK(found.allow == "GET, HEAD");
    found = match(router, Method::get, "/v1/results/7/update", values);
    CHECK(found.allow == "PUT");
  }
  SUBCASE("an unknown path names none") {
    CHECK(match(router, Method::get, "/nothing", values).allow.empty());
  }
}
