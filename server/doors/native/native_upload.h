// PUT /v1/results/ID/update: payloads as native clients send them, with
// Content-Range, answered on the I/O thread that has the bytes.
#pragma once

#include <memory>
#include <variant>

#include "server/http/router.h"
#include "server/objects/upload.h"

namespace quorate {

// Takes the next bytes of a payload. The request's Content-Range (or, without
// one, Content-Length) must begin at uploads.offset(): 409 with Upload-Offset
// otherwise; 413 for more than the update of its task can have; 503 when the
// disk is nearly full, or will be when the uploads under way are complete, or
// another upload of the same result runs.
std::variant<std::unique_ptr<BodySink>, Response> open_native_upload(
    Uploads& uploads, const OpenResult& open, const Request& request);

}  // namespace quorate
