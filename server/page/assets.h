// Files that are part of the program: the page and what it needs.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace quorate {

struct Asset {
  const char* path;  // on the server: "/", "/app.js"
  const char* content_type;
  std::string_view bytes;

  // Quoted hash of the bytes.
  std::string etag() const;
};

// With the headers that let a page load nothing but its own files and data.
Response asset_response(const Asset& asset);

// Of the public page; lives as long as the program.
std::span<const Asset> assets();

}  // namespace quorate
