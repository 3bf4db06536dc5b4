# quorate_embed(TARGET SOURCE HEADER NAME=FILE ...): makes HEADER with one
# `inline constexpr std::string_view NAME` in namespace quorate::embedded for
# each file, for SOURCE of TARGET to include. Only for that source: a compiler
# cache then serves all the others to every build folder.
function(quorate_embed target source header)
  set(out ${CMAKE_BINARY_DIR}/embedded/${header})
  set(files)
  foreach(pair ${ARGN})
    string(REGEX REPLACE "^[^=]*=" "" file ${pair})
    list(APPEND files ${file})
  endforeach()
  string(REPLACE ";" "|" pairs "${ARGN}")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DPAIRS=${pairs}"
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
  set_property(SOURCE ${source} APPEND PROPERTY
               INCLUDE_DIRECTORIES ${CMAKE_BINARY_DIR}/embedded)
endfunction()
