# The headers of others that most sources read, and that take longer to read
# than our own: precompiled once for all targets (QUORATE_PRECOMPILE). A source
# still includes what it uses; tests/includes_test.py sees to that, since this
# build would not.
set(QUORATE_PRECOMPILED
  <algorithm> <array> <atomic> <chrono> <condition_variable> <deque>
  <filesystem> <functional> <map> <memory> <mutex> <optional> <set> <span>
  <sstream> <string> <string_view> <thread> <tuple> <unordered_map>
  <unordered_set> <utility> <variant> <vector>
  <fmt/format.h> <nlohmann/json.hpp>)

option(QUORATE_PRECOMPILE "Precompile the headers of others (clang)" OFF)
if(QUORATE_PRECOMPILE)
  # A compiler cache would otherwise see another header in every build.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
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
  endif()
endfunction()
