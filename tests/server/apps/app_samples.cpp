#include "tests/server/apps/app_samples.h"

#include <algorithm>

#include <elf.h>

namespace quorate::boinc::test {
namespace {

template <class T>
void put(Bytes& bytes, const T& value) {
  const auto* raw = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof value);
}

// Texts of the dynamic segment, and where in it each is.
struct Names {
  std::string text{'\0'};

  std::uint64_t add(const std::string& name) {
    std::uint64_t at = text.size();
    text += name + '\0';
    return at;
  }
};

Elf64_Dyn entry(Elf64_Sxword tag, std::uint64_t value) {
  Elf64_Dyn made{};
  made.d_tag = tag;
  made.d_un.d_val = value;
  return made;
}

}  // namespace

// Header, two segments, dynamic entries, their texts; loaded as a whole at an
// address that is not its place in the file.
Bytes elf_bytes(const ElfFile& file, std::uint8_t salt) {
  constexpr std::uint64_t kAddress = 0x400000;
  Names names;
  std::vector<Elf64_Dyn> entries;
  for (const std::string& soname : file.needed) {
    entries.push_back(entry(DT_NEEDED, names.add(soname)));
  }
  if (!file.soname.empty()) {
    entries.push_back(entry(DT_SONAME, names.add(file.soname)));
  }
  if (file.is_program) entries.push_back(entry(DT_FLAGS_1, DF_1_PIE));
  constexpr std::uint64_t kDynamic =
      sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr);
  std::uint64_t texts = kDynamic + (entries.size() + 3) * sizeof(Elf64_Dyn);
  entries.push_back(entry(DT_STRTAB, kAddress + texts));
  entries.push_back(entry(DT_STRSZ, names.text.size()));
  entries.push_back(entry(DT_NULL, 0));

  Elf64_Ehdr head{};
  std::copy_n(ELFMAG, SELFMAG, head.e_ident);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_type = ET_DYN;
  head.e_machine = file.machine;
  head.e_phoff = sizeof head;
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phnum = 2;
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_vaddr = kAddress;
  load.p_filesz = texts + names.text.size();
  Elf64_Phdr dynamic{};
  dynamic.p_type = PT_DYNAMIC;
  dynamic.p_offset = kDynamic;
  dynamic.p_filesz = entries.size() * sizeof(Elf64_Dyn);
  Bytes bytes;
  put(bytes, head);
  put(bytes, load);
  put(bytes, dynamic);
  for (const Elf64_Dyn& one : entries) put(bytes, one);
  bytes.insert(bytes.end(), names.text.begin(), names.text.end());
  bytes.push_back(salt);
  return bytes;
}

const RsaPrivateKey& first_key() {
  static const RsaPrivateKey kKey = RsaPrivateKey::generate();
  return kKey;
}

const RsaPrivateKey& second_key() {
  static const RsaPrivateKey kKey = RsaPrivateKey::generate();
  return kKey;
}

NewVersion new_version(std::uint8_t salt, std::vector<DeviceKind> devices) {
  ElfFile program{EM_X86_64, true, "", {"libmine.so.1", "libc.so.6"}};
  ElfFile library{EM_X86_64, false, "libmine.so.1", {"libc.so.6"}};
  return {"x86_64-pc-linux-gnu",
          std::move(devices),
          app_content("worker", elf_bytes(program, salt)),
          {app_content("libmine.so.1", elf_bytes(library))}};
}

AppManifest sample_manifest() {
  AppManifest manifest = with_version({}, first_key(), new_version(1));
  manifest = with_version(
      manifest, first_key(),
      new_version(2, {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::opencl}));
  manifest = with_retired(manifest, 1);
  return with_next_key(manifest, first_key(), second_key());
}

}  // namespace quorate::boinc::test
