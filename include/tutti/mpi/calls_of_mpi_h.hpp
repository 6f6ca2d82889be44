// SPDX-License-Identifier: Apache-2.0
// The function table of the MPI whose mpi.h the compiler finds, for programs that link that MPI:
//
//   tutti::mpi::communicator comm(tutti::mpi::calls_of_mpi_h(),
//                                 tutti::mpi::handle_of(MPI_COMM_WORLD));
//
// The header is empty if there is no mpi.h.
#pragma once

#if __has_include(<mpi.h>)

// Skips the C++ interface, which MPI 3.0 removed and which would need another library.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "tutti/mpi/calls.hpp"

namespace tutti::mpi {

template <class Object>
handle handle_of(Object object) noexcept {
  static_assert(std::is_trivially_copyable_v<Object> && sizeof(Object) <= sizeof(handle::raw));
  handle result;
  std::memcpy(&result.raw, &object, sizeof object);
  return result;
}

namespace detail {

// Nothing else uses the duplicated communicator, so one tag is enough.
inline constexpr int packet_tag = 0;

template <class Object>
Object object_of(handle h) noexcept {
  Object result;
  std::memcpy(&result, &h.raw, sizeof result);
  return result;
}
inline MPI_Comm comm_of(handle h) noexcept { return object_of<MPI_Comm>(h); }

inline int state(bool* runs, bool* serialized) {
  int begun = 0, ended = 0, provided = MPI_THREAD_SINGLE;
  if (const int error = MPI_Initialized(&begun); error != MPI_SUCCESS) return error;
  if (const int error = MPI_Finalized(&ended); error != MPI_SUCCESS) return error;
  *runs = begun != 0 && ended == 0;
  *serialized = false;
  if (!*runs) return MPI_SUCCESS;
  const int error = MPI_Query_thread(&provided);
  *serialized = provided >= MPI_THREAD_SERIALIZED;
  return error;
}

inline int init(bool several_threads) {
  int begun = 0;
  if (const int error = MPI_Initialized(&begun); error != MPI_SUCCESS || begun != 0) return error;
  int provided = MPI_THREAD_SINGLE;
  return MPI_Init_thread(nullptr, nullptr,
                         several_threads ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED, &provided);
}

inline int is_intercommunicator(handle comm, bool* is_so) {
  int is_inter = 0;
  const int error = MPI_Comm_test_inter(comm_of(comm), &is_inter);
  *is_so = is_inter != 0;
  return error;
}

// Makes errors of a dead process or a broken network return to the caller.
inline int keep(int error, MPI_Comm made, handle* result) {
  if (error != MPI_SUCCESS) return error;
  *result = handle_of(made);
  return MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
}

inline int duplicate(handle comm, handle* result) {
  MPI_Comm made = MPI_COMM_NULL;
  const int error = MPI_Comm_dup(comm_of(comm), &made);
  return keep(error, made, result);
}

inline int of_group(handle comm, int count, const int* ranks, int tag, handle* result) {
  MPI_Group all = MPI_GROUP_NULL, chosen = MPI_GROUP_NULL;
  MPI_Comm made = MPI_COMM_NULL;
  int error = MPI_Comm_group(comm_of(comm), &all);
  if (error == MPI_SUCCESS) error = MPI_Group_incl(all, count, ranks, &chosen);
  if (error == MPI_SUCCESS) error = MPI_Comm_create_group(comm_of(comm), chosen, tag, &made);
  if (all != MPI_GROUP_NULL) MPI_Group_free(&all);
  if (chosen != MPI_GROUP_NULL) MPI_Group_free(&chosen);
  return keep(error, made, result);
}

inline int free_communicator(handle* comm) {
  MPI_Comm object = comm_of(*comm);
  return MPI_Comm_free(&object);
}

inline int send(const void* data, int bytes, int to, handle comm, handle* request) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int error = MPI_Isend(data, bytes, MPI_BYTE, to, packet_tag, comm_of(comm), &made);
  *request = handle_of(made);
  return error;
}

inline int receive(void* data, int bytes, int from, handle comm, handle* request) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int error = MPI_Irecv(data, bytes, MPI_BYTE, from == any_source ? MPI_ANY_SOURCE : from,
                              packet_tag, comm_of(comm), &made);
  *request = handle_of(made);
  return error;
}

