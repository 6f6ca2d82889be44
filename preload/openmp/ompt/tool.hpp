// SPDX-License-Identifier: Apache-2.0
// The tool that observes the program by OMPT (docs/drop-in.md): how it starts and ends, and which
// callbacks it has registered. events.hpp has the events.
//
// *Costs.* A program without a tool pays a predictable test of `may_watch` at each construct, a
// region up to three, and a task one when it is made and one when it runs. Everything else is in
// functions that are called only if the test succeeds.
#pragma once

#include <atomic>

#include "preload/openmp/ompt/omp-tools.h"
#include "preload/openmp/threads.hpp"
#include "tutti/platform/config.hpp"

namespace tutti::openmp::ompt {

// False once it is known that there is no tool, or that it has ended. It begins with true, because
// the first call of the runtime looks for a tool.
// Nothing else is in its cache line, which all threads read.
struct alignas(cache_line) tool_flag {
  std::atomic<bool> value{true};
};
extern constinit tool_flag may_watch;
// relaxed: callbacks are read with acquire, and the first call of a thread has looked for a tool.
inline bool is_on() { return __builtin_expect(may_watch.value.load(relaxed), false); }

// A thread has called the runtime for the first time; the first such thread starts the tool.
void begin_thread(thread& me, bool is_worker);
void end_thread(thread& me);
// The child of a fork has this thread alone.
void keep_only(thread* me);

inline constexpr int events = 38;
extern constinit std::atomic<ompt_callback_t> callbacks[events];

// A callback of the calling thread, until the end of the scope. The end of the tool waits for it.
class in_callback {
 public:
  explicit in_callback(thread& me) : mark_(me.tool.is_in_callback) {
    // seq_cst: the mark comes before the caller reads the callback; pairs with the end of the tool,
    // which clears the callbacks and then reads the marks.
    mark_.store(true, seq_cst);
  }
  ~in_callback() {
    // release: what the callback did comes before the end of the tool.
    mark_.store(false, release);
  }
  in_callback(const in_callback&) = delete;
  in_callback& operator=(const in_callback&) = delete;

 private:
  std::atomic<bool>& mark_;
};

// Calls the callback of an event if the tool has one. What a callback itself does is no event.
template <class Callback, class... Arguments>
void report(thread& me, ompt_callbacks_t event, Arguments... arguments) {
  // relaxed: only this thread writes the mark, and the callback is read once more below.
  if (me.tool.is_in_callback.load(relaxed) || callbacks[event].load(relaxed) == nullptr) return;
  const in_callback guard(me);
  // seq_cst: see in_callback.
  if (const ompt_callback_t function = callbacks[event].load(seq_cst))
    reinterpret_cast<Callback>(function)(arguments...);
}

// What omp_control_tool does and returns.
int control(int command, int modifier, void* argument, const void* code);

// The entry point of this name, or null.
ompt_interface_fn_t look_up(const char* name);
// What ompt_finalize_tool does, and the end of the program.
void end_tool();

}  // namespace tutti::openmp::ompt
