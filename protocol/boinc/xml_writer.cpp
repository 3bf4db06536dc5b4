#include "protocol/boinc/xml_writer.h"

namespace quorate::boinc {
namespace {

void append_escaped(std::string& out, std::string_view text) {
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

void XmlWriter::line(std::string_view open, std::string_view name) {
  indent();
  out_.append(open).append(name).append(">\n");
}

void XmlWriter::element(std::string_view name, std::string_view text) {
  indent();
  out_.append("<").append(name).append(">");
  append_escaped(out_, text);
  out_.append("</").append(name).append(">\n");
}

void XmlWriter::flag(std::string_view name, bool is_set) {
  if (!is_set) return;
  indent();
  out_.append("<").append(name).append("/>\n");
}

void XmlWriter::block(std::string_view name, std::string_view lines) {
  out_.append("<").append(name).append(">\n");
  out_.append(lines);
  out_.append("</").append(name).append(">\n");
}

void XmlWriter::element_with(std::string_view name, std::string_view attribute,
                             std::string_view value, std::string_view text) {
  indent();
  out_.append("<").append(name).append(" ").append(attribute).append("=\"");
  out_.append(value).append("\">");
  append_escaped(out_, text);
  out_.append("</").append(name).append(">\n");
}

}  // namespace quorate::boinc
