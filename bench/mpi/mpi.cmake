# SPDX-License-Identifier: Apache-2.0
# tutti-bench-mpi-<family>: episodes and messages between processes, for each MPI that is installed.
get_property(tutti_mpi_families GLOBAL PROPERTY TUTTI_MPI_FAMILIES)
foreach(family IN LISTS tutti_mpi_families)
  add_executable(tutti_bench_mpi_${family} mpi/program.cpp mpi/mpi_series.cpp mpi/tutti_series.cpp)
  target_link_libraries(tutti_bench_mpi_${family} PRIVATE tutti_harness tutti_cli tutti::mpi tutti_warnings)
  tutti_use_mpi(tutti_bench_mpi_${family} ${family})
  set_target_properties(
    tutti_bench_mpi_${family}
    PROPERTIES OUTPUT_NAME tutti-bench-mpi-${family}
               CXX_EXTENSIONS OFF
               RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/libexec/tutti")
  if(TUTTI_INSTALL)
    install(TARGETS tutti_bench_mpi_${family} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/tutti"
                                                      COMPONENT peers)
  endif()
endforeach()
