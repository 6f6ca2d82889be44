// SPDX-License-Identifier: Apache-2.0
// Mistakes, which MPI reports as it does without the preload.
#include <mpi.h>
#include <setjmp.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "preload/mpi/tests/program.hpp"

namespace program {
namespace {

jmp_buf back;
void jump_back(MPI_Comm*, int*, ...) { longjmp(back, 1); }

}  // namespace

// MPI refuses these calls before it waits for another rank.
static void one_rank_errs(MPI_Comm comm) {
  int values[4] = {}, results[4] = {};
  const auto is_refused = [&](const void* mine, void* result, MPI_Datatype type, MPI_Op op) {
    return MPI_Allreduce(mine, result, 1, type, op, comm) != MPI_SUCCESS;
  };
  expect(is_refused(values, results, MPI_INT, MPI_REPLACE), "MPI_REPLACE was accepted");
  expect(is_refused(values, results, MPI_INT, MPI_MAXLOC), "a place without a value was accepted");
  MPI_Datatype two;
  MPI_Type_contiguous(2, MPI_INT, &two);
#ifndef OPEN_MPI  // Open MPI begins these calls.
  expect(MPI_Bcast(values, 1, two, 0, comm) != MPI_SUCCESS, "an unready type was accepted");
  expect(is_refused(values, results, MPI_DOUBLE_INT, MPI_SUM), "a sum of pairs was accepted");
  expect(is_refused(values, results, MPI_PACKED, MPI_SUM), "a sum of packed data was accepted");
  expect(is_refused(values, nullptr, MPI_INT, MPI_SUM), "no result was accepted");
  expect(is_refused(nullptr, results, MPI_INT, MPI_SUM), "no operand was accepted");
  expect(is_refused(values, values, MPI_INT, MPI_SUM), "operand and result in one were accepted");
  expect(is_refused(values, MPI_IN_PLACE, MPI_INT, MPI_SUM), "a result in place was accepted");
#endif
  MPI_Type_commit(&two);
  expect(is_refused(values, results, two, MPI_SUM), "a sum of a derived type was accepted");
  MPI_Type_free(&two);
}

void call_before_init(const std::string& scenario) {
  int value = 0, all = 0;
  if (scenario.ends_with("Barrier")) MPI_Barrier(MPI_COMM_WORLD);
  if (scenario.ends_with("Bcast")) MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (scenario.ends_with("Allreduce"))
    MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

void errors_are_reported() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Barrier(MPI_COMM_WORLD);
  int value = 0, all = 0;
  expect(MPI_Bcast(&value, 1, MPI_INT, world_size, MPI_COMM_WORLD) != MPI_SUCCESS,
         "a root that is none was accepted");
  expect(MPI_Bcast(&value, -1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS,
         "a negative count was accepted");
  expect(MPI_Allreduce(&value, &all, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS,
         "no type was accepted");
  expect(MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD) != MPI_SUCCESS,
         "no operation was accepted");
  // Open MPI lets one value pass.
  int both[2] = {};
  expect(MPI_Allreduce(both, both, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS,
         "a result in the place of the operand was accepted");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);

  // One rank errs, on a communicator that nobody has used; the world's errors are fatal.
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (world_rank == 0) {
    expect(MPI_Bcast(&value, 1, MPI_INT, world_size, comm) != MPI_SUCCESS, "a root was accepted");
    expect(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm) != MPI_SUCCESS, "a type was accepted");
    expect(MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_BXOR, comm) != MPI_SUCCESS,
           "bits of a double were accepted");
    one_rank_errs(comm);
    for (int rank = 1; rank < world_size; ++rank)
      MPI_Send(nullptr, 0, MPI_INT, rank, 2, MPI_COMM_WORLD);
  } else {
    // Until then this rank makes no call on the communicator.
    MPI_Recv(nullptr, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  // All have the same mistake: none may wait for another.
  MPI_Datatype uncommitted;
  MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted);
  int values[8] = {};
  expect(MPI_Bcast(values, 1, uncommitted, 0, comm) != MPI_SUCCESS, "an unready type was accepted");
  MPI_Type_free(&uncommitted);
  if (world_rank > 0)
    expect(MPI_Bcast(values, 4, MPI_INT, 0, comm) != MPI_SUCCESS, "a short buffer was accepted");
  else
    MPI_Bcast(values, 8, MPI_INT, 0, comm);

  // An error handler may leave the call by a jump. Afterwards the rank goes on with the others.
  MPI_Errhandler jumps;
  MPI_Comm_create_errhandler(jump_back, &jumps);
  MPI_Comm_set_errhandler(comm, jumps);
  if (world_rank == 0 && setjmp(back) == 0) {
    MPI_Bcast(&value, 1, MPI_INT, world_size, comm);
    fail("the error handler did not jump");
  }
  check_sum(comm, 5);
  // So does one that MPI calls while it packs the data. The next call is served, as on the others.
  MPI_Datatype late;
  MPI_Type_vector(2, 1, 2, MPI_INT, &late);
  if (world_rank == 0 && setjmp(back) == 0) {
    MPI_Bcast(values, 1, late, 0, comm);
    fail("the error handler did not jump");
  }
  MPI_Type_commit(&late);
  values[0] = world_rank == 0 ? 7 : 0;
  MPI_Bcast(values, 1, late, 0, comm);
  expect(values[0] == 7, "a broadcast after a mistake is wrong");
  check_sum(comm, 6);
  MPI_Type_free(&late);
  MPI_Errhandler_free(&jumps);
  MPI_Comm_free(&comm);
}

// Rank 0 tries to free what stays, and its error handler leaves that by a jump. Afterwards all make
// their first call, which must be the same on all.
void jumps_out_of_freeing() {
  MPI_Errhandler jumps;
  MPI_Comm_create_errhandler(jump_back, &jumps);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, jumps);
  const auto fail_to_free = [](MPI_Comm comm) {
    if (world_rank > 0 || setjmp(back) != 0) return;
    MPI_Comm_free(&comm);
    fail("the error handler did not jump");
  };
  fail_to_free(MPI_COMM_WORLD);
  check_sum(MPI_COMM_WORLD, 1);

