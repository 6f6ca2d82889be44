// SPDX-License-Identifier: Apache-2.0
#include "preload/mpi/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "preload/mpi/handles.hpp"

namespace tutti::preload {
namespace {

// An address inside this shared object.
const char here = 0;

bool is_of_this_object(const void* address) noexcept {
  Dl_info mine, other;
  return dladdr(&here, &mine) != 0 && dladdr(address, &other) != 0 &&
         mine.dli_fbase == other.dli_fbase;
}

int note_name(dl_phdr_info* object, std::size_t, void* all) {
  if (object->dlpi_name != nullptr && object->dlpi_name[0] != '\0')
    static_cast<std::vector<std::string>*>(all)->emplace_back(object->dlpi_name);
  return 0;
}

// Looks in each object that is loaded, also in those that dlopen() has hidden from the others
// (Python's modules). An object's search includes the objects that it depends on.
//
// Not while it goes through the list of objects: that holds one of the loader's locks and dlopen()
// takes another, which a thread that loads a library takes in the opposite order.
void* find_anywhere(const char* symbol) noexcept {
  std::vector<std::string> names;
  dl_iterate_phdr(note_name, &names);
  for (const std::string& name : names) {
    void* const opened = dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (opened == nullptr) continue;
    void* const address = dlsym(opened, symbol);
    dlclose(opened);
    if (address != nullptr && !is_of_this_object(address)) return address;
  }
  return nullptr;
}

class loaded {
 public:
  explicit loaded(void* address_inside) noexcept {
    Dl_info where;
    if (dladdr(address_inside, &where) != 0)
      opened_ = dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
  // A variable of the library may have been copied into the program, and then the copy counts: it
  // is what the global search finds.
  void* variable(const char* symbol) const noexcept {
    void* const global = dlsym(RTLD_DEFAULT, symbol);
    return global != nullptr ? global : function(symbol);
  }
  void* function(const char* symbol) const noexcept {
    return opened_ == nullptr ? nullptr : dlsym(opened_, symbol);
  }
  template <class Function>
  bool set(Function& to, const char* symbol) const noexcept {
    to = reinterpret_cast<Function>(function(symbol));
    return to != nullptr;
  }
  // A profiler's function behind the preload in the loader's order, if any.
  template <class Function>
  void set_next(Function& to, const char* symbol) const noexcept {
    void* const next = dlsym(RTLD_NEXT, symbol);
    to = next == function(symbol) ? nullptr : reinterpret_cast<Function>(next);
  }

 private:
  void* opened_ = nullptr;
};

bool set_functions(library& all, const loaded& mpi) noexcept {
  mpi.set_next(all.next_barrier, "MPI_Barrier");
  mpi.set_next(all.next_ibarrier, "MPI_Ibarrier");
  mpi.set_next(all.next_bcast, "MPI_Bcast");
  mpi.set_next(all.next_allreduce, "MPI_Allreduce");
  mpi.set_next(all.next_bcast_c, "MPI_Bcast_c");
  mpi.set_next(all.next_allreduce_c, "MPI_Allreduce_c");
  mpi.set(all.bcast_c, "PMPI_Bcast_c");
  mpi.set(all.allreduce_c, "PMPI_Allreduce_c");
  mpi.set(all.session_init, "PMPI_Session_init");
  mpi.set(all.session_finalize, "PMPI_Session_finalize");
  mpi.set(all.group_from_session_pset, "PMPI_Group_from_session_pset");
  mpi.set(all.grequest_start, "PMPI_Grequest_start");
  mpi.set(all.grequest_start_polled, "PMPIX_Grequest_start");
  mpi.set(all.progress, "opal_progress");
  mpi.set(all.register_progress, "opal_progress_register");
  return mpi.set(all.barrier, "PMPI_Barrier") && mpi.set(all.ibarrier, "PMPI_Ibarrier") &&
         mpi.set(all.bcast, "PMPI_Bcast") && mpi.set(all.allreduce, "PMPI_Allreduce") &&
         mpi.set(all.iallgather, "PMPI_Iallgather") && mpi.set(all.ibcast, "PMPI_Ibcast") &&
         mpi.set(all.iallreduce, "PMPI_Iallreduce") && mpi.set(all.test, "PMPI_Test") &&
         mpi.set(all.iprobe, "PMPI_Iprobe") && mpi.set(all.comm_size, "PMPI_Comm_size") &&
         mpi.set(all.comm_rank, "PMPI_Comm_rank") &&
         mpi.set(all.comm_test_inter, "PMPI_Comm_test_inter") &&
         mpi.set(all.comm_split, "PMPI_Comm_split") && mpi.set(all.comm_free, "PMPI_Comm_free") &&
         mpi.set(all.comm_group, "PMPI_Comm_group") &&
         mpi.set(all.group_translate_ranks, "PMPI_Group_translate_ranks") &&
         mpi.set(all.group_free, "PMPI_Group_free") &&
         mpi.set(all.comm_get_name, "PMPI_Comm_get_name") &&
         mpi.set(all.comm_create_keyval, "PMPI_Comm_create_keyval") &&
         mpi.set(all.comm_set_attr, "PMPI_Comm_set_attr") &&
         mpi.set(all.comm_free_keyval, "PMPI_Comm_free_keyval") &&
         mpi.set(all.comm_call_errhandler, "PMPI_Comm_call_errhandler") &&
         mpi.set(all.type_size, "PMPI_Type_size") &&
         mpi.set(all.type_get_true_extent, "PMPI_Type_get_true_extent") &&
         mpi.set(all.type_create_hindexed, "PMPI_Type_create_hindexed") &&
         mpi.set(all.type_commit, "PMPI_Type_commit") && mpi.set(all.type_free, "PMPI_Type_free") &&
         mpi.set(all.pack, "PMPI_Pack") && mpi.set(all.unpack, "PMPI_Unpack") &&
         mpi.set(all.abort, "PMPI_Abort") && mpi.set(all.initialized, "PMPI_Initialized") &&
         mpi.set(all.finalized, "PMPI_Finalized") &&
         mpi.set(all.grequest_complete, "PMPI_Grequest_complete") &&
         mpi.set(all.status_set_elements, "PMPI_Status_set_elements") &&
         mpi.set(all.status_set_cancelled, "PMPI_Status_set_cancelled");
}

void set_handles_of_open_mpi(library& all, const loaded& mpi) noexcept {
  const auto of = [&](const char* symbol) {
    return reinterpret_cast<handle>(mpi.variable(symbol));
  };
  all.world = of("ompi_mpi_comm_world");
  all.byte = of("ompi_mpi_byte");
  all.no_communicator = of("ompi_mpi_comm_null");
  all.no_type = of("ompi_mpi_datatype_null");
  all.in_place = reinterpret_cast<const void*>(std::uintptr_t{1});
  all.ignored_status = nullptr;
  all.undefined = -32766;
  all.any_source = -1;
  all.truncated = 15;
  all.other_error = 16;
  all.wrong_request = 7;
  all.not_cancelled = 7;
  for (const auto& type : predefined_types)
    if (of(type.symbol) != 0) all.kinds_.add(of(type.symbol), type.means);
  for (const auto& op : predefined_operations)
    if (of(op.symbol) != 0) all.operations_.add(of(op.symbol), op.means);
}

void set_handles_of_mpich(library& all) noexcept {
  all.world = 0x44000000;
  all.byte = 0x4c00010d;
  all.no_info = 0x1c000000;
  all.errors_return = 0x54000001;
  all.in_place = reinterpret_cast<const void*>(~std::uintptr_t{0});
  all.ignored_status = reinterpret_cast<void*>(std::uintptr_t{1});
  all.undefined = -32766;
  all.any_source = -2;
  all.truncated = 14;
  all.other_error = 15;
  all.wrong_request = 19;
  all.not_cancelled = 16;
  for (const auto& type : predefined_types) all.kinds_.add(type.number, type.means);
  for (const auto& op : predefined_operations) all.operations_.add(op.number, op.means);
}

// A compiler's option changes the sizes of Fortran's types, and a library lacks some types.
void drop_types_of_other_sizes(library& all) noexcept {
  const loaded mpi(reinterpret_cast<void*>(all.type_size));
  for (const auto& type : predefined_types) {
    const handle each =
        all.by == family::mpich ? type.number : reinterpret_cast<handle>(mpi.variable(type.symbol));
    int size = 0;
    if (each == 0 || all.kind_of(each) == kind::none) continue;
    if (all.type_size(each, &size) != 0 || static_cast<std::size_t>(size) != size_of(type.means))
      all.kinds_.add(each, kind::none);
  }
}

bool fill(library& all) noexcept {
  // A function of MPI that neither profilers nor another copy of the preload have.
  void* const inside = find_anywhere("PMPI_Get_library_version");
  if (inside == nullptr) return false;
  const loaded mpi(inside);
  if (!set_functions(all, mpi)) return false;
  using version = int (*)(char*, int*);
  version get_version = nullptr;
  // No implementation's text is longer.
  static char text[8192];
  int length = 0;
  if (!mpi.set(get_version, "PMPI_Get_library_version") || get_version(text, &length) != 0)
    return false;
  if (std::strstr(text, "Open MPI") != nullptr) {
    all.by = family::openmpi;
    set_handles_of_open_mpi(all, mpi);
  } else if (std::strstr(text, "MPICH") != nullptr || std::strstr(text, "Intel") != nullptr ||
             std::strstr(text, "MVAPICH") != nullptr) {
    all.by = family::mpich;
    set_handles_of_mpich(all);
  } else {
    return false;
  }
  if (all.world == 0 || all.byte == 0) return false;
  return true;
}

// The one of this process, and what orders its changes.
constinit library found{};
constinit std::mutex one;

}  // namespace

constinit std::atomic<const library*> library::ready_{nullptr};

const library* library::find() noexcept {
  const std::lock_guard lock(one);
  static bool is_unknown = false;
  if (is_unknown) return nullptr;
  // relaxed: the mutex orders it.
  if (ready_.load(relaxed) == nullptr) {
    if (!fill(found)) {
      is_unknown = true;
      return nullptr;
    }
    // release: publishes the table; pairs with the acquire in get().
    ready_.store(&found, release);
  }
  return &found;
}

void library::ask_sizes() noexcept {
  const std::lock_guard lock(one);
  // relaxed: the mutex orders it.
  if (sizes_are_checked_.load(relaxed)) return;
  drop_types_of_other_sizes(found);
  // release: publishes what was dropped; pairs with check_sizes().
  sizes_are_checked_.store(true, release);
}

void* unserved(const char* name) noexcept {
  void* found = find_anywhere(name);
  // Not the other way round: a profiler's MPI_Barrier calls PMPI_Barrier.
  const char* const called = *name == 'P' ? name + 1 : name;
  if (found == nullptr) found = find_anywhere(called);
  if (found != nullptr) return found;
  std::fprintf(stderr, "tutti: the program calls %s, but no MPI library that is loaded has it\n",
               called);
  std::_Exit(127);
}

}  // namespace tutti::preload
