#include "server/page/assets.h"

#include "base/crypto.h"
#include "server/page/embedded.h"

namespace quorate {
namespace {

constexpr Asset kAssets[] = {
    {"/", "text/html; charset=utf-8", embedded::index_html},
    {"/app.js", "text/javascript; charset=utf-8", embedded::app_js},
    {"/charts.js", "text/javascript; charset=utf-8", embedded::charts_js},
    {"/feed.js", "text/javascript; charset=utf-8", embedded::feed_js},
    {"/format.js", "text/javascript; charset=utf-8", embedded::format_js},
    {"/run.js", "text/javascript; charset=utf-8", embedded::run_js},
    {"/tables.js", "text/javascript; charset=utf-8", embedded::tables_js},
    {"/style.css", "text/css; charset=utf-8", embedded::style_css},
    {"/chart.js", "text/javascript; charset=utf-8", embedded::chart_js},
    {"/v1/openapi.json", "application/json", embedded::openapi_json},
};

}  // namespace

std::string Asset::etag() const {
  return '"' + sha256(as_bytes(bytes)).hex().substr(0, 32) + '"';
}

Response asset_response(const Asset& asset) {
  Response response;
  response.content_type = asset.content_type;
  response.etag = asset.etag();
  response.headers = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; "
       "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
       "form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Cache-Control", "no-cache"}};
  response.body = std::string(asset.bytes);
  return response;
}

std::span<const Asset> assets() {
  return kAssets;
}

}  // namespace quorate
