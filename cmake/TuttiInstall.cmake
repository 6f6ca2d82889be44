# SPDX-License-Identifier: Apache-2.0
# Installs the headers, the library and the programs, so that find_package(tutti) and pkg-config find
# them, in components that are also the Debian packages: library (libtutti0), graph (libtutti-graph0: graphs in C),
# development (libtutti-dev),
# runtime (tutti: the command), mpi (tutti-mpi) and peers (tutti-peers); documents are in no package.
include(CMakePackageConfigHelpers)

get_target_property(tutti_kind tutti TYPE)
set(tutti_cmake_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tutti")
set(tutti_installed_libraries tutti)
if(TARGET tutti_shared)
  list(APPEND tutti_installed_libraries tutti_shared)
endif()

# The core alone has no library of graphs and none of processes, and so none of their headers.
set(tutti_headers_left_out "")
if(TUTTI_CORE_ONLY)
  set(tutti_headers_left_out REGEX "/include/tutti/(graph|graph\\.h|mpi)$" EXCLUDE)
endif()
install(
  DIRECTORY "${PROJECT_SOURCE_DIR}/include/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  COMPONENT development
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" ${tutti_headers_left_out})
install(
  TARGETS ${tutti_installed_libraries} tutti_headers
  EXPORT tuttiTargets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development)
if(TARGET tutti_command)
  install(TARGETS tutti_front RUNTIME COMPONENT runtime)
  install(TARGETS tutti_command tutti_vcode_command RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tutti" COMPONENT runtime)
endif()

install(
  EXPORT tuttiTargets
  NAMESPACE tutti::
  DESTINATION "${tutti_cmake_dir}"
  COMPONENT development)
set(tutti_shared_files "")
foreach(library tutti tutti_shared tutti_graph tutti_graph_shared)
  if(TARGET ${library})
    get_target_property(kind ${library} TYPE)
    get_target_property(name ${library} OUTPUT_NAME)
    if(NOT name)
      set(name ${library})
    endif()
    if(kind STREQUAL "SHARED_LIBRARY")
      string(APPEND tutti_shared_files " lib${name}.so.${PROJECT_VERSION}")
    endif()
  endif()
endforeach()
configure_package_config_file(
  cmake/tuttiConfig.cmake.in tuttiConfig.cmake INSTALL_DESTINATION "${tutti_cmake_dir}"
  PATH_VARS CMAKE_INSTALL_LIBDIR
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(tuttiConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES "${CMAKE_CURRENT_BINARY_DIR}/tuttiConfig.cmake"
        "${CMAKE_CURRENT_BINARY_DIR}/tuttiConfigVersion.cmake"
  DESTINATION "${tutti_cmake_dir}"
  COMPONENT development)

# pkg-config: paths relative to the file, so that the tree can be moved, unless the folders are absolute. What the library
# itself needs is everybody's if only the static one is installed.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(tutti_pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH tutti_pc_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
  string(PREPEND tutti_pc_prefix "\${pcfiledir}/")
endif()
foreach(folder INCLUDEDIR LIBDIR)
  string(TOLOWER "tutti_pc_${folder}" variable)
  set(${variable} "${CMAKE_INSTALL_${folder}}")
  if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    string(PREPEND ${variable} "\${prefix}/")
  endif()
endforeach()
set(tutti_pc_private_libs "")
foreach(used HWLOC:hwloc HIGHWAY:hwy BOOST_CONTEXT:boost_context)
  string(REPLACE ":" ";" used "${used}")
  list(POP_FRONT used name library)
  if(TUTTI_HAVE_${name})
    string(APPEND tutti_pc_private_libs " -l${library}")
  endif()
endforeach()
string(APPEND tutti_pc_private_libs " -lstdc++ -lm")
set(tutti_pc_libs "")
if(tutti_kind STREQUAL "STATIC_LIBRARY" AND NOT TARGET tutti_shared)
  set(tutti_pc_libs "${tutti_pc_private_libs}")
endif()
configure_file(cmake/tutti.pc.in tutti.pc @ONLY)
install(
  FILES "${CMAKE_CURRENT_BINARY_DIR}/tutti.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
  COMPONENT development)

# The same for graphs in C: what the static library needs beside that of tutti.
if(TARGET tutti_graph)
  set(tutti_graph_pc_private_libs " -ltutti_graph_data -ltutti")
  get_target_property(graph_data_needs tutti_graph_data LINK_LIBRARIES)
  foreach(needed z metis)
    if("${graph_data_needs}" MATCHES "INSTALL_INTERFACE:${needed}>")
      string(APPEND tutti_graph_pc_private_libs " -l${needed}")
    endif()
  endforeach()
  string(APPEND tutti_graph_pc_private_libs "${tutti_pc_private_libs}")
  set(tutti_graph_pc_libs "")
  if(tutti_kind STREQUAL "STATIC_LIBRARY" AND NOT TARGET tutti_graph_shared)
    set(tutti_graph_pc_libs "${tutti_graph_pc_private_libs}")
  endif()
  configure_file(cmake/tutti-graph.pc.in tutti-graph.pc @ONLY)
  install(
    FILES "${CMAKE_CURRENT_BINARY_DIR}/tutti-graph.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
    COMPONENT development)
endif()

# What people read. The Debian packages have texts of their own (TuttiPackage); the Conan package lacks these sources.
foreach(file README.md CHANGELOG.md CITATION.cff LICENSE)
  install(
    FILES "${PROJECT_SOURCE_DIR}/${file}"
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/tutti"
    COMPONENT documents
    OPTIONAL)
endforeach()
if(EXISTS "${PROJECT_SOURCE_DIR}/examples")
  install(
    DIRECTORY "${PROJECT_SOURCE_DIR}/examples"
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/tutti"
    COMPONENT documents
    FILES_MATCHING REGEX "\\.([ch]|[ch]pp|py)$"
    PATTERN ports EXCLUDE
    PATTERN tests EXCLUDE)
endif()

if(PROJECT_IS_TOP_LEVEL)
  include(TuttiPackage)
endif()
