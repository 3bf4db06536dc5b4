// Reads the XML of BOINC clients: bounded before a tree is built, and every
// value checked where it is taken. Which elements are read, and what becomes of
// them, stands in tables (Field); elements that no table has are skipped, for
// newer clients send more. A failure throws corrupt and names message, element,
// what was expected and what was found:
//   scheduler request: <result><state>: expected an integer from 0 to 100,
//   found "x"
// For the sources of protocol/boinc only; no other folder includes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <pugixml.hpp>

#include "base/bytes.h"
#include "protocol/boinc/limits.h"

namespace quorate::boinc {

// An element of a document. Lives no longer than its XmlDocument.
class XmlElement {
 public:
  XmlElement(pugi::xml_node node, std::string_view message)
      : node_(node), message_(message) {}

  std::string_view name() const { return node_.name(); }
  // The first piece of text in it, with no white space around.
  std::string_view raw() const;

  std::uint64_t integer(std::uint64_t most) const;  // from 0
  std::uint32_t integer32(std::uint32_t most = UINT32_MAX) const;
  std::int32_t signed32() const;
  double number() const;  // finite, from 0 to kMaxNumber
  // A whole number; clients write sizes as "1055.000000".
  std::uint64_t count() const;
  bool flag() const;  // <x/>, <x>0</x>, <x>1</x>
  // What a machine says of itself and nothing hangs on (times, speeds, sizes):
  // 0, for unknown, when it is no number within the bounds.
  double claimed_number() const;
  std::uint32_t claimed_integer() const;
  // Plain (protocol/text.h) and at most `most` bytes.
  std::string text(std::size_t most) const;
  // Made plain and cut: for people only.
  std::string cut_text(std::size_t most) const;
  // A name that this project gave to a file or result: see is_file_name.
  std::string file_name() const;

  // Throws corrupt: this element, "expected ...", what is there.
  [[noreturn]] void refuse(const std::string& expected) const;
  [[noreturn]] void refuse_more_than(std::size_t most) const;
  [[noreturn]] void refuse_without(std::string_view child) const;

  template <class Visit>  // of an XmlElement
  void each_child(Visit visit) const {
    for (pugi::xml_node child : node_.children()) {
      if (child.type() == pugi::node_element) {
        visit(XmlElement(child, message_));
      }
    }
  }

 private:
  template <class T>
  bool is_number(T& value) const;
  bool is_real(double& value) const;

  pugi::xml_node node_;
  std::string_view message_;
};

// How an element inside another becomes part of a T.
template <class T>
struct Field {
  std::string_view name;
  void (*read)(T& into, const XmlElement& element);
  // How often it has to be there, and may.
  std::size_t least = 0;
  std::size_t most = 1;
};

// Reads the elements in `parent` that `fields` names. Throws corrupt for one
// too many or missing.
template <class T, std::size_t N>
void read_fields(const XmlElement& parent, const Field<T> (&fields)[N],
                 T& into) {
  std::size_t counts[N] = {};
  parent.each_child([&](const XmlElement& child) {
    const std::string_view name = child.name();
    for (std::size_t i = 0; i < N; ++i) {
      if (fields[i].name != name) continue;
      if (++counts[i] > fields[i].most) child.refuse_more_than(fields[i].most);
      fields[i].read(into, child);
      break;
    }
  });
  for (std::size_t i = 0; i < N; ++i) {
    if (counts[i] < fields[i].least) parent.refuse_without(fields[i].name);
  }
}

template <class T, std::size_t N>
T read_as(const XmlElement& parent, const Field<T> (&fields)[N]) {
  T value;
  read_fields(parent, fields, value);
  return value;
}

// Readers for Field::read that set one member.
template <auto member, std::size_t most>
void text(auto& into, const XmlElement& element) {
  into.*member = element.text(most);
}
template <auto member, std::size_t most>
void cut_text(auto& into, const XmlElement& element) {
  into.*member = element.cut_text(most);
}
template <auto member>
void file_name(auto& into, const XmlElement& element) {
  into.*member = element.file_name();
}
template <auto member, std::uint32_t most = UINT32_MAX>
void integer(auto& into, const XmlElement& element) {
  into.*member = element.integer32(most);
}
template <auto member>
void signed_integer(auto& into, const XmlElement& element) {
  into.*member = element.signed32();
}
template <auto member>
void number(auto& into, const XmlElement& element) {
  into.*member = element.number();
}
template <auto member>
void count(auto& into, const XmlElement& element) {
  into.*member = element.count();
}
template <auto member>
void flag(auto& into, const XmlElement& element) {
  into.*member = element.flag();
}
template <auto member>
void claimed_number(auto& into, const XmlElement& element) {
  into.*member = element.claimed_number();
}
template <auto member>
void claimed_integer(auto& into, const XmlElement& element) {
  into.*member = element.claimed_integer();
}
// A list, one element of which `fields` reads.
template <auto member, const auto& fields>
void each(auto& into, const XmlElement& element) {
  (into.*member).push_back(read_as(element, fields));
}
// A structure within the structure.
template <auto member, const auto& fields>
void part(auto& into, const XmlElement& element) {
  read_fields(element, fields, into.*member);
}
// An element that only groups others.
template <const auto& fields>
void inside(auto& into, const XmlElement& element) {
  read_fields(element, fields, into);
}

class XmlDocument {
 public:
  // message: names what is read, "scheduler request". Throws corrupt unless
  // `bytes` are XML with the root element `root`, within kMaxRequestBytes and
  // kMaxMarks, without a zero byte. Entities other than XML's own five are
  // text.
  XmlDocument(ByteView bytes, std::string_view message, const char* root);

  XmlElement root() const { return {document_.document_element(), message_}; }

 private:
  std::string_view message_;
  pugi::xml_document document_;
};

}  // namespace quorate::boinc
