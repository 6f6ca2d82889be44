// SPDX-License-Identifier: Apache-2.0
// The threads of a team on the native platform: it starts, names, places and joins them. Needs the
// compiled library.
// Hosted only: it needs threads.
#pragma once

#include "tutti/export.h"
#include "tutti/platform/config.hpp"
#include "tutti/platform/hosted.hpp"

namespace tutti::platform {

// Defined in topology.hpp.
enum class placement;

class TUTTI_API system_threads {
 public:
  system_threads() noexcept = default;
  // All threads must have been joined. If start() has bound the calling thread, it may run again
  // where it could before.
  ~system_threads();
  system_threads(const system_threads&) = delete;
  system_threads& operator=(const system_threads&) = delete;

  // Starts threads 1 .. count-1 of a group in which the caller is thread 0. Each calls
  // body(context, thread), and all are placed as `where` says. Throws std::system_error if a thread
  // cannot be created. The threads made until then run: let them end, and call join().
  void start(rank_t count, placement where, void (*body)(void* context, rank_t thread),
             void* context);
  // fork() copies only the thread that calls it. In the child it then calls lost(context), before
  // fork() returns there; lost() may only change words. Call it before start().
  void when_lost(void (*lost)(void* context), void* context) noexcept;
  // Leaves the threads to themselves: they run until the process ends, or were lost by fork(). Then
  // there are none to join, and start() may be called again.
  void forget() noexcept;
  // Tells whether there are threads to join.
  bool has_started() const noexcept;
  // Returns when all threads have ended.
  void join() noexcept;

 private:
  struct state;
  class all_groups;
  state* state_ = nullptr;
  void (*lost_)(void*) = nullptr;
  void* context_ = nullptr;
};

}  // namespace tutti::platform
