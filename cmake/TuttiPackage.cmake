# SPDX-License-Identifier: Apache-2.0
# The Debian packages, made by CPack: libtutti0 (the shared library), libtutti-graph0 (the one of graphs in C),
# libtutti-dev (headers and libraries), tutti (the command), tutti-mpi (its plugins for Open MPI and MPICH) and tutti-peers (what the benches compare with).
set(packages library:libtutti${PROJECT_VERSION_MAJOR} development:libtutti-dev)
if(TARGET tutti_graph)
  list(APPEND packages graph:libtutti-graph${PROJECT_VERSION_MAJOR})
endif()
if(TARGET tutti_command)
  list(APPEND packages runtime:tutti peers:tutti-peers)
  get_property(families GLOBAL PROPERTY TUTTI_MPI_FAMILIES)
  if(families)
    list(APPEND packages mpi:tutti-mpi)
  endif()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tutti)
set(CPACK_PACKAGE_CONTACT "The tutti developers <tutti@invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "synchronisation from core to cluster")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/package")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# The archive of the sources, by the target package_source, without what git ignores.
set(CPACK_SOURCE_GENERATOR TXZ)
# It has the sources at its top, and nothing below /usr.
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/debian/prefix.cmake"
     "if(CPACK_GENERATOR STREQUAL TXZ)\n  set(CPACK_PACKAGING_INSTALL_PREFIX /)\nendif()\n")
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_BINARY_DIR}/debian/prefix.cmake")
# In a regular expression a dot stands for a plus sign, too.
string(REPLACE "+" "." this_build "${PROJECT_BINARY_DIR}")
set(CPACK_SOURCE_IGNORE_FILES
    "^${this_build}/" "/build/" "/dist/" "/results/" "/\\\\.git/" "/\\\\.venv/" "/\\\\.cache/" "/__pycache__/" "/\\\\.pytest_cache/")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
set(CPACK_COMPONENTS_ALL "")

# describe(<component> <section> <summary> <text>)
macro(describe component section summary text)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${text}")
endmacro()
set(what "tutti has barriers, reductions, fork-join teams and a barrier that counts\nmessages, for threads and processes.")
describe(library libs "barriers, reductions and teams: shared library" "${what}\nThis package has the shared library.")
describe(development libdevel "barriers, reductions and teams: headers and libraries"
         "${what}\nThis package has what programs are built with.")
describe(graph libs "graphs and their applications in C: shared library"
         "${what}\nThis package has the shared library of graphs and their applications.")
describe(runtime utils "barriers, reductions and teams: command that measures"
         "${what}\nThis package has the command that measures them.")
describe(mpi utils "barriers, reductions and teams: the command under mpirun"
         "${what}\nThis package has what the command needs under Open MPI and MPICH.")
describe(peers utils "barriers, reductions and teams: programs to compare with"
         "${what}\nThis package has what they are compared with.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${CMAKE_CURRENT_BINARY_DIR}/debian/triggers")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_GRAPH_PACKAGE_CONTROL_EXTRA "${CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA}")
# The symbols file says with which version each symbol came. As long as the version begins with 0, programs depend on
# the very version that they were built with, as dpkg's shlibs file says as well.
find_program(TUTTI_GENSYMBOLS dpkg-gensymbols)
mark_as_advanced(TUTTI_GENSYMBOLS)
# tutti_add_symbols(<component> <package> <target>)
function(tutti_add_symbols component package target)
  if(NOT TUTTI_GENSYMBOLS OR NOT TARGET ${target})
    return()
  endif()
  # dpkg wants the file to have this very name.
  set(symbols "${CMAKE_CURRENT_BINARY_DIR}/debian/${component}/symbols")
  add_custom_command(
    OUTPUT "${symbols}"
    COMMAND "${CMAKE_COMMAND}" -E rm -f "${symbols}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${CMAKE_CURRENT_BINARY_DIR}/debian/${component}"
    COMMAND "${TUTTI_GENSYMBOLS}" -q -p${package} -v${PROJECT_VERSION} -e$<TARGET_FILE:${target}>
            "-P${CMAKE_CURRENT_BINARY_DIR}/debian/${component}" "-O${symbols}"
    COMMAND sed -i "1s/#MINVER#/(= ${PROJECT_VERSION}-1)/" "${symbols}"
    DEPENDS ${target}
    COMMENT "Writing the symbols of the Debian package ${package}"
    VERBATIM)
  add_custom_target(${target}_symbols ALL DEPENDS "${symbols}")
  string(TOUPPER ${component} upper)
  list(APPEND CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${symbols}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA}" PARENT_SCOPE)
