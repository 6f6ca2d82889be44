# SPDX-License-Identifier: Apache-2.0
# Installs the headers, the library and the command, so that find_package(tutti) and pkg-config find
# them, in two components (development, runtime), which are also the two Debian packages.
include(CMakePackageConfigHelpers)

set(tutti_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tutti")
get_target_property(tutti_kind tutti TYPE)

install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT development
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(
  TARGETS tutti tutti_headers
  EXPORT tuttiTargets
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development)
if(TARGET tutti_command)
  install(TARGETS tutti_command RUNTIME COMPONENT runtime)
endif()

# Debian wants the licence of each package under the package's name.
foreach(component_package runtime:tutti development:libtutti-dev)
  string(REPLACE ":" ";" pair "${component_package}")
  list(GET pair 0 component)
  list(GET pair 1 package)
  install(
    FILES "${PROJECT_SOURCE_DIR}/LICENSE"
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${package}"
    COMPONENT ${component}
    RENAME copyright)
endforeach()

install(
  EXPORT tuttiTargets
  NAMESPACE tutti::
  DESTINATION "${tutti_cmake_dir}"
  COMPONENT development)
configure_package_config_file(
  cmake/tuttiConfig.cmake.in tuttiConfig.cmake INSTALL_DESTINATION "${tutti_cmake_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(tuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES "${CMAKE_CURRENT_BINARY_DIR}/tuttiConfig.cmake"
        "${CMAKE_CURRENT_BINARY_DIR}/tuttiConfigVersion.cmake"
  DESTINATION "${tutti_cmake_dir}"
  COMPONENT development)

# pkg-config: paths relative to the file, so that the tree can be moved; for the static library its
# private needs are everybody's.
file(RELATIVE_PATH tutti_pc_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
set(tutti_pc_static_private ".private")
if(tutti_kind STREQUAL "STATIC_LIBRARY")
  set(tutti_pc_static_private "")
  set(tutti_pc_libs " -lboost_context") # It has no pkg-config file to require.
endif()
configure_file(cmake/tutti.pc.in tutti.pc @ONLY)
install(
  FILES "${CMAKE_CURRENT_BINARY_DIR}/tutti.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
  include(TuttiPackage)
endif()