inline int test(handle* request, bool* done, arrival* result) {
  MPI_Request object = object_of<MPI_Request>(*request);
  MPI_Status status;
  int flag = 0;
  const int error = MPI_Test(&object, &flag, &status);
  *request = handle_of(object);
  *done = flag != 0;
  if (error != MPI_SUCCESS || flag == 0 || result == nullptr) return error;
  result->source = status.MPI_SOURCE;
  return MPI_Get_count(&status, MPI_BYTE, &result->bytes);
}

inline int cancel(handle* request) {
  MPI_Request object = object_of<MPI_Request>(*request);
  if (const int error = MPI_Cancel(&object); error != MPI_SUCCESS) return error;
  return MPI_Wait(&object, MPI_STATUS_IGNORE);
}

inline int all_gather(const void* mine, int bytes, void* all, handle comm) {
  return MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm_of(comm));
}

inline int same_node(handle comm, handle* result) {
  MPI_Comm made = MPI_COMM_NULL;
  const int error =
      MPI_Comm_split_type(comm_of(comm), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  return keep(error, made, result);
}

inline int share(std::size_t bytes, handle comm, shared_window* result) {
  MPI_Win window = MPI_WIN_NULL;
  void* mine = nullptr;
  int error = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm_of(comm),
                                      &mine, &window);
  if (error != MPI_SUCCESS) return error;
  result->window = handle_of(window);
  MPI_Aint size = 0;
  int unit = 0;
  return MPI_Win_shared_query(window, 0, &size, &unit, &result->base);
}

inline int unshare(shared_window* shared) {
  MPI_Win object = object_of<MPI_Win>(shared->window);
  return MPI_Win_free(&object);
}

inline void text(int error, char* buffer, std::size_t size) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> words{};
  int length = 0;
  if (MPI_Error_string(error, words.data(), &length) != MPI_SUCCESS) length = 0;
  const std::size_t kept = (std::min)(static_cast<std::size_t>(length), size - 1);
  std::memcpy(buffer, words.data(), kept);
  buffer[kept] = '\0';
}

#if defined(OPEN_MPI)
inline constexpr const char* family = "openmpi";
#elif defined(MPICH_VERSION)
inline constexpr const char* family = "mpich";
#else
inline constexpr const char* family = "mpi";
#endif

}  // namespace detail

// Makes the table. MPI need not be initialized yet.
inline calls calls_of_mpi_h() noexcept {
  return {
      .version = calls::current_version,
      .family = detail::family,
      .world = handle_of(MPI_COMM_WORLD),
      .init = detail::init,
      .finalize = [] { return MPI_Finalize(); },
      .state = detail::state,
      .size = [](handle comm, int* n) { return MPI_Comm_size(detail::comm_of(comm), n); },
      .rank = [](handle comm, int* r) { return MPI_Comm_rank(detail::comm_of(comm), r); },
      .is_intercommunicator = detail::is_intercommunicator,
      .duplicate = detail::duplicate,
      .of_group = detail::of_group,
      .free_communicator = detail::free_communicator,
      .send = detail::send,
      .receive = detail::receive,
      .test = detail::test,
      .cancel = detail::cancel,
      .all_gather = detail::all_gather,
      .same_node = detail::same_node,
      .share = detail::share,
      .unshare = detail::unshare,
      .abort = [](handle comm, int status) { MPI_Abort(detail::comm_of(comm), status); },
      .text = detail::text,
  };
}

}  // namespace tutti::mpi

#endif
