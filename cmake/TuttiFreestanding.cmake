# SPDX-License-Identifier: Apache-2.0
# tutti_freestanding: compiles each header up to barrier/ alone, without operating system,
# exceptions and run-time types, as the kernel, the simulator and hardware drivers use them.
# A header that cannot (it needs the standard library's threads, say) has a line "// Hosted only: reason".

set(tutti_freestanding_sources "")
foreach(folder platform schedule wait barrier)
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
       "${PROJECT_SOURCE_DIR}/include/tutti/${folder}/*.hpp")
  foreach(header IN LISTS headers)
    file(STRINGS "${PROJECT_SOURCE_DIR}/include/${header}" hosted REGEX "^// Hosted only: ")
    if(hosted)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER "${header}" stem)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/freestanding/${stem}.cpp")
    # Included twice: the include guard is tested too.
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include <${header}>\n#include <${header}>\n")
    list(APPEND tutti_freestanding_sources "${source}")
  endforeach()
endforeach()

list(LENGTH tutti_freestanding_sources count)
message(STATUS "Headers to compile freestanding: ${count}")
if(tutti_freestanding_sources)
  add_library(tutti_freestanding OBJECT ${tutti_freestanding_sources})
  set_target_properties(tutti_freestanding PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(tutti_freestanding PRIVATE -ffreestanding -fno-exceptions -fno-rtti)
  target_link_libraries(tutti_freestanding PRIVATE tutti_headers tutti_warnings)
endif()
