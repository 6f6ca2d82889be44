// SPDX-License-Identifier: Apache-2.0
#include "preload/openmp/ompt/tool.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "preload/openmp/environment.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/takeover.hpp"
#include "preload/openmp/teams.hpp"
#include "tutti/version.h"

namespace tutti::openmp::ompt {

constinit tool_flag may_watch;
constinit std::atomic<ompt_callback_t> callbacks[events] = {};

namespace {

using start_function = ompt_start_tool_result_t* (*)(unsigned, const char*);

// The value of _OPENMP for OpenMP 5.1, whose OMPT this is.
constexpr unsigned openmp_version = 202011;

constinit ompt_start_tool_result_t* tool = nullptr;
// Threads are never freed, so the list needs no lock.
constinit std::atomic<thread*> known_threads{nullptr};
constinit std::atomic<int> workers{0};
constinit std::atomic<bool> has_ended{false};

// ---- OMP_TOOL_VERBOSE_INIT: disabled, stdout, stderr, or the name of a file

class start_log {
 public:
  start_log() {
    const char* const wanted = std::getenv("OMP_TOOL_VERBOSE_INIT");
    if (wanted == nullptr || *wanted == '\0' || strcasecmp(wanted, "disabled") == 0) return;
    if (strcasecmp(wanted, "stdout") == 0)
      file_ = stdout;
    else if (strcasecmp(wanted, "stderr") == 0)
      file_ = stderr;
    else if ((file_ = std::fopen(wanted, "w")) == nullptr)
      warn("OMP_TOOL_VERBOSE_INIT: '%s' cannot be opened: %s", wanted, std::strerror(errno));
  }
  ~start_log() {
    if (file_ == nullptr) return;
    if (file_ == stdout || file_ == stderr)
      std::fflush(file_);
    else
      std::fclose(file_);
  }
  start_log(const start_log&) = delete;
  start_log& operator=(const start_log&) = delete;

  [[gnu::format(printf, 2, 3)]] void say(const char* format, ...) {
    if (file_ == nullptr) return;
    std::va_list more;
    va_start(more, format);
    std::fputs("tutti: OMPT: ", file_);
    std::vfprintf(file_, format, more);
    std::fputc('\n', file_);
    va_end(more);
  }

 private:
  std::FILE* file_ = nullptr;
};

// ---- where the tool is

bool is_wanted() {
  const char* const setting = std::getenv("OMP_TOOL");
  if (setting == nullptr || *setting == '\0' || strcasecmp(setting, "enabled") == 0) return true;
  if (strcasecmp(setting, "disabled") == 0) return false;
  warn("Invalid value for environment variable OMP_TOOL");
  return true;
}

ompt_start_tool_result_t* ask(start_log& log, start_function function, const char* file) {
  ompt_start_tool_result_t* const answer = function(openmp_version, "tutti " TUTTI_VERSION_STRING);
  log.say("ompt_start_tool of %s %s", file,
          answer != nullptr ? "returns a tool" : "declines: it returns null");
  return answer;
}

ompt_start_tool_result_t* find_loaded(start_log& log) {
  // The tool's function may load libraries, so it does not run while the list is read.
  struct found_in {
    std::string file;
    void* function;
  };
  std::vector<found_in> all;
  if (may_have_tool())
    for_each_definition("ompt_start_tool", "__kmpc_fork_call", &all,
                        [](void* raw, const char* file, void* function) {
                          static_cast<std::vector<found_in>*>(raw)->push_back({file, function});
                        });
  log.say("%zu of the loaded objects define ompt_start_tool", all.size());
  for (const found_in& each : all)
    if (auto* const answer = ask(log, reinterpret_cast<start_function>(each.function),
                                 each.file.empty() ? "the program" : each.file.c_str()))
      return answer;
  return nullptr;
}

ompt_start_tool_result_t* find_in(start_log& log, const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_LAZY);
  if (library == nullptr) {
    log.say("'%s' of OMP_TOOL_LIBRARIES cannot be loaded: %s", file.c_str(), dlerror());
    return nullptr;
  }
  void* const function = dlsym(library, "ompt_start_tool");
  if (function == nullptr)
    log.say("'%s' of OMP_TOOL_LIBRARIES does not define ompt_start_tool", file.c_str());
  else if (auto* const answer = ask(log, reinterpret_cast<start_function>(function), file.c_str()))
    return answer;
  dlclose(library);
  return nullptr;
}

ompt_start_tool_result_t* find_tool(start_log& log) {
  if (auto* const loaded = find_loaded(log)) return loaded;
  const char* const list = std::getenv("OMP_TOOL_LIBRARIES");
  for (const char* p = list != nullptr ? list : ""; *p != '\0';) {
    const std::size_t size = std::strcspn(p, ":");
    if (size != 0)
      if (auto* const answer = find_in(log, std::string(p, size))) return answer;
    p += size + (p[size] != '\0' ? 1 : 0);
  }
  return nullptr;
}

// ---- the start

void forget_callbacks() {
  // relaxed: the callbacks are cleared next.
  may_watch.value.store(false, relaxed);
  // seq_cst: comes before the looks at the threads' marks; pairs with in_callback.
  for (auto& each : callbacks) each.store(nullptr, seq_cst);
}

void start_tool() {
  start_log log;
  if (!is_wanted()) {
    log.say("OMP_TOOL is disabled");
    return forget_callbacks();
  }
  tool = find_tool(log);
  if (tool == nullptr) {
    log.say("no tool");
    return forget_callbacks();
  }
  if (tool->initialize == nullptr || tool->initialize(look_up, 0, &tool->tool_data) == 0) {
    log.say("the tool declines: its initialize returns 0");
    tool = nullptr;
    return forget_callbacks();
  }
  log.say("the tool observes the program");
  // All ranks wait for the last one at the end of a region, as they do if the program has tasks.
  note_tasks();
  global().watches_regions = true;
  std::atexit(end_tool);
}

// The tool may call routines of OpenMP while it starts: the calling thread's state is complete.
void start_once() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start_tool);
}