  static bool may_be_freed = false;
  const auto refuse = [](MPI_Comm, int, void*, void*) {
    return may_be_freed ? MPI_SUCCESS : MPI_ERR_OTHER;
  };
  int key = 0;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, &key, nullptr);
  for (int i = 0; i < 20; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, jumps);
    MPI_Comm_set_attr(comm, key, nullptr);
    may_be_freed = false;
    fail_to_free(comm);
    check_sum(comm, i + 2);
    may_be_freed = true;
    if (i % 2 == 0) MPI_Comm_free(&comm);
  }
  MPI_Comm_free_keyval(&key);
  MPI_Errhandler_free(&jumps);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

namespace {

int calls_of_handler = 0;
void count_call(MPI_Comm*, int*, ...) { ++calls_of_handler; }

}  // namespace

// The next barriers are those of all ranks, although one has tried to start another.
static void start_in_step() {
  std::atomic<int>* started = nullptr;
  MPI_Win window;
  MPI_Win_allocate_shared(world_rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &started,
                          &window);
  MPI_Aint bytes = 0;
  int unit = 0;
  MPI_Win_shared_query(window, 0, &bytes, &unit, &started);
  if (world_rank == 0) started->store(0);
  for (int i = 1; i <= 3; ++i) {
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == world_size - 1) {
      usleep(20'000);
      started->store(i);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(started->load() == i, "a started barrier ended too early");
  }
  MPI_Win_free(&window);
}

// There is no request for the first started barrier of rank 0, so that it is not started.
void a_barrier_without_request_is_not_started() {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Request request = MPI_REQUEST_NULL;
  if (world_rank == 0)
    expect(MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS, "no error was told");
  start_in_step();
}

// MPICH knows a communicator that has been freed, and says so once. Open MPI uses its memory.
void each_error_is_told_once() {
  MPI_Errhandler counts;
  MPI_Comm_create_errhandler(count_call, &counts);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, counts);
  MPI_Comm freed, copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  copy = freed;
  MPI_Barrier(freed);
  MPI_Comm_free(&freed);
  int value = 0, all = 0;
  MPI_Request request;
  const auto is_told_once = [](int error, const std::string& call) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(error, &error_class);
    expect(error_class == MPI_ERR_COMM, call + " has accepted a communicator that is freed");
    expect(std::exchange(calls_of_handler, 0) == 1, call + " has not called the handler once");
  };
  is_told_once(MPI_Barrier(copy), "MPI_Barrier");
  is_told_once(MPI_Ibarrier(copy, &request), "MPI_Ibarrier");
  is_told_once(MPI_Bcast(&value, 1, MPI_INT, 0, copy), "MPI_Bcast");
  is_told_once(MPI_Allreduce(&value, &all, 1, MPI_INT, MPI_SUM, copy), "MPI_Allreduce");

  // A barrier without a place for its request is not started: the next ones are those of all.
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0)
    expect(MPI_Ibarrier(MPI_COMM_WORLD, nullptr) != MPI_SUCCESS, "no request was accepted");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  start_in_step();
  MPI_Errhandler_free(&counts);
}

namespace {

// Tries something with the request of a started barrier that MPI refuses; its own request tells the
// error.
void try_with_started_barrier(int (*attempt)(MPI_Request*)) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const auto own_ibarrier = own<int(MPI_Comm, MPI_Request*)>("PMPI_Ibarrier");
  // Rank 0 tries it before the others start the barrier, so that it is not over.
  const auto error_with = [&](const auto& start) {
    MPI_Request request;
    int error = 0, error_class = 0;
    if (world_rank > 0) MPI_Recv(nullptr, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(start(comm, &request) == MPI_SUCCESS, "a barrier was not started");
    if (world_rank == 0) {
      error = attempt(&request);
      expect(error != MPI_SUCCESS && request != MPI_REQUEST_NULL, "a mistake was accepted");
      int is_over = 0;
      MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
      expect(is_over == 0, "a barrier was over before others had started it");
      for (int rank = 1; rank < world_size; ++rank)
        MPI_Send(nullptr, 0, MPI_INT, rank, 1, MPI_COMM_WORLD);
    }
    expect(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "a barrier did not end");
    MPI_Error_class(error, &error_class);
    return error_class;
  };
  const int of_mpi = error_with(own_ibarrier), found = error_with(&MPI_Ibarrier);
  expect(found == of_mpi,
         "the error is of class " + std::to_string(found) + " and not " + std::to_string(of_mpi));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&comm);
}

}  // namespace

void a_started_barrier_is_not_freed() { try_with_started_barrier(&MPI_Request_free); }
void a_started_barrier_is_not_cancelled() { try_with_started_barrier(&MPI_Cancel); }
void a_started_barrier_is_not_completed() {
  try_with_started_barrier([](MPI_Request* request) { return MPI_Grequest_complete(*request); });
}

}  // namespace program
