# SPDX-License-Identifier: Apache-2.0
# tutti-bench-mpi-<family>: episodes and messages between processes, for each MPI that is installed.
# tutti-bench-mpi-preload-<family>: what preload.py starts; like that, it is not installed.
get_property(tutti_mpi_families GLOBAL PROPERTY TUTTI_MPI_FAMILIES)
foreach(family IN LISTS tutti_mpi_families)
  add_executable(tutti_bench_mpi_${family} mpi/program.cpp mpi/mpi_series.cpp mpi/tutti_series.cpp)
  add_executable(tutti_bench_mpi_preload_${family} mpi/preload_program.cpp)
  foreach(kind "" preload_)
    set(target tutti_bench_mpi_${kind}${family})
    string(REPLACE _ - program ${target})
    target_link_libraries(${target} PRIVATE tutti_harness tutti_cli tutti::mpi tutti_warnings)
    tutti_use_mpi(${target} ${family})
    set_target_properties(
      ${target}
      PROPERTIES OUTPUT_NAME ${program}
                 CXX_EXTENSIONS OFF
                 RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/tutti")
  endforeach()
  if(TUTTI_INSTALL)
    install(TARGETS tutti_bench_mpi_${family} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tutti"
                                                      COMPONENT peers)
  endif()
endforeach()
