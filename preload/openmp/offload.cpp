// SPDX-License-Identifier: Apache-2.0
// Target constructs. There is no device, so they run on the host, on its data.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/tasks.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"

using namespace tutti::openmp;

TUTTI_OMP void GOMP_task(region_function function, void* data, void (*copy)(void*, void*),
                         long size, long align, bool if_clause, unsigned flags, void** depend,
                         int priority, void* detach);
TUTTI_OMP void GOMP_taskwait_depend(void** depend);
TUTTI_OMP void GOMP_taskwait_depend_nowait(void** depend);

namespace {

// Ends the program if it must not run on the host what it wants on a device that is missing. As in
// libgomp 12 that is not so for the host itself, nor for a construct whose `if` clause is false.
void require_device(int device) {
  // The numbers with which GCC says that no device was named, and that `if` is false.
  constexpr int of_settings = -1, of_false_if = -2;
  if (global().offload != target_offload::mandatory) return;
  if (device == of_settings) device = env(self()).device;
  if (device != 0 && device != of_false_if)
    fatal("OMP_TARGET_OFFLOAD is set to MANDATORY, but device not found");
}

// Returns the value of `thread_limit` in the arguments of a target region, or 0. A null ends the
// arguments. Each is a word, which has the device, what the argument is, and either the value or a
// bit that says that the value is the next word.
std::uint32_t thread_limit_of(void* const* arguments) {
  constexpr std::intptr_t of_device = 0x7f, is_next_word = 0x80, of_kind = 0xff00;
  constexpr std::intptr_t all_devices = 0, thread_limit = 2 << 8;
  constexpr unsigned before_value = 16;
  while (arguments != nullptr && *arguments != nullptr) {
    const auto word = reinterpret_cast<std::intptr_t>(*arguments++);
    const std::intptr_t value = (word & is_next_word) != 0
                                    ? reinterpret_cast<std::intptr_t>(*arguments++)
                                    : word >> before_value;
    if ((word & of_device) == all_devices && (word & of_kind) == thread_limit)
      return static_cast<std::uint32_t>(std::clamp<std::intptr_t>(value, 0, INT32_MAX));
  }
  return 0;
}

// The region has an initial thread of its own. A `thread_limit` of 0 is that of the caller.
void run_on_host(region_function function, void** addresses, std::uint32_t thread_limit) {
  thread& me = self();
  const unsigned num_teams = me.num_teams, team_num = me.team_num;
  me.num_teams = 1;
  me.team_num = 0;
  open_alone(me);
  if (thread_limit != 0) me.now.team->env.thread_limit = thread_limit;
  function(addresses);
  close_alone(me);
  me.num_teams = num_teams;
  me.team_num = team_num;
}

struct target_region {
  region_function function;
  std::size_t count;
  void** addresses;
  const std::size_t* sizes;
  const unsigned short* kinds;
  std::uint32_t thread_limit;
};

// Copies what is firstprivate to memory of the region's own, which the caller frees.
std::vector<void*> copy_private(const target_region& r, void** addresses) {
  // GCC's GOMP_MAP_FIRSTPRIVATE. A small value comes in place of its address, with another kind.
  constexpr unsigned firstprivate = 0x0c;
  std::vector<void*> copies;
  for (std::size_t i = 0; i < r.count; ++i) {
    if ((r.kinds[i] & 0xffu) != firstprivate) continue;
    const std::size_t align = std::max<std::size_t>(std::size_t{1} << (r.kinds[i] >> 8), 16);
    void* const copy = std::aligned_alloc(align, (r.sizes[i] + align) / align * align);
    std::memcpy(copy, r.addresses[i], r.sizes[i]);
    addresses[i] = copy;
    copies.push_back(copy);
  }
  return copies;
}

void free_all(const std::vector<void*>& copies) {
  for (void* const copy : copies) std::free(copy);
}

// A region whose maker does not wait for it (`nowait`).
struct deferred_region {
  region_function function;
  std::uint32_t thread_limit;
  std::vector<void*> addresses, copies;
};

void run_deferred(void* raw) {
  auto* const r = *static_cast<deferred_region**>(raw);
  // Other tasks are thrown away earlier, but this one owns memory.
  if (!global().can_cancel || !is_cancelled(*self().now.current))
    run_on_host(r->function, r->addresses.data(), r->thread_limit);
  free_all(r->copies);
  delete r;
}

// GOMP_task calls it if the task is made.
void make_deferred(void* to, void* from) {
  const auto& r = *static_cast<const target_region*>(from);
  auto* const made = new deferred_region{
      r.function, r.thread_limit, std::vector<void*>(r.addresses, r.addresses + r.count), {}};
  made->copies = copy_private(r, made->addresses.data());
  *static_cast<deferred_region**>(to) = made;
}

void defer(target_region& r, void** depend) {
  GOMP_task(run_deferred, &r, make_deferred, sizeof(deferred_region*), alignof(deferred_region*),
            true, depend != nullptr ? unsigned{flag_depend} : 0, depend, 0, nullptr);
}

// GCC's GOMP_TARGET_FLAG_NOWAIT.
constexpr unsigned flag_nowait = 1;

// For constructs that do nothing on the host but to wait, or to let others wait.
void wait_or_defer(int device, unsigned flags, void** depend) {
  require_device(device);
  if (depend == nullptr) return;
  if ((flags & flag_nowait) != 0)
    GOMP_taskwait_depend_nowait(depend);
  else
    GOMP_taskwait_depend(depend);
}

}  // namespace

