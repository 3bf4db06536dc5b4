// The table of routes: which handler answers which request.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/http/message.h"
#include "server/http/responder.h"

namespace quorate {

// Called on an I/O thread, with the whole body: it must not block; what takes
// long moves the Responder elsewhere. The request is valid during the call and
// may be moved from. A thrown Error becomes the response.
using Handler = std::function<void(Request&, Responder)>;

// Takes a body piece by piece, on one I/O thread. Destroyed without finish():
// the upload broke off. A thrown Error becomes the response, and the rest of
// the body is not read.
class BodySink {
 public:
  virtual ~BodySink() = default;
  virtual void write(ByteView bytes) = 0;
  // The body is complete; takes the place of a Handler.
  virtual void finish(Request& request, Responder responder) = 0;
};

// Called with the request's head before any of its body is read; a Response
// instead of a sink refuses the body.
using SinkFactory =
    std::function<std::variant<std::unique_ptr<BodySink>, Response>(Request&)>;

struct Route {
  Method method = Method::get;
  std::vector<std::string> segments;  // "{name}", "{name...}" or literal
  std::uint64_t max_body_bytes = 0;
  Handler handler;  // one of the two is set
  SinkFactory open_sink;
};

struct RouteMatch {
  const Route* route = nullptr;
  std::string allow;  // the path is known, but only for these: "GET, HEAD"
};

// Filled before the server starts, then only read.
class Router {
 public:
  // pattern: "/v1/objects/{hash}"; a last segment "{path...}" stands for all
  // that are left (at least one). The first route added that fits is taken. A
  // GET route answers HEAD as well, without its body.
  void add(Method method, std::string_view pattern, Handler handler,
           std::uint64_t max_body_bytes = 0);
  // For bodies that do not belong in memory.
  void add_upload(Method method, std::string_view pattern,
                  SinkFactory open_sink, std::uint64_t max_body_bytes);

  // segments: decoded. Fills path_values when a route fits.
  RouteMatch match(Method method, const std::vector<std::string>& segments,
                   std::vector<NameValue>& path_values) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  Route& new_route(Method method, std::string_view pattern);
  std::vector<Route> routes_;
};

}  // namespace quorate
