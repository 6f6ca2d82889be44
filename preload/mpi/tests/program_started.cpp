// SPDX-License-Identifier: Apache-2.0
// MPI_Ibarrier, tested and waited for in every way.
#include <mpi.h>
#include <unistd.h>

#include <cstddef>
#include <random>
#include <thread>
#include <vector>

#include "preload/mpi/tests/program.hpp"

namespace program {

// Started barriers: several at once, beside other calls, tested and waited for in every way, and
// on a communicator that is freed before.
void started() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  // The first use, before the communicator is set up.
  MPI_Request first;
  MPI_Ibarrier(comm, &first);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  for (int i = 0; i < 100; ++i) {
    MPI_Request all[4];
    for (MPI_Request& one : all) MPI_Ibarrier(comm, &one);
    if (i % 3 == 0) check_sum(comm, i);
    int token = world_rank, from = -1;
    const int next = (world_rank + 1) % world_size,
              before = (world_rank + world_size - 1) % world_size;
    MPI_Sendrecv(&token, 1, MPI_INT, next, 1, &from, 1, MPI_INT, before, 1, comm,
                 MPI_STATUS_IGNORE);
    expect(from == before, "a message is wrong");
    if (i % 4 == 0) {
      MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
    } else if (i % 4 == 1) {
      for (int is_done = 0; is_done == 0;) MPI_Testall(4, all, &is_done, MPI_STATUSES_IGNORE);
    } else if (i % 4 == 2) {
      for (int k = 0; k < 4; ++k) {
        int which = -1;
        MPI_Waitany(4, all, &which, MPI_STATUS_IGNORE);
        expect(which >= 0 && which < 4, "MPI_Waitany found no request");
      }
    } else {
      for (int k = 3; k >= 0; --k)
        for (int is_done = 0; is_done == 0;) {
          MPI_Status status;
          MPI_Test(&all[k], &is_done, &status);
        }
    }
    for (const MPI_Request& one : all) expect(one == MPI_REQUEST_NULL, "a request is left over");
  }
  // A barrier must not end before the last rank has started it.
  MPI_Request late;
  if (world_rank == world_size - 1) usleep(30'000);
  const double start = MPI_Wtime();
  MPI_Ibarrier(comm, &late);
  MPI_Wait(&late, MPI_STATUS_IGNORE);
  if (world_rank == 0) expect(MPI_Wtime() - start > 0.01, "a started barrier ended too early");
  MPI_Comm_free(&comm);
}

// A barrier on a communicator that is freed before it ends. Without the preload, Open MPI 4.1.4
// ends with a segmentation fault here.
void freed() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  MPI_Request request;
  if (world_rank == world_size - 1) usleep(30'000);
  const double start = MPI_Wtime();
  MPI_Ibarrier(comm, &request);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (world_rank == 0) expect(MPI_Wtime() - start > 0.01, "a started barrier ended too early");
}

// A rank that waits for a started barrier alone goes on sending a message for which another one
// waits before it starts the barrier; and its state may be asked for without a test.
void started_alone() {
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<char> data(8 << 20);
  const int bytes = static_cast<int>(data.size());
  MPI_Request barrier, message = MPI_REQUEST_NULL;
  if (world_rank == 0) MPI_Isend(data.data(), bytes, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &message);
  if (world_rank == 1) {
    usleep(3'000);
    MPI_Recv(data.data(), bytes, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  MPI_Wait(&message, MPI_STATUS_IGNORE);
  MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
  for (int is_over = 0; is_over == 0;) MPI_Request_get_status(barrier, &is_over, MPI_STATUS_IGNORE);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
}

namespace {

// Ends all requests in a way of this rank's own.
void end_all(std::vector<MPI_Request>& all, unsigned way) {
  const int count = static_cast<int>(all.size());
  std::vector<MPI_Status> status(all.size());
  std::vector<int> which(all.size());
  const auto each = [&](const auto& end) {
    for (MPI_Request& one : all) end(one);
  };
  int left = count, found = 0, is_done = 0;
  switch (way % 9) {
    case 0: MPI_Waitall(count, all.data(), status.data()); break;
    case 1: each([](MPI_Request& one) { MPI_Wait(&one, MPI_STATUS_IGNORE); }); break;
    case 2:
      each([](MPI_Request& one) {
        for (int is_over = 0; is_over == 0;) MPI_Test(&one, &is_over, MPI_STATUS_IGNORE);
      });
      break;
    case 3:
      for (; left > 0; --left) MPI_Waitany(count, all.data(), &found, status.data());
      break;
    case 4:
      for (; left > 0; left -= found)
        MPI_Waitsome(count, all.data(), &found, which.data(), status.data());
      break;
    case 5:
      while (is_done == 0) MPI_Testall(count, all.data(), &is_done, MPI_STATUSES_IGNORE);
      break;
    case 6:
      for (; left > 0; left -= found)
        MPI_Testsome(count, all.data(), &found, which.data(), status.data());
      break;
    case 7:
      for (; left > 0; left -= is_done)
        MPI_Testany(count, all.data(), &found, &is_done, status.data());
      break;
    default:
      each([](MPI_Request& one) {
        for (int is_over = 0; is_over == 0;)
          MPI_Request_get_status(one, &is_over, MPI_STATUS_IGNORE);
        MPI_Wait(&one, MPI_STATUS_IGNORE);
      });
  }
  each([](const MPI_Request& one) { expect(one == MPI_REQUEST_NULL, "a request is left over"); });
}

// Several communicators, which are made and freed, and on which barriers are started. All ranks
// roll the same dice, and each of them other dice for what the others do not see.
void start_and_end(MPI_Comm parent, unsigned seed) {
  std::mt19937 common(seed), own(1000 * seed + static_cast<unsigned>(world_rank));
  std::vector<MPI_Comm> alive(2);
  const auto make = [&](MPI_Comm& made) {
    MPI_Comm_dup(parent, &made);
    MPI_Barrier(made);
  };
  for (MPI_Comm& one : alive) make(one);
#ifdef OPEN_MPI
  // Threads that wait poll all the time.
  constexpr int turns = 30;
#else
  constexpr int turns = 500;
#endif
  for (int i = 0; i < turns; ++i) {
    std::vector<MPI_Request> all(1 + common() % 4);
    for (MPI_Request& one : all) MPI_Ibarrier(alive[common() % alive.size()], &one);
    const auto way = static_cast<unsigned>(common() % 8);
    if (way == 0) {
      // A communicator may be freed before its barriers are over.
      MPI_Comm_free(&alive.back());
      make(alive.back());
    }
    if (way == 1) check_sum(alive.front(), i);
    if (own() % 50 == 0) usleep(static_cast<unsigned>(own() % 1000));
    end_all(all, static_cast<unsigned>(own()));
  }
  for (MPI_Comm& one : alive) MPI_Comm_free(&one);
}

}  // namespace

// Threads start barriers, end them in every way, and make and free communicators, at once. MPICH
// frees a request while it has a lock that others need to complete theirs.
void started_by_threads() {
  std::vector<MPI_Comm> parents(4);
  for (MPI_Comm& one : parents) MPI_Comm_dup(MPI_COMM_WORLD, &one);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < parents.size(); ++i)
    threads.emplace_back(start_and_end, parents[i], static_cast<unsigned>(i + 1));
  for (std::thread& one : threads) one.join();
  for (MPI_Comm& one : parents) MPI_Comm_free(&one);
}

}  // namespace program
