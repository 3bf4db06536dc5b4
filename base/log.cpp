#include "base/log.h"

#include <memory>
#include <vector>

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/text.h"

namespace quorate {
namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// Quotes a value that would not read as one word; control bytes (hosts choose
// some of these texts) never reach the log raw.
void append_value(std::string& line, const std::string& value) {
  bool plain = !value.empty() && shown_text(value) == value;
  for (char c : value) {
    if (c <= ' ' || c == '"' || c == '=' || c == '\\') {
      plain = false;
    }
  }
  if (plain) {
    line += value;
    return;
  }
  line += '"';
  std::string quoted;
  for (char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  line += shown_text(quoted) + '"';
}

// file: null for standard error only.
void log_to(LogLevel least, spdlog::sink_ptr file) {
  std::vector<spdlog::sink_ptr> sinks;
  sinks.push_back(std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  if (file) sinks.push_back(std::move(file));
  auto logger =
      std::make_shared<spdlog::logger>("quorate", sinks.begin(), sinks.end());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  logger->set_level(level_of(least));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

template <class Sink, class... Arguments>
spdlog::sink_ptr open_sink(const std::string& file, Arguments... arguments) {
  try {
    return std::make_shared<Sink>(file, arguments...);
  } catch (const spdlog::spdlog_ex& e) {
    throw Error(ErrorKind::io,
                fmt::format("open the log {}: {}", file, e.what()));
  }
}

}  // namespace

void start_logging(LogLevel least, const std::string& file) {
  using Sink = spdlog::sinks::basic_file_sink_mt;
  log_to(least, file.empty() ? nullptr : open_sink<Sink>(file));
}

void start_logging(LogLevel least, const RotatingLog& file) {
  using Sink = spdlog::sinks::rotating_file_sink_mt;
  log_to(least, open_sink<Sink>(file.path, file.most_bytes, std::size_t{1}));
}

void log(LogLevel level, std::string_view event,
         std::initializer_list<LogField> fields) {
  if (!spdlog::should_log(level_of(level))) return;
  std::string line(event);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    append_value(line, field.value);
  }
  spdlog::log(level_of(level), "{}", line);
}

}  // namespace quorate
