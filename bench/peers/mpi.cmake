# SPDX-License-Identifier: Apache-2.0
# The program of MPI's peer, for whichever MPI is installed.
find_package(MPI QUIET COMPONENTS C)
if(NOT MPI_C_FOUND OR NOT MPIEXEC_EXECUTABLE)
  set(peer_missing "no MPI was installed when tutti was built")
  return()
endif()

include(CheckSymbolExists)
set(CMAKE_REQUIRED_INCLUDES ${MPI_C_INCLUDE_DIRS})
check_symbol_exists(OPEN_MPI mpi.h TUTTI_MPI_IS_OPEN_MPI)
check_symbol_exists(MPICH_VERSION mpi.h TUTTI_MPI_IS_MPICH)
unset(CMAKE_REQUIRED_INCLUDES)
set(tutti_mpi_family mpi)
if(TUTTI_MPI_IS_OPEN_MPI)
  set(tutti_mpi_family openmpi)
elseif(TUTTI_MPI_IS_MPICH)
  set(tutti_mpi_family mpich)
endif()
set_source_files_properties(
  peers/mpi.cpp PROPERTIES COMPILE_DEFINITIONS
                           "TUTTI_MPI_FAMILY=\"${tutti_mpi_family}\";TUTTI_MPI_LAUNCHER=\"${MPIEXEC_EXECUTABLE}\"")

add_executable(tutti_peer_mpi peers/mpi/process.cpp)
target_link_libraries(tutti_peer_mpi PRIVATE tutti_harness tutti_warnings MPI::MPI_C)
# The C++ interface that MPI dropped long ago would need another library.
target_compile_definitions(tutti_peer_mpi PRIVATE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
tutti_add_peer_program(tutti_peer_mpi mpi)
