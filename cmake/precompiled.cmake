# The headers of others that most sources read, and that take longer to read
# than our own: precompiled once for all targets. A source still includes what
# it uses; tests/includes_test.py sees to that, since this build would not.
set(QUORATE_PRECOMPILED
  <algorithm> <array> <atomic> <chrono> <condition_variable> <deque>
  <filesystem> <functional> <map> <memory> <mutex> <optional> <set> <span>
  <sstream> <string> <string_view> <thread> <tuple> <unordered_map>
  <unordered_set> <utility> <variant> <vector> <fmt/format.h>)

option(QUORATE_PRECOMPILE "Precompile the headers of others" ON)
if(QUORATE_PRECOMPILE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # A compiler cache would otherwise see another header in every build.
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  else()
    # The cache needs the first. g++ forgets which lines of a precompiled header
    # are a system's, and judges the standard library's own.
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess;-Wno-array-bounds;-Wno-stringop-overread;-Wno-stringop-overflow>")
  endif()
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros
        ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "")
  foreach(kind product test)
    add_library(quorate_precompiled_${kind} OBJECT
                ${CMAKE_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(quorate_precompiled_${kind} PRIVATE fmt::fmt)
  endforeach()
  target_precompile_headers(quorate_precompiled_product
                            PRIVATE ${QUORATE_PRECOMPILED})
  target_precompile_headers(quorate_precompiled_test
                            PRIVATE ${QUORATE_PRECOMPILED} <doctest/doctest.h>)
endif()

# kind: product, or test for those that include doctest.
function(quorate_precompiled target kind)
  if(QUORATE_PRECOMPILE)
    target_precompile_headers(${target}
                              REUSE_FROM quorate_precompiled_${kind})
    target_link_libraries(${target} PRIVATE fmt::fmt) # for its definitions
  endif()
endfunction()
