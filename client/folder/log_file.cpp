#include "client/folder/log_file.h"

#include <algorithm>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate::client {
namespace {

// A line or two may exceed the size at which the log is rotated.
constexpr std::uint64_t kMostRead = 4 * kLogBytes;

fs::path older_file(const fs::path& folder) {
  return folder / "client.1.log";
}

std::string read_if_there(const fs::path& file) {
  return fs::exists(file) ? read_text_file(file, kMostRead) : "";
}

// 0 if there is no such file.
std::uint64_t inode_of(const fs::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? status.st_ino : 0;
}

std::string last_lines(const std::string& text, std::size_t lines) {
  std::size_t begin = text.size();
  while (begin > 0 && lines > 0) {
    // The line that ends at `begin`, with its newline.
    std::size_t before =
        begin < 2 ? std::string::npos : text.rfind('\n', begin - 2);
    begin = before == std::string::npos ? 0 : before + 1;
    --lines;
  }
  return text.substr(begin);
}

}  // namespace

fs::path log_file(const fs::path& folder) {
  return folder / "client.log";
}

bool LogReader::exists() const {
  return inode_of(log_file(folder_)) != 0;
}

std::string LogReader::last(std::size_t lines) {
  std::string older = read_if_there(older_file(folder_));
  inode_ = inode_of(log_file(folder_));
  offset_ = 0;
  return last_lines(older + take(log_file(folder_)), lines);
}

std::string LogReader::more() {
  std::uint64_t inode = inode_of(log_file(folder_));
  if (inode == 0) return "";
  std::string text;
  if (inode != inode_) {
    // Moved aside: its rest first. One that was moved aside twice is gone.
    if (inode_ != 0 && inode_of(older_file(folder_)) == inode_) {
      text = take(older_file(folder_));
    }
    inode_ = inode;
    offset_ = 0;
  }
  return text + take(log_file(folder_));
}

// The whole lines of a file from offset_ on.
std::string LogReader::take(const fs::path& file) {
  std::string text = read_if_there(file);
  if (text.size() < offset_) offset_ = 0;  // somebody has emptied it
  text.erase(0, offset_);
  std::size_t end = text.rfind('\n');
  text.resize(end == std::string::npos ? 0 : end + 1);
  offset_ += text.size();
  return text;
}

}  // namespace quorate::client