void add(thread& me) {
  // relaxed: the exchange publishes the thread.
  me.tool.older = known_threads.load(relaxed);
  // release: pairs with wait_for_callbacks. relaxed: a failure is tried again.
  while (!known_threads.compare_exchange_weak(me.tool.older, &me, release, relaxed)) continue;
}

}  // namespace

void begin_thread(thread& me, bool is_worker) {
  // A worker may run a region that the tool opens while it starts.
  if (!is_worker) start_once();
  if (!is_on()) return;
  me.tool.is_worker = is_worker;
  me.tool.is_known = true;
  add(me);
  // relaxed: a count.
  if (is_worker) workers.fetch_add(1, relaxed);
  thread_begins(me);
}

void end_thread(thread& me) {
  if (!me.tool.is_known) return;
  me.tool.is_known = false;
  thread_ends(me);
  // release: the thread's last callback comes before the end of the tool.
  if (me.tool.is_worker) workers.fetch_sub(1, release);
}

void keep_only(thread* me) {
  if (me != nullptr) me->tool.older = nullptr;
  // relaxed: there is only one thread.
  known_threads.store(me != nullptr && me->tool.is_known ? me : nullptr, relaxed);
  workers.store(me != nullptr && me->tool.is_known && me->tool.is_worker ? 1 : 0, relaxed);
}

// ---- the end

namespace {

// Tools that end at once may lose what threads still tell them, but a thread that hangs must not
// keep the program from its end.
template <class IsOver>
void wait_a_second_for(IsOver is_over) {
  for (int turn = 0; turn < 10000 && !is_over(); ++turn) usleep(100);
}

void wait_for_callbacks(const thread* me) {
  // acquire: pairs with add.
  for (const thread* each = known_threads.load(acquire); each != nullptr; each = each->tool.older) {
    if (each == me) continue;
    wait_a_second_for([each] {
      // seq_cst: see in_callback.
      return !each->tool.is_in_callback.load(seq_cst);
    });
  }
}

// Ends the calling thread and the workers that it does not need any more, as far as the tool is
// concerned.
void end_threads(thread& me) {
  // A region is open if the program ends inside of it, and its threads go on.
  if (me.depth != 0) return;
  // Workers that end give back the workers that they have had for nested regions.
  for (;;) {
    // relaxed: a count.
    const int before = workers.load(relaxed);
    const int ended = release_threads();
    if (ended == 0) break;
    wait_a_second_for([&] {
      // acquire: pairs with end_thread.
      return workers.load(acquire) <= before - ended;
    });
  }
  end_thread(me);
}

}  // namespace

void end_tool() {
  // acq_rel: the first caller ends the tool.
  if (tool == nullptr || has_ended.exchange(true, acq_rel)) return;
  thread* const me = this_thread;
  // relaxed: only this thread writes it.
  if (me != nullptr && !me->tool.is_in_callback.load(relaxed)) end_threads(*me);
  forget_callbacks();
  wait_for_callbacks(me);
  if (tool->finalize != nullptr) tool->finalize(&tool->tool_data);
}

int control(int command, int modifier, void* argument, const void* code) {
  // What omp.h calls omp_control_tool_notool and omp_control_tool_nocallback.
  constexpr int no_tool = -2, no_callback = -1;
  thread& me = self();
  if (!is_on()) return no_tool;
  // relaxed: see report.
  if (me.tool.is_in_callback.load(relaxed)) return no_callback;
  const in_callback guard(me);
  // seq_cst: see in_callback.
  const ompt_callback_t function = callbacks[ompt_callback_control_tool].load(seq_cst);
  if (function == nullptr) return no_callback;
  return reinterpret_cast<ompt_callback_control_tool_t>(function)(
      static_cast<std::uint64_t>(command), static_cast<std::uint64_t>(modifier), argument, code);
}

}  // namespace tutti::openmp::ompt
