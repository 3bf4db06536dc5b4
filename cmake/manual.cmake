# quorate_manual(PROGRAM [completion]): what a program says about itself, made
# by itself whenever it was linked: share/man/man1/PROGRAM.1 and the completion
# for bash, below the build folder as they are installed.
function(quorate_manual program)
  set(manual ${CMAKE_BINARY_DIR}/share/man/man1)
  set(completions ${CMAKE_BINARY_DIR}/share/bash-completion/completions)
  file(MAKE_DIRECTORY ${manual} ${completions})
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND ${program} --man-page > ${manual}/${program}.1
    BYPRODUCTS ${manual}/${program}.1)
  if("completion" IN_LIST ARGN)
    add_custom_command(TARGET ${program} POST_BUILD
      COMMAND ${program} completion bash > ${completions}/${program}
      BYPRODUCTS ${completions}/${program})
  endif()
endfunction()
