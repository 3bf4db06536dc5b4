# Flags that every target shares, and the two helpers that make targets.

set(QUORATE_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")
option(QUORATE_WERROR "Warnings are errors" ON)

find_program(QUORATE_CCACHE ccache)
if(QUORATE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${QUORATE_CCACHE})
endif()

# Line numbers are all that a backtrace needs; whole debug information makes the
# build a third longer. The preset debug has it.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
# Contraction would merge a product and a sum into one rounding: the bits of
# canonical arithmetic would then depend on the compiler (docs/numerics.md).
add_compile_options(
  -ffp-contract=off -fno-math-errno -fno-trapping-math
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(QUORATE_WERROR)
  add_compile_options(-Werror)
endif()
if(QUORATE_SANITIZE)
  add_compile_options(-fsanitize=${QUORATE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${QUORATE_SANITIZE})
endif()
# What hostile bytes meet if a check of ours is wrong.
# Sanitizers have stricter checks of their own.
option(QUORATE_HARDEN "Stack protector, checked libc calls, read-only tables" ON)
if(QUORATE_HARDEN AND NOT QUORATE_SANITIZE)
  add_compile_options(-fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
    add_compile_options(-fcf-protection)
  endif()
  # It needs an optimising build.
  add_compile_definitions($<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=2>)
  add_link_options(LINKER:-z,relro,-z,now,-z,noexecstack)
endif()
option(QUORATE_FUZZ "Build the fuzzer (clang only; use QUORATE_SANITIZE too)" OFF)
if(QUORATE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()

# The presets for whole builds compile a target's sources in batches: headers are
# read once a batch (the preset debug compiles each alone).
set(CMAKE_UNITY_BUILD_BATCH_SIZE 10)
if(CMAKE_UNITY_BUILD)
  # g++ takes the sources of a batch for headers, and warns of their anonymous
  # namespaces; clang warns of a local name that another source of the batch has
  # too (g++ watches over real shadows).
  add_compile_options(
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-shadow>)
endif()

# quorate_alone(FILE ...): sources of this folder that stay out of batches, since
# names in their anonymous namespaces clash with others'.
function(quorate_alone)
  set_source_files_properties(${ARGN} PROPERTIES
                              SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# quorate_library(NAME SOURCES ... [USES ...] [PRIVATE ...])
# USES: our own libraries, visible to users of this one. PRIVATE: third-party
# ones; their headers appear in this folder's sources only.
function(quorate_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;USES;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_USES} PRIVATE ${arg_PRIVATE})
  quorate_precompiled(${name} product)
endfunction()

# quorate_room(NAME FOLDER SOURCES ... [USES ...] [PRIVATE ...]): the library of
# one folder below this; its sources are named within it.
function(quorate_room name folder)
  cmake_parse_arguments(arg "" "" "SOURCES;USES;PRIVATE" ${ARGN})
  list(TRANSFORM arg_SOURCES PREPEND ${folder}/)
  quorate_library(${name} SOURCES ${arg_SOURCES} USES ${arg_USES}
                  PRIVATE ${arg_PRIVATE})
endfunction()

# quorate_test(NAME [COST SECONDS] SOURCES ... [USES ...] [PRIVATE ...]): one
# doctest program. Those that take longest say so, and start first: none of them
# is then the last one, that the others' processors wait for. `packaging/test.sh
# --quick` leaves out tests with the label slow, which repeat what others say.
function(quorate_test name)
  cmake_parse_arguments(arg "" "COST" "SOURCES;USES;PRIVATE" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_USES} ${arg_PRIVATE}
                        quorate_test_main doctest::doctest)
  quorate_precompiled(${name} test)
  add_test(NAME ${name} COMMAND ${name})
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()
