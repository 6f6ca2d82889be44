// SPDX-License-Identifier: Apache-2.0
// The MPI library that runs in this process, found when the program first calls it. One preload
// serves Open MPI and the MPICH family: a handle is a pointer in one and an int in the other, and
// both travel in a register. No header of an MPI is included, and the preload links to none, so it
// does nothing in a program without MPI.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "preload/mpi/operations.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::preload {

// An MPI_Comm, MPI_Datatype, MPI_Op or MPI_Request as it stands in a register. The upper half of an
// int's register is undefined: compare only what library::key() returns.
using handle = std::uintptr_t;

// The space for an MPI_Request, or for an MPI_Comm that a call returns.
union handle_space {
  std::uintptr_t pointer = 0;
  int number;
};

enum class family { openmpi, mpich };

// MPI_Count, which the functions of MPI 4 take whose names end with _c.
using large_count = std::int64_t;
template <class Count>
using bcast_function = int (*)(void* data, Count count, handle type, int root, handle comm);
template <class Count>
using allreduce_function = int (*)(const void* mine, void* result, Count count, handle type,
                                   handle op, handle comm);

struct library {
  family by;
  // Functions of that library itself, whose names begin with PMPI_.
  int (*barrier)(handle comm);
  int (*ibarrier)(handle comm, void* request);
  bcast_function<int> bcast;
  allreduce_function<int> allreduce;
  // Null before MPI 4.
  bcast_function<large_count> bcast_c;
  allreduce_function<large_count> allreduce_c;
  int (*iallgather)(const void* mine, int count, handle type, void* all, int count_each,
                    handle type_each, handle comm, void* request);
  int (*ibcast)(void* data, int count, handle type, int root, handle comm, void* request);
  int (*iallreduce)(const void* mine, void* result, int count, handle type, handle op, handle comm,
                    void* request);
  int (*test)(void* request, int* is_done, void* status);
  int (*iprobe)(int source, int tag, handle comm, int* is_there, void* status);
  int (*comm_size)(handle comm, int* size);
  int (*comm_rank)(handle comm, int* rank);
  int (*comm_test_inter)(handle comm, int* is_inter);
  int (*comm_split)(handle comm, int color, int key, void* result);
  int (*comm_group)(handle comm, void* group);
  int (*group_translate_ranks)(handle group, int count, const int* ranks, handle other,
                               int* translated);
  int (*group_free)(void* group);
  int (*comm_free)(void* comm);
  int (*comm_get_name)(handle comm, char* name, int* length);
  int (*comm_create_keyval)(void* copy, void* remove, int* key, void* extra);
  int (*comm_set_attr)(handle comm, int key, void* value);
  int (*comm_call_errhandler)(handle comm, int error);
  int (*type_size)(handle type, int* size);
  int (*type_get_true_extent)(handle type, std::intptr_t* begin, std::intptr_t* extent);
  int (*type_create_hindexed)(int count, const int* lengths, const std::intptr_t* displacements,
                              handle type, void* result);
  int (*type_commit)(void* type);
  int (*type_free)(void* type);
  int (*pack)(const void* data, int count, handle type, void* packed, int bytes, int* position,
              handle comm);
  int (*unpack)(const void* packed, int bytes, int* position, void* data, int count, handle type,
                handle comm);
  int (*comm_free_keyval)(int* key);
  int (*abort)(handle comm, int status);
  int (*initialized)(int* is_so);
  int (*finalized)(int* is_so);
  int (*grequest_complete)(handle request);
  int (*status_set_elements)(void* status, handle type, int count);
  int (*status_set_cancelled)(void* status, int is_so);
  // Sessions, for programs that never call MPI_Init; null before MPI 4.
  int (*session_init)(handle info, handle error_handler, void* session);
  int (*session_finalize)(void* session);
  int (*group_from_session_pset)(handle session, const char* name, void* group);
  // MPI_Grequest_start of Open MPI; MPIX_Grequest_start of MPICH, which has two more functions.
  int (*grequest_start)(void* query, void* free, void* cancel, void* state, void* request);
  int (*grequest_start_polled)(void* query, void* free, void* cancel, void* poll, void* wait,
                               void* state, void* request);
  // Open MPI's own: makes progress; calls a function whenever it does.
  void (*progress)();
  int (*register_progress)(int (*callback)());

  // The functions of a profiler that the loader found behind the preload; otherwise null.
  int (*next_barrier)(handle comm);
  int (*next_ibarrier)(handle comm, void* request);
  bcast_function<int> next_bcast;
  allreduce_function<int> next_allreduce;
  bcast_function<large_count> next_bcast_c;
  allreduce_function<large_count> next_allreduce_c;

