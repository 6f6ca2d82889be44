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
  // Tells whether there are threads to join.
  bool has_started() const noexcept;
  // Returns when all threads have ended.
  void join() noexcept;

 private:
  struct state;
  state* state_ = nullptr;
};

}  // namespace tutti::platform
