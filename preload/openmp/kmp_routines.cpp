// SPDX-License-Identifier: Apache-2.0
// The routines that LLVM's runtime adds, and those of OpenMP that differ from libgomp's.
#include <pthread.h>

#include <algorithm>
#include <cstdlib>

#include "preload/openmp/kmpc.hpp"
#include "preload/openmp/ompt/events.hpp"

using namespace tutti::openmp;

// ---- nestable locks. In clang's omp.h a lock is a pointer, which holds the address of ours.

struct nest_lock;
extern "C" {
void omp_init_nest_lock_(nest_lock**);
void omp_destroy_nest_lock_(nest_lock**);
void omp_unset_nest_lock_(nest_lock**);
}
#define TUTTI_KMPC_VERSION(function, name) __asm__(".symver " #function ", " #name "@VERSION")

TUTTI_KMPC void tutti_kmpc_init_nest_lock(nest_lock** l) { omp_init_nest_lock_(l); }
TUTTI_KMPC void tutti_kmpc_init_nest_lock_with_hint(nest_lock** l, int) { omp_init_nest_lock_(l); }
TUTTI_KMPC void tutti_kmpc_destroy_nest_lock(nest_lock** l) { omp_destroy_nest_lock_(l); }
TUTTI_KMPC void tutti_kmpc_set_nest_lock(nest_lock** l) {
  set_nest_lock(*l, &self(), TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC void tutti_kmpc_unset_nest_lock(nest_lock** l) { omp_unset_nest_lock_(l); }
TUTTI_KMPC int tutti_kmpc_test_nest_lock(nest_lock** l) {
  return test_nest_lock(*l, &self(), TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC_VERSION(tutti_kmpc_init_nest_lock, omp_init_nest_lock);
TUTTI_KMPC_VERSION(tutti_kmpc_init_nest_lock_with_hint, omp_init_nest_lock_with_hint);
TUTTI_KMPC_VERSION(tutti_kmpc_destroy_nest_lock, omp_destroy_nest_lock);
TUTTI_KMPC_VERSION(tutti_kmpc_set_nest_lock, omp_set_nest_lock);
TUTTI_KMPC_VERSION(tutti_kmpc_unset_nest_lock, omp_unset_nest_lock);
TUTTI_KMPC_VERSION(tutti_kmpc_test_nest_lock, omp_test_nest_lock);

// ---- locks as other compilers use them

extern "C" {
void omp_init_lock(small_lock*);
void omp_init_lock_with_hint(small_lock*, int);
void omp_destroy_lock(small_lock*);
void omp_set_lock(small_lock*);
void omp_unset_lock(small_lock*);
int omp_test_lock(small_lock*);
}
TUTTI_KMPC void __kmpc_init_lock(source_place*, int, small_lock* l) { omp_init_lock(l); }
TUTTI_KMPC void __kmpc_init_lock_with_hint(source_place*, int, small_lock* l, std::uintptr_t hint) {
  omp_init_lock_with_hint(l, static_cast<int>(hint));
}
TUTTI_KMPC void __kmpc_destroy_lock(source_place*, int, small_lock* l) { omp_destroy_lock(l); }
TUTTI_KMPC void __kmpc_set_lock(source_place*, int, small_lock* l) { omp_set_lock(l); }
TUTTI_KMPC void __kmpc_unset_lock(source_place*, int, small_lock* l) { omp_unset_lock(l); }
TUTTI_KMPC int __kmpc_test_lock(source_place*, int, small_lock* l) { return omp_test_lock(l); }
TUTTI_KMPC void __kmpc_init_nest_lock(source_place*, int, nest_lock** l) { omp_init_nest_lock_(l); }
TUTTI_KMPC void __kmpc_init_nest_lock_with_hint(source_place*, int, nest_lock** l, std::uintptr_t) {
  omp_init_nest_lock_(l);
}
TUTTI_KMPC void __kmpc_destroy_nest_lock(source_place*, int, nest_lock** l) {
  omp_destroy_nest_lock_(l);
}
TUTTI_KMPC void __kmpc_set_nest_lock(source_place*, int, nest_lock** l) {
  set_nest_lock(*l, &self(), TUTTI_OMPT_CALL_SITE);
}
TUTTI_KMPC void __kmpc_unset_nest_lock(source_place*, int, nest_lock** l) {
  omp_unset_nest_lock_(l);
}
TUTTI_KMPC int __kmpc_test_nest_lock(source_place*, int, nest_lock** l) {
  return test_nest_lock(*l, &self(), TUTTI_OMPT_CALL_SITE);
}

// ---- pauses, whose kind LLVM's runtime looks at

extern "C" int omp_pause_resource(int kind, int device);
namespace {
bool is_kind_of_pause(int kind) { return kind == 1 || kind == 2; }
}  // namespace
TUTTI_KMPC int tutti_kmpc_pause_resource(int kind, int device) {
  return is_kind_of_pause(kind) ? omp_pause_resource(kind, device) : 1;
}
TUTTI_KMPC int tutti_kmpc_pause_resource_f(const int* kind, const int* device) {
  return tutti_kmpc_pause_resource(*kind, *device);
}
TUTTI_KMPC int tutti_kmpc_pause_resource_all(int kind) {
  return tutti_kmpc_pause_resource(kind, 0);
}
TUTTI_KMPC int tutti_kmpc_pause_resource_all_f(const int* kind) {
  return tutti_kmpc_pause_resource(*kind, 0);
}
TUTTI_KMPC_VERSION(tutti_kmpc_pause_resource, omp_pause_resource);
TUTTI_KMPC_VERSION(tutti_kmpc_pause_resource_f, omp_pause_resource_);
TUTTI_KMPC_VERSION(tutti_kmpc_pause_resource_all, omp_pause_resource_all);
TUTTI_KMPC_VERSION(tutti_kmpc_pause_resource_all_f, omp_pause_resource_all_);

TUTTI_KMPC int __kmpc_pause_resource(int kind, int device) {
  return tutti_kmpc_pause_resource(kind, device);
}

// ---- settings of LLVM's runtime: they are kept, but tutti's waits learn instead

namespace {
std::atomic<int> block_time{200};
// Their numbers: serial, turnaround, throughput.
std::atomic<int> library{3};
}  // namespace
TUTTI_KMPC void kmp_set_blocktime(int ms) {
  // relaxed: a setting.
  block_time.store(ms, tutti::relaxed);
}
// relaxed: a setting.
TUTTI_KMPC int kmp_get_blocktime() { return block_time.load(tutti::relaxed); }
TUTTI_KMPC void kmp_set_defaults(const char*) {}
// The objects of loops are made as they are needed.
TUTTI_KMPC void kmp_set_disp_num_buffers(int) {}
TUTTI_KMPC int kmp_get_num_known_threads() { return known_threads(); }
TUTTI_KMPC void kmp_set_library(int kind) {
  // relaxed: a setting.
  library.store(kind, tutti::relaxed);
}
// relaxed: a setting.
TUTTI_KMPC int kmp_get_library() { return library.load(tutti::relaxed); }
TUTTI_KMPC void kmp_set_library_serial() { kmp_set_library(1); }
TUTTI_KMPC void kmp_set_library_turnaround() { kmp_set_library(2); }
TUTTI_KMPC void kmp_set_library_throughput() { kmp_set_library(3); }
TUTTI_KMPC void kmp_set_warnings_on() {}
TUTTI_KMPC void kmp_set_warnings_off() {}
TUTTI_KMPC int kmp_get_cancellation_status(int) { return global().can_cancel ? 1 : 0; }
TUTTI_KMPC std::size_t kmp_get_stacksize_s() {
  if (global().stack_bytes != 0) return global().stack_bytes;
  pthread_attr_t usual;
  std::size_t bytes = 0;
  pthread_attr_init(&usual);
  pthread_attr_getstacksize(&usual, &bytes);
  pthread_attr_destroy(&usual);
  return bytes;
}
TUTTI_KMPC int kmp_get_stacksize() {
  return static_cast<int>(std::min<std::size_t>(kmp_get_stacksize_s(), INT32_MAX));
}
TUTTI_KMPC void kmp_set_stacksize_s(std::size_t bytes) { global().stack_bytes = bytes; }
TUTTI_KMPC void kmp_set_stacksize(int bytes) {
  global().stack_bytes = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

// ---- memory

TUTTI_KMPC void* kmp_malloc(std::size_t size) { return std::malloc(size); }
TUTTI_KMPC void* kmp_calloc(std::size_t count, std::size_t size) {
  return std::calloc(count, size);
}
TUTTI_KMPC void* kmp_realloc(void* at, std::size_t size) { return std::realloc(at, size); }
TUTTI_KMPC void* kmp_aligned_malloc(std::size_t size, std::size_t align) {
  void* at = nullptr;
  return posix_memalign(&at, std::max(align, sizeof(void*)), size) == 0 ? at : nullptr;
}
TUTTI_KMPC void kmp_free(void* at) { std::free(at); }

extern "C" {
void* omp_alloc(std::size_t, std::uintptr_t);
void* omp_aligned_alloc(std::size_t, std::size_t, std::uintptr_t);
void* omp_calloc(std::size_t, std::size_t, std::uintptr_t);
void* omp_realloc(void*, std::size_t, std::uintptr_t, std::uintptr_t);
void omp_free(void*, std::uintptr_t);
std::uintptr_t omp_init_allocator(std::uintptr_t, int, const void*);
void omp_destroy_allocator(std::uintptr_t);
void omp_set_default_allocator(std::uintptr_t);
std::uintptr_t omp_get_default_allocator();
}
TUTTI_KMPC void* __kmpc_alloc(int, std::size_t size, std::uintptr_t a) {
  return omp_alloc(size, a);
}
TUTTI_KMPC void* __kmpc_aligned_alloc(int, std::size_t align, std::size_t size, std::uintptr_t a) {
  return omp_aligned_alloc(align, size, a);
}
TUTTI_KMPC void __kmpc_free(int, void* at, std::uintptr_t a) { omp_free(at, a); }
TUTTI_KMPC void* __kmpc_calloc(int, std::size_t count, std::size_t size, std::uintptr_t a) {
  return omp_calloc(count, size, a);
}
TUTTI_KMPC void* __kmpc_realloc(int, void* at, std::size_t size, std::uintptr_t a,
                                std::uintptr_t of_old) {
  return omp_realloc(at, size, a, of_old);
}
TUTTI_KMPC std::uintptr_t __kmpc_init_allocator(int, std::uintptr_t space, int count,
                                                const void* traits) {
  return omp_init_allocator(space, count, traits);
}
TUTTI_KMPC void __kmpc_destroy_allocator(int, std::uintptr_t a) { omp_destroy_allocator(a); }
TUTTI_KMPC void __kmpc_set_default_allocator(int, std::uintptr_t a) {
  omp_set_default_allocator(a);
}
TUTTI_KMPC std::uintptr_t __kmpc_get_default_allocator(int) { return omp_get_default_allocator(); }

// ---- interoperability objects, of which a machine without devices has none

TUTTI_KMPC int omp_get_num_interop_properties(const void*) { return 0; }
TUTTI_KMPC std::intptr_t omp_get_interop_int(const void*, int, int*) { return 0; }
TUTTI_KMPC void* omp_get_interop_ptr(const void*, int, int*) { return nullptr; }
TUTTI_KMPC const char* omp_get_interop_str(const void*, int, int*) { return nullptr; }
TUTTI_KMPC const char* omp_get_interop_name(const void*, int) { return nullptr; }
TUTTI_KMPC const char* omp_get_interop_type_desc(const void*, int) { return nullptr; }
TUTTI_KMPC const char* omp_get_interop_rc_desc(const void*, int) { return nullptr; }

// What LLVM's library for devices asks: it runs target regions on the host if there are none.
TUTTI_KMPC int __kmpc_get_target_offload() { return static_cast<int>(global().offload); }

// ---- Fortran

TUTTI_KMPC void kmp_set_blocktime_(const int* ms) { kmp_set_blocktime(*ms); }
TUTTI_KMPC int kmp_get_blocktime_() { return kmp_get_blocktime(); }
TUTTI_KMPC void kmp_set_defaults_(const char*, std::size_t) {}
TUTTI_KMPC void kmp_set_disp_num_buffers_(const int*) {}
TUTTI_KMPC int kmp_get_num_known_threads_() { return kmp_get_num_known_threads(); }
TUTTI_KMPC void kmp_set_library_(const int* kind) { kmp_set_library(*kind); }
TUTTI_KMPC int kmp_get_library_() { return kmp_get_library(); }
TUTTI_KMPC void kmp_set_library_serial_() { kmp_set_library_serial(); }
TUTTI_KMPC void kmp_set_library_turnaround_() { kmp_set_library_turnaround(); }
TUTTI_KMPC void kmp_set_library_throughput_() { kmp_set_library_throughput(); }
TUTTI_KMPC void kmp_set_warnings_on_() {}
TUTTI_KMPC void kmp_set_warnings_off_() {}
TUTTI_KMPC int kmp_get_cancellation_status_(const int* kind) {
  return kmp_get_cancellation_status(*kind);
}
TUTTI_KMPC std::size_t kmp_get_stacksize_s_() { return kmp_get_stacksize_s(); }
TUTTI_KMPC int kmp_get_stacksize_() { return kmp_get_stacksize(); }
TUTTI_KMPC void kmp_set_stacksize_s_(const std::size_t* bytes) { kmp_set_stacksize_s(*bytes); }
TUTTI_KMPC void kmp_set_stacksize_(const int* bytes) { kmp_set_stacksize(*bytes); }
TUTTI_KMPC void* kmp_malloc_(const std::size_t* size) { return kmp_malloc(*size); }
TUTTI_KMPC void* kmp_calloc_(const std::size_t* count, const std::size_t* size) {
  return kmp_calloc(*count, *size);
}
TUTTI_KMPC void* kmp_realloc_(void** at, const std::size_t* size) {
  return kmp_realloc(*at, *size);
}
TUTTI_KMPC void* kmp_aligned_malloc_(const std::size_t* size, const std::size_t* align) {
  return kmp_aligned_malloc(*size, *align);
}
TUTTI_KMPC void kmp_free_(void** at) { kmp_free(*at); }
TUTTI_KMPC int omp_get_num_interop_properties_(const void*) { return 0; }