  handle world, byte;
  const void* in_place;
  // Open MPI's MPI_COMM_NULL and MPI_DATATYPE_NULL.
  handle no_communicator, no_type;
  // MPICH's MPI_INFO_NULL and MPI_ERRORS_RETURN.
  handle no_info, errors_return;
  // MPI_STATUS_IGNORE, MPI_UNDEFINED, MPI_ANY_SOURCE, MPI_ERR_TRUNCATE, MPI_ERR_OTHER,
  // MPI_ERR_REQUEST, and what MPI_Cancel of a collective call's request returns.
  void* ignored_status;
  int undefined, any_source, truncated, other_error, wrong_request, not_cancelled;

  // Returns the part of a register that identifies a handle.
  handle key(handle raw) const noexcept { return by == family::mpich ? raw & 0xffffffffu : raw; }
  handle value(const handle_space& space) const noexcept {
    return by == family::mpich ? static_cast<handle>(static_cast<unsigned>(space.number))
                               : space.pointer;
  }
  // Returns the handle that stands at an address which the program gave.
  handle read(const void* place) const noexcept {
    handle_space copy;
    std::memcpy(&copy, place, by == family::mpich ? sizeof copy.number : sizeof copy.pointer);
    return value(copy);
  }

  // Whether a handle may be given to MPI's functions, which call an error handler if it is null.
  bool is_communicator(handle comm) const noexcept {
    return by == family::mpich ? is_numbered(comm, 1) : comm != 0 && comm != no_communicator;
  }
  // Whether it is none of those that MPI_Init makes. The program has made it, perhaps of a session.
  bool is_made_by_program(handle comm) const noexcept {
    return by == family::mpich && is_numbered(comm, 1) && key(comm) >> 30 != 1;
  }
  bool is_type(handle type) const noexcept {
    return by == family::mpich ? is_numbered(type, 3) : type != 0 && type != no_type;
  }

  // Drops the predefined types that have other sizes here than elsewhere. MPI must answer, so it is
  // called when a communicator is known to MPI, before it is set up. Calls after the first do
  // nothing.
  void check_sizes() const noexcept {
    // acquire: pairs with the release in ask_sizes(); the types are dropped.
    if (!sizes_are_checked_.load(acquire)) [[unlikely]]
      ask_sizes();
  }

  // Return what a handle means if it is predefined and one of those that the preload combines.
  kind kind_of(handle type) const noexcept { return kinds_.find(key(type), kind::none); }
  operation operation_of(handle op) const noexcept {
    return operations_.find(key(op), operation::none);
  }

  // Returns the library, or null if it is none of the two families; then unserved() tells what to
  // call.
  static const library* get() noexcept {
    // acquire: pairs with the release in find(); the table is complete.
    const library* const ready = ready_.load(acquire);
    return ready != nullptr ? ready : find();
  }

  // Returns the library if a call before has found it; otherwise null.
  static const library* if_found() noexcept {
    // acquire: as in get().
    return ready_.load(acquire);
  }

  // A small hash table of handles that never change.
  template <class Value>
  class map {
   public:
    void add(handle key, Value value) noexcept {
      std::size_t at = slot(key);
      while (keys_[at] != 0 && keys_[at] != key) at = (at + 1) % size;
      keys_[at] = key;
      // relaxed: whoever publishes the table, or the change, orders it.
      values_[at].store(value, relaxed);
    }
    Value find(handle key, Value otherwise) const noexcept {
      for (std::size_t at = slot(key); keys_[at] != 0; at = (at + 1) % size)
        // relaxed: as above.
        if (keys_[at] == key) return values_[at].load(relaxed);
      return otherwise;
    }

   private:
    static constexpr std::size_t size = 256;
    static std::size_t slot(handle key) noexcept {
      return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 56);
    }
    handle keys_[size] = {};
    std::atomic<Value> values_[size] = {};
  };
  map<kind> kinds_;
  map<operation> operations_;

 private:
  // In the ABI of MPICH the upper six bits of a handle tell what it is: two say whether it is null,
  // four name its kind.
  bool is_numbered(handle raw, unsigned of_kind) const noexcept {
    return key(raw) >> 30 != 0 && (key(raw) >> 26 & 0xf) == of_kind;
  }
  [[gnu::cold]] static const library* find() noexcept;
  [[gnu::cold]] static void ask_sizes() noexcept;
  static inline std::atomic<bool> sizes_are_checked_{false};
  static std::atomic<const library*> ready_;
};

// Returns the function `name` of whatever MPI is loaded, for a library that is of neither family: a
// library for programs of one process may have MPI_Barrier but no PMPI_Barrier. Ends the program
// with a sentence if none has it.
void* unserved(const char* name) noexcept;

}  // namespace tutti::preload
