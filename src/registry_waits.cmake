# SPDX-License-Identifier: Apache-2.0
# Writes registry_NAME.cpp into a folder for each wait policy NAME of a list (include/tutti/wait/list.hpp), and sets
# `sources` to the files. A fourth argument is a template to use instead of registry_wait.cpp.in. The file is written when CMake runs, which it does again when the list changes.
function(tutti_write_registry_waits folder list sources)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
  file(STRINGS "${list}" entries REGEX "^struct [a-z0-9_]+ : wait_entry<")
  set(template "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/registry_wait.cpp.in")
  if(ARGC GREATER 3)
    set(template "${ARGV3}")
  endif()
  set(written)
  foreach(wait ${entries})
    string(REGEX REPLACE "^struct ([a-z0-9_]+) : .*" "\\1" wait "${wait}")
    configure_file("${template}" "${folder}/registry_${wait}.cpp" @ONLY)
    list(APPEND written "${folder}/registry_${wait}.cpp")
  endforeach()
  set(${sources} ${written} PARENT_SCOPE)
endfunction()