TUTTI_OMP void GOMP_target(int device, region_function function, const void*, std::size_t,
                           void** addresses, std::size_t*, unsigned char*) {
  require_device(device);
  run_on_host(function, addresses, 0);
}
TUTTI_OMP void GOMP_target_ext(int device, region_function function, std::size_t count,
                               void** addresses, std::size_t* sizes, unsigned short* kinds,
                               unsigned flags, void** depend, void** arguments) {
  require_device(device);
  target_region r{function, count, addresses, sizes, kinds, thread_limit_of(arguments)};
  if ((flags & flag_nowait) != 0) return defer(r, depend);
  // What is firstprivate has the values of before the wait.
  const std::vector<void*> copies = copy_private(r, addresses);
  if (depend != nullptr) GOMP_taskwait_depend(depend);
  run_on_host(function, addresses, r.thread_limit);
  free_all(copies);
}
TUTTI_OMP void GOMP_target_data(int device, const void*, std::size_t, void**, std::size_t*,
                                unsigned char*) {
  require_device(device);
}
TUTTI_OMP void GOMP_target_data_ext(int device, std::size_t, void**, std::size_t*,
                                    unsigned short*) {
  require_device(device);
}
TUTTI_OMP void GOMP_target_end_data() {}
TUTTI_OMP void GOMP_target_update(int device, const void*, std::size_t, void**, std::size_t*,
                                  unsigned char*) {
  require_device(device);
}
TUTTI_OMP void GOMP_target_update_ext(int device, std::size_t, void**, std::size_t*,
                                      unsigned short*, unsigned flags, void** depend) {
  wait_or_defer(device, flags, depend);
}
TUTTI_OMP void GOMP_target_enter_exit_data(int device, std::size_t, void**, std::size_t*,
                                           unsigned short*, unsigned flags, void** depend) {
  wait_or_defer(device, flags, depend);
}
TUTTI_OMP void GOMP_offload_register(const void*, int, const void*) {}
TUTTI_OMP void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
TUTTI_OMP void GOMP_offload_unregister(const void*, int, const void*) {}
TUTTI_OMP void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}

// Device 0 is the host: there are no others. Devices are numbered up to omp_get_num_devices().
TUTTI_OMP void* omp_target_alloc(std::size_t size, int device) {
  return device == 0 ? std::malloc(size) : nullptr;
}
TUTTI_OMP void omp_target_free(void* at, int device) {
  if (device == 0) std::free(at);
}
TUTTI_OMP int omp_target_is_present(const void* at, int device) {
  return at == nullptr || device == 0 ? 1 : 0;
}
TUTTI_OMP int omp_target_memcpy(void* to, const void* from, std::size_t size, std::size_t to_offset,
                                std::size_t from_offset, int to_device, int from_device) {
  if (to_device != 0 || from_device != 0) return EINVAL;
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset,
              size);
  return 0;
}

