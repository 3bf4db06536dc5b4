// Structured logging: one line per event, key=value. The only user of spdlog.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace quorate {

enum class LogLevel { debug, info, warning, error };

struct LogField {
  template <class T>
  LogField(std::string_view k, const T& v)
      : key(k), value(fmt::format("{}", v)) {}
  std::string_view key;
  std::string value;
};

// A log file that does not grow without end: one that is full becomes
// "NAME.1.EXT" (client.log: client.1.log), in place of an older one.
struct RotatingLog {
  std::string path;
  std::size_t most_bytes = 1 << 20;
};

// Where the lines go: standard error, and the file when a path is given.
// Called by main; a later call takes the place of an earlier one. Throws io if
// the file cannot be opened.
void start_logging(LogLevel least, const std::string& file = {});
void start_logging(LogLevel least, const RotatingLog& file);

void log(LogLevel level, std::string_view event,
         std::initializer_list<LogField> fields = {});

inline void log_debug(std::string_view event,
                      std::initializer_list<LogField> fields = {}) {
  log(LogLevel::debug, event, fields);
}
inline void log_info(std::string_view event,
                     std::initializer_list<LogField> fields = {}) {
  log(LogLevel::info, event, fields);
}
inline void log_warning(std::string_view event,
                        std::initializer_list<LogField> fields = {}) {
  log(LogLevel::warning, event, fields);
}
inline void log_error(std::string_view event,
                      std::initializer_list<LogField> fields = {}) {
  log(LogLevel::error, event, fields);
}

}  // namespace quorate
