// SPDX-License-Identifier: Apache-2.0
// What programs do beside and around the calls that the preload serves.
#include <dlfcn.h>
#include <mpi.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "preload/mpi/tests/program.hpp"

namespace program {

// A type with absolute addresses, of data at MPI_BOTTOM; the others may describe it otherwise.
void at_bottom() {
  for (int i = 0; i < 6; ++i) {
    const int root = i % world_size;
    int data[3] = {-1, -1, -1};
    int* const first = &data[0];
    int* const last = &data[2];
    if (world_rank == root) *first = i, *last = i + 1;
    MPI_Aint where[2];
    MPI_Get_address(first, &where[0]);
    MPI_Get_address(last, &where[1]);
    const int lengths[2] = {1, 1};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Datatype both;
    MPI_Type_create_struct(2, lengths, where, types, &both);
    MPI_Type_commit(&both);
    if (world_rank == 0 && i % 2 == 0) {
      int side_by_side[2] = {*first, *last};
      MPI_Bcast(side_by_side, 2, MPI_INT, root, MPI_COMM_WORLD);
      *first = side_by_side[0], *last = side_by_side[1];
    } else {
      MPI_Bcast(MPI_BOTTOM, 1, both, root, MPI_COMM_WORLD);
    }
    MPI_Type_free(&both);
    expect(*first == i && data[1] == -1 && *last == i + 1, "a broadcast from MPI_BOTTOM is wrong");
  }
  // A null pointer with another type is a mistake.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const auto own_bcast = own<int(void*, int, MPI_Datatype, int, MPI_Comm)>("PMPI_Bcast");
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
#ifndef OPEN_MPI  // Open MPI would use the address.
  int found = 0, of_mpi = 0;
  MPI_Error_class(MPI_Bcast(nullptr, 1, two, 0, MPI_COMM_WORLD), &found);
  MPI_Error_class(own_bcast(nullptr, 1, two, 0, MPI_COMM_WORLD), &of_mpi);
  expect(found != MPI_SUCCESS && found == of_mpi, "no data was accepted");
#endif
  static_cast<void>(own_bcast);
  MPI_Type_free(&two);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

// MPI makes collective calls itself.
void files() {
  std::string path = folder + "written-XXXXXX";
  if (world_rank == 0) {
    const int made = mkstemp(path.data());
    expect(made >= 0, "there is no file");
    close(made);
  }
  MPI_Bcast(path.data(), static_cast<int>(path.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_File file;
  expect(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                       MPI_INFO_NULL, &file) == MPI_SUCCESS,
         "a file was not opened");
  MPI_File_write_at_all(file, 4 * world_rank, &world_rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  const int other = (world_rank + 1) % world_size;
  int found = -1;
  MPI_File_read_at_all(file, 4 * other, &found, 1, MPI_INT, MPI_STATUS_IGNORE);
  expect(found == other, "a file has other data");
  MPI_File_close(&file);
}

// The kernel kills a process that makes a file larger than it may.
void small_files() {
  const rlimit small{512, 512};
  expect(setrlimit(RLIMIT_FSIZE, &small) == 0, "files cannot be limited");
  check_sum(MPI_COMM_WORLD, 1);
}

// A broadcast only reads the root's data.
void constant_data() {
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  constexpr char sentence[] = "the same for all";
  std::memcpy(page, sentence, sizeof sentence);
  mprotect(page, bytes, PROT_READ);
  for (int i = 0; i < 10; ++i) {
    char text[sizeof sentence] = "";
    void* const data = world_rank == i % world_size ? page : text;
    MPI_Bcast(data, sizeof sentence, MPI_CHAR, i % world_size, MPI_COMM_WORLD);
    expect(std::memcmp(data, sentence, sizeof sentence) == 0, "a broadcast is wrong");
  }
  munmap(page, bytes);
}

// A child that ends as a program does takes nothing from its parent.
void forked() {
  MPI_Barrier(MPI_COMM_WORLD);
  const pid_t child = fork();
  if (child == 0) std::exit(0);
  int status = -1;
  expect(waitpid(child, &status, 0) == child && status == 0, "a child did not end");
  for (int i = 0; i < 20; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    check_sum(MPI_COMM_WORLD, i);
  }
}

// A communicator is freed while messages are under way on it, at some ranks only.
void pending() {
  for (int i = 0; i < 5; ++i) {
    MPI_Comm comm, other;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_sum(comm, i);
    MPI_Request all[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::vector<int> large(1 << 18, world_rank == i % world_size ? i : -1);
    MPI_Ibcast(large.data(), 1 << 18, MPI_INT, i % world_size, comm, &all[2]);
    int sent = i, received = -1;
    if (world_rank == 0) {
      MPI_Irecv(&received, 1, MPI_INT, 0, 1, comm, &all[0]);
      MPI_Isend(&sent, 1, MPI_INT, 0, 1, comm, &all[1]);
    }
    MPI_Comm_free(&comm);
    // It gets the handle where nothing is under way.
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &other);
    check_sum(other, i);
    MPI_Waitall(3, all, MPI_STATUSES_IGNORE);
    expect(world_rank != 0 || received == i, "a message is wrong");
    expect(large.front() == i && large.back() == i, "a broadcast is wrong");
    check_sum(other, i + 1);
    MPI_Comm_free(&other);
  }
}

// A thread loads a library while another one makes the first call.
void loading() {
  std::thread loads([] {
    expect(dlopen((folder + "libmpi_slow_to_load.so").c_str(), RTLD_NOW) != nullptr,
           "a library is not loaded");
  });
  usleep(200'000);
  MPI_Barrier(MPI_COMM_WORLD);
  loads.join();
}

void missing_first() {
  if (world_rank == 1) sleep(30);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace program