endfunction()
tutti_add_symbols(library libtutti${PROJECT_VERSION_MAJOR} tutti_shared)
tutti_add_symbols(graph libtutti-graph${PROJECT_VERSION_MAJOR} tutti_graph_shared)
# The libraries that the linker needs for the static library and for the graphs' one.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "")
foreach(used HWLOC:libhwloc-dev HIGHWAY:libhwy-dev BOOST_CONTEXT:libboost-context-dev)
  string(REPLACE ":" ";" used "${used}")
  list(POP_FRONT used name package)
  if(TUTTI_HAVE_${name})
    list(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ${package})
  endif()
endforeach()
get_property(more GLOBAL PROPERTY TUTTI_DEVELOPMENT_PACKAGES)
list(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ${more})
if(TARGET tutti_shared OR BUILD_SHARED_LIBS)
  list(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libtutti${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}-1)")
  if(TARGET tutti_graph)
    list(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
         "libtutti-graph${PROJECT_VERSION_MAJOR} (= ${PROJECT_VERSION}-1)")
  endif()
else()
  list(REMOVE_ITEM packages library:libtutti${PROJECT_VERSION_MAJOR} graph:libtutti-graph${PROJECT_VERSION_MAJOR})
endif()
list(JOIN CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", " CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "tutti-mpi, tutti-peers")
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "tutti (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_PEERS_PACKAGE_DEPENDS "tutti (= ${PROJECT_VERSION}-1)")

# Debian wants the licence and the changes of each package under the package's name. They are in the packages alone:
# EXCLUDE_FROM_ALL keeps them from an installation of everything, which is none of Debian's.
find_program(TUTTI_GZIP gzip)
mark_as_advanced(TUTTI_GZIP)
set(changes "${CMAKE_CURRENT_BINARY_DIR}/debian/changelog.Debian")
file(WRITE "${changes}" "tutti (${PROJECT_VERSION}-1) unstable; urgency=medium

  * See CHANGELOG.md in the sources.

 -- The tutti developers <tutti@invalid>  Thu, 01 Jan 2026 00:00:00 +0000
")
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/debian/copyright" "Copyright (C) 2026 the tutti developers
License: Apache-2.0; on Debian systems its text is in /usr/share/common-licenses/Apache-2.0.
")
set(texts "${CMAKE_CURRENT_BINARY_DIR}/debian/copyright")
if(TUTTI_GZIP)
  execute_process(COMMAND "${TUTTI_GZIP}" -9nkf "${changes}")
  list(APPEND texts "${changes}.gz")
endif()
foreach(package IN LISTS packages)
  string(REPLACE ":" ";" package "${package}")
  list(POP_FRONT package component name)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  install(
    FILES ${texts}
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${name}"
    COMPONENT ${component}
    EXCLUDE_FROM_ALL)
endforeach()

# The program `tutti` only starts another one; loading a shared C library would take longer than that.
if(TARGET tutti_command AND TUTTI_HAVE_STATIC_C_LIBRARY)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/debian/overrides" "tutti: statically-linked-binary [usr/bin/tutti]\n")
  install(
    FILES "${CMAKE_CURRENT_BINARY_DIR}/debian/overrides"
    DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides"
    RENAME tutti
    COMPONENT runtime
    EXCLUDE_FROM_ALL)
endif()

# The manual page, made of what the command says of itself.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(TARGET tutti_command AND Python3_FOUND)
  set(manual "${CMAKE_CURRENT_BINARY_DIR}/debian/tutti.1.gz")
  add_custom_command(
    OUTPUT "${manual}"
    COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/man.py" $<TARGET_FILE:tutti_command> "${manual}"
    DEPENDS tutti_command "${PROJECT_SOURCE_DIR}/tools/man.py"
    COMMENT "Writing the manual page")
  add_custom_target(tutti_manual ALL DEPENDS "${manual}")
  install(
    FILES "${manual}"
    DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
    COMPONENT runtime)
endif()
include(CPack)
