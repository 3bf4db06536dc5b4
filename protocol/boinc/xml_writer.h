// Writes what BOINC clients read: not XML at large, but lines of it, as their
// reader looks for tags line by line. For the sources of protocol/boinc only.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace quorate::boinc {

// `text` with "&", "<" and ">" as entities: the three that clients know.
std::string escaped(std::string_view text);

class XmlWriter {
 public:
  // <name> ... </name>, with what `inside` writes between, each in its line.
  template <std::invocable Inside>
  void group(std::string_view name, Inside inside) {
    line("<", name);
    ++depth_;
    inside();
    --depth_;
    line("</", name);
  }
  // <name>text</name>, the text escaped.
  void element(std::string_view name, std::string_view text);
  template <class Number>
  requires std::integral<Number> || std::floating_point<Number>
  void element(std::string_view name, Number value) {
    element(name, std::string_view(fmt::format("{}", value)));
  }
  // <name/>, if it is so.
  void flag(std::string_view name, bool is_set = true);
  // <name>, newline, lines (which end in a newline), </name>: for keys and
  // signatures, which clients copy as they stand.
  void block(std::string_view name, std::string_view lines);
  // <name attribute="value">text</name>
  void element_with(std::string_view name, std::string_view attribute,
                    std::string_view value, std::string_view text);

  std::string take() { return std::move(out_); }

 private:
  void indent() { out_.append(2 * depth_, ' '); }
  void line(std::string_view open, std::string_view name);

  std::string out_;
  std::size_t depth_ = 0;
};

}  // namespace quorate::boinc
