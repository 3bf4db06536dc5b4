#include "server/apps/elf_file.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"

#include <elf.h>

namespace quorate::boinc {
namespace {

constexpr std::size_t kMaxSegments = 256;
constexpr std::size_t kMaxDynamic = 4096;
constexpr std::size_t kMaxName = 255;

class ElfReader {
 public:
  ElfReader(ByteView bytes, const std::string& what)
      : bytes_(bytes), what_(what) {}

  ElfFile read() {
    auto head = at<Elf64_Ehdr>(0, "header");
    bool is_ours = std::equal(head.e_ident, head.e_ident + SELFMAG, ELFMAG) &&
                   head.e_ident[EI_CLASS] == ELFCLASS64 &&
                   head.e_ident[EI_DATA] == ELFDATA2LSB;
    if (!is_ours) refuse("expected an ELF file of 64 bits, little-endian");
    ElfFile file;
    file.machine = head.e_machine;
    file.is_program = head.e_type == ET_EXEC;
    read_segments(head);
    read_dynamic(file);
    return file;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::corrupt, what_ + ": " + why);
  }

  template <class T>
  T at(std::uint64_t offset, const char* name) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) {
      refuse(fmt::format("ends before its {}: is it whole?", name));
    }
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  void read_segments(const Elf64_Ehdr& head) {
    if (head.e_phnum > kMaxSegments || head.e_phoff > bytes_.size() ||
        (head.e_phnum > 0 && head.e_phentsize != sizeof(Elf64_Phdr))) {
      refuse("its program headers are not as expected");
    }
    for (std::uint64_t i = 0; i < head.e_phnum; ++i) {
      auto segment =
          at<Elf64_Phdr>(head.e_phoff + i * sizeof(Elf64_Phdr), "segments");
      if (segment.p_type == PT_LOAD) loaded_.push_back(segment);
      if (segment.p_type == PT_DYNAMIC) dynamic_ = segment;
    }
  }

  // Where in the file lies what will be at this address.
  std::uint64_t offset_of(std::uint64_t address) const {
    for (const Elf64_Phdr& segment : loaded_) {
      if (address < segment.p_vaddr) continue;
      std::uint64_t within = address - segment.p_vaddr;
      bool is_in_file = within < segment.p_filesz && within < bytes_.size() &&
                        segment.p_offset < bytes_.size();
      if (is_in_file) return segment.p_offset + within;
    }
    refuse("names an address outside the file");
  }

  std::string name_at(std::uint64_t offset) const {
    if (!names_ || offset >= names_->size())
      refuse("refers to something that it does not contain");
    ByteView rest = names_->subspan(offset);
    rest = rest.first(std::min(rest.size(), kMaxName + 1));
    auto end = std::find(rest.begin(), rest.end(), 0);
    if (end == rest.end()) refuse("has a name that is too long");
    return {rest.begin(), end};
  }

  void find_names(const std::vector<Elf64_Dyn>& entries) {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) size = entry.d_un.d_val;
    }
    if (size == 0) return;
    std::uint64_t offset = offset_of(address);
    if (offset > bytes_.size() || bytes_.size() - offset < size) {
      refuse("ends before its names: is it whole?");
    }
    names_ = bytes_.subspan(offset, size);
  }

  std::vector<Elf64_Dyn> dynamic_entries() const {
    std::vector<Elf64_Dyn> entries;
    if (!dynamic_) return entries;
    std::uint64_t most = dynamic_->p_filesz / sizeof(Elf64_Dyn);
    if (most > kMaxDynamic || dynamic_->p_offset > bytes_.size()) {
      refuse("its dynamic segment is not as expected");
    }
    for (std::uint64_t i = 0; i < most; ++i) {
      auto entry = at<Elf64_Dyn>(dynamic_->p_offset + i * sizeof(Elf64_Dyn),
                                 "dynamic segment");
      if (entry.d_tag == DT_NULL) break;
      entries.push_back(entry);
    }
    return entries;
  }

  void read_dynamic(ElfFile& file) {
    std::vector<Elf64_Dyn> entries = dynamic_entries();
    find_names(entries);
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NEEDED) {
        file.needed.push_back(name_at(entry.d_un.d_val));
      } else if (entry.d_tag == DT_SONAME) {
        file.soname = name_at(entry.d_un.d_val);
      } else if (entry.d_tag == DT_FLAGS_1) {
        // A program that can be loaded anywhere has the type of a library.
        file.is_program |= (entry.d_un.d_val & DF_1_PIE) != 0;
      }
    }
  }

  ByteView bytes_;
  const std::string& what_;
  std::vector<Elf64_Phdr> loaded_;
  std::optional<Elf64_Phdr> dynamic_;
  std::optional<ByteView> names_;
};

}  // namespace

ElfFile read_elf(ByteView bytes, const std::string& what) {
  return ElfReader(bytes, what).read();
}

}  // namespace quorate::boinc
