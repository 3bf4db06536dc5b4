#include "server/apps/elf_file.h"

#include <algorithm>
#include <cstddef>

#include <doctest/doctest.h>

#include "base/file.h"
#include "tests/server/apps/app_samples.h"

#include <elf.h>

namespace quorate::boinc {
namespace {

const ElfFile kProgram{EM_X86_64, true, "", {"libone.so.1", "libc.so.6"}};
const ElfFile kLibrary{EM_AARCH64, false, "libone.so.1", {"libc.so.6"}};

std::string refusal_of(ByteView bytes) {
  return test::refusal_of(ErrorKind::corrupt,
                          [&] { read_elf(bytes, "the file"); });
}

// The sample with a number of its header or segments changed.
template <class T>
std::string refusal_with(std::size_t offset, T value) {
  Bytes bytes = test::elf_bytes(kProgram);
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  return refusal_of(bytes);
}

constexpr std::size_t kLoad = sizeof(Elf64_Ehdr);
constexpr std::size_t kDynamic = kLoad + sizeof(Elf64_Phdr);

}  // namespace

TEST_CASE("an ELF file says what it is and needs") {
  ElfFile program = read_elf(test::elf_bytes(kProgram), "x");
  CHECK(program.is_program);
  CHECK(program.machine == EM_X86_64);
  CHECK(program.needed == kProgram.needed);
  CHECK(program.soname.empty());
  ElfFile library = read_elf(test::elf_bytes(kLibrary), "x");
  CHECK_FALSE(library.is_program);
  CHECK(library.machine == EM_AARCH64);
  CHECK(library.soname == "libone.so.1");
}

TEST_CASE("this test is a program that needs the C library") {
  ElfFile self = read_elf(read_file("/proc/self/exe"), "self");
  CHECK(self.is_program);
  CHECK(std::find(self.needed.begin(), self.needed.end(), "libc.so.6") !=
        self.needed.end());
}

TEST_CASE("an ELF file that ends anywhere within is refused") {
  Bytes bytes = test::elf_bytes(kProgram);
  bytes.pop_back();  // the salt: behind all that is read
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK(test::has(refusal_of(ByteView(bytes).first(size)), "the file: "));
  }
}

TEST_CASE("an ELF file that leads elsewhere is refused") {
  using Head = Elf64_Ehdr;
  CHECK(test::has(refusal_of(as_bytes("#!/bin/sh\necho a program of the shell, "
                                      "which is longer than a header is\n")),
                  "expected an ELF file of 64 bits"));
  CHECK(test::has(refusal_with<std::uint8_t>(EI_CLASS, ELFCLASS32), "64 bits"));
  CHECK(test::has(refusal_with<std::uint8_t>(EI_DATA, ELFDATA2MSB), "little"));
  CHECK(test::has(refusal_with<std::uint16_t>(offsetof(Head, e_phnum), 65535),
                  "program headers"));
  CHECK(test::has(refusal_with<std::uint16_t>(offsetof(Head, e_phentsize), 1),
                  "program headers"));
  for (std::uint64_t far : {~0ULL, ~0ULL - 55, 1ULL << 63, 4096ULL}) {
    CAPTURE(far);
    CHECK(refusal_with(offsetof(Head, e_phoff), far) != "no error");
    CHECK(refusal_with(kLoad + offsetof(Elf64_Phdr, p_vaddr), far) !=
          "no error");
    CHECK(refusal_with(kLoad + offsetof(Elf64_Phdr, p_offset), far) !=
          "no error");
    CHECK(refusal_with(kDynamic + offsetof(Elf64_Phdr, p_offset), far) !=
          "no error");
  }
  CHECK(refusal_with<std::uint64_t>(kLoad + offsetof(Elf64_Phdr, p_filesz),
                                    0) != "no error");
  CHECK(test::has(refusal_with<std::uint64_t>(
                      kDynamic + offsetof(Elf64_Phdr, p_filesz), 1ULL << 40),
                  "dynamic segment"));
  // The first entry names the text at its value.
  CHECK(test::has(
      refusal_with<std::uint64_t>(
          kDynamic + sizeof(Elf64_Phdr) + sizeof(std::uint64_t), 1ULL << 40),
      "refers to something that it does not contain"));
}

TEST_CASE("a name without an end is refused") {
  ElfFile endless = kProgram;
  endless.needed = {std::string(300, 'x')};
  CHECK(test::has(refusal_of(test::elf_bytes(endless)), "too long"));
}

}  // namespace quorate::boinc