namespace {
int copy_rectangle(char* to, const char* from, std::size_t element, int dimensions,
                   const std::size_t* volume, const std::size_t* to_offsets,
                   const std::size_t* from_offsets, const std::size_t* to_extents,
                   const std::size_t* from_extents) {
  const auto multiply = [](std::size_t& by, std::size_t with) {
    return !__builtin_mul_overflow(by, with, &by);
  };
  std::size_t to_slice = element, from_slice = element;
  for (int d = 1; d < dimensions; ++d)
    if (!multiply(to_slice, to_extents[d]) || !multiply(from_slice, from_extents[d])) return EINVAL;
  std::size_t to_begin = to_slice, from_begin = from_slice;
  if (!multiply(to_begin, to_offsets[0]) || !multiply(from_begin, from_offsets[0])) return EINVAL;
  to += to_begin;
  from += from_begin;
  if (dimensions == 1) {
    if (!multiply(element, volume[0])) return EINVAL;
    std::memcpy(to, from, element);
    return 0;
  }
  for (std::size_t i = 0; i < volume[0]; ++i) {
    const int error = copy_rectangle(to + i * to_slice, from + i * from_slice, element,
                                     dimensions - 1, volume + 1, to_offsets + 1, from_offsets + 1,
                                     to_extents + 1, from_extents + 1);
    if (error != 0) return error;
  }
  return 0;
}
}  // namespace

TUTTI_OMP int omp_target_memcpy_rect(void* to, const void* from, std::size_t element,
                                     int dimensions, const std::size_t* volume,
                                     const std::size_t* to_offsets, const std::size_t* from_offsets,
                                     const std::size_t* to_extents, const std::size_t* from_extents,
                                     int to_device, int from_device) {
  if (to == nullptr && from == nullptr) return INT32_MAX;
  if (to_device != 0 || from_device != 0 || dimensions < 1) return EINVAL;
  return copy_rectangle(static_cast<char*>(to), static_cast<const char*>(from), element, dimensions,
                        volume, to_offsets, from_offsets, to_extents, from_extents);
}
TUTTI_OMP int omp_target_associate_ptr(const void*, const void*, std::size_t, std::size_t, int) {
  return EINVAL;
}
TUTTI_OMP int omp_target_disassociate_ptr(const void*, int) { return EINVAL; }

// ---- GCC 13 has these

TUTTI_OMP void* omp_get_mapped_ptr(const void* at, int device) {
  return device == 0 ? const_cast<void*>(at) : nullptr;
}
TUTTI_OMP int omp_target_is_accessible(const void*, std::size_t, int device) {
  return device == 0 ? 1 : 0;
}

namespace {
// An object of dependences of GCC has two words.
void wait_for_objects(int count, void* (*objects)[2]) {
  if (count <= 0 || objects == nullptr) return;
  // The compiler lists objects of dependences like this.
  std::vector<void*> list = {nullptr, reinterpret_cast<void*>(static_cast<std::intptr_t>(count)),
                             nullptr, nullptr, nullptr};
  for (int i = 0; i < count; ++i) list.push_back(objects[i]);
  GOMP_taskwait_depend(list.data());
}
}  // namespace

// The copies are made before the functions return.
TUTTI_OMP int omp_target_memcpy_async(void* to, const void* from, std::size_t size,
                                      std::size_t to_offset, std::size_t from_offset, int to_device,
                                      int from_device, int count, void* (*objects)[2]) {
  wait_for_objects(count, objects);
  return omp_target_memcpy(to, from, size, to_offset, from_offset, to_device, from_device);
}
TUTTI_OMP int omp_target_memcpy_rect_async(void* to, const void* from, std::size_t element,
                                           int dimensions, const std::size_t* volume,
                                           const std::size_t* to_offsets,
                                           const std::size_t* from_offsets,
                                           const std::size_t* to_extents,
                                           const std::size_t* from_extents, int to_device,
                                           int from_device, int count, void* (*objects)[2]) {
  wait_for_objects(count, objects);
  return omp_target_memcpy_rect(to, from, element, dimensions, volume, to_offsets, from_offsets,
                                to_extents, from_extents, to_device, from_device);
}
