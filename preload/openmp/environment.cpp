// SPDX-License-Identifier: Apache-2.0
// The OMP_* environment variables, with libgomp's defaults and messages.
#include "preload/openmp/environment.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <climits>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/locks.hpp"
#include "preload/openmp/ompt/events.hpp"
#include "preload/openmp/places.hpp"
#include "preload/openmp/takeover.hpp"
#include "preload/openmp/word_reader.hpp"
#include "tutti/platform/cpu_quota.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::openmp {

constinit global_settings* global_ = nullptr;

namespace {

void say(const char* format, va_list arguments) {
  std::fputs("\nlibgomp: ", stderr);
  std::vfprintf(stderr, format, arguments);
  std::fputc('\n', stderr);
}

// Returns the function in the libgomp that the program has loaded, or null. LLVM's runtime has all
// names of libgomp's, and must not be called: that would start it.
void* find_in_libgomp(const char* name) {
  struct search {
    std::string file;
    void* function = nullptr;
  } libgomp, wanted;
  const auto keep_first = [](void* raw, const char* file, void* function) {
    auto& s = *static_cast<search*>(raw);
    if (s.function == nullptr) s = {file, function};
  };
  constexpr const char* only_in_llvm = "__kmpc_fork_call";
  for_each_definition("GOMP_parallel", only_in_llvm, &libgomp, keep_first);
  if (libgomp.function == nullptr) return nullptr;
  wanted.file = libgomp.file;
  for_each_definition(name, only_in_llvm, &wanted, [](void* raw, const char* file, void* function) {
    auto& s = *static_cast<search*>(raw);
    if (s.file == file) s.function = function;
  });
  return wanted.function;
}

// Whether the program has loaded libgomp too: libgomp then runs nothing, but it has read the
// environment before, and has said what is wrong with it.
bool is_libgomp_loaded() { return find_in_libgomp("GOMP_parallel") != nullptr; }

void complain(const char* format, const char* name) {
  if (is_libgomp_loaded()) return;
  std::fputs("\nlibgomp: ", stderr);
  std::fprintf(stderr, format, name);
  std::fputc('\n', stderr);
}
void invalid(const char* name) { complain("Invalid value for environment variable %s", name); }

// The CPUs that the process could use before libgomp bound its first thread, or 0.
constinit unsigned cpus_before_binding = 0;

// A program whose threads are bound has a libgomp that has bound the first thread already, before
// anything could read which CPUs the process may use. Its places tell which they are.
// It comes before the initialization of static objects, one of which reads the CPUs.
[[gnu::constructor(101)]] void undo_binding_of_libgomp() {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  if (!is_set("OMP_PROC_BIND") && !is_set("OMP_PLACES") && !is_set("GOMP_CPU_AFFINITY")) return;
  const auto count = reinterpret_cast<int (*)()>(find_in_libgomp("omp_get_num_places"));
  const auto size = reinterpret_cast<int (*)(int)>(find_in_libgomp("omp_get_place_num_procs"));
  const auto list =
      reinterpret_cast<void (*)(int, int*)>(find_in_libgomp("omp_get_place_proc_ids"));
  if (count == nullptr || size == nullptr || list == nullptr) return;
  // If it has places, libgomp tells the number of before.
  if (const auto before = reinterpret_cast<int (*)()>(find_in_libgomp("omp_get_num_procs")))
    cpus_before_binding = static_cast<unsigned>(std::max(before(), 0));
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int place = 0; place < count(); ++place) {
    std::vector<int> cpus(static_cast<std::size_t>(std::max(size(place), 0)));
    if (!cpus.empty()) list(place, cpus.data());
    for (const int cpu : cpus)
      if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<unsigned>(cpu), &all);
  }
  if (CPU_COUNT(&all) > 1) sched_setaffinity(0, sizeof all, &all);
}

bool read_number(const char* name, unsigned long& value, bool allows_zero,
                 unsigned long most = LONG_MAX) {
  const char* const found = std::getenv(name);
  if (found == nullptr) return false;
  word_reader t(found);
  unsigned long number = 0;
  const bool is_read = t.take_number(number) && t.is_at_end();
  if (!is_read || number > most || (number == 0 && !allows_zero)) {
    invalid(name);
    return false;
  }
  value = number;
  return true;
}

// Whether the value begins with the word, or is its beginning and has at least so many letters:
// LLVM's runtime then takes it for the word.
bool is_like(const char* value, const char* word, std::size_t least) {
  std::size_t same = 0;
  while (word[same] != '\0' && std::tolower(static_cast<unsigned char>(value[same])) == word[same])
    ++same;
  return same >= least && (word[same] == '\0' || value[same] == '\0');
}

// Takes the spellings of LLVM's runtime.
bool read_bool_of_llvm(const char* text, bool& value) {
  static constexpr struct {
    const char* word;
    std::size_t least;
    bool value;
  } all[] = {{"true", 1, true}, {"on", 2, true},       {"1", 1, true},      {".true.", 2, true},
             {".t.", 2, true},  {"yes", 1, true},      {"false", 1, false}, {"off", 2, false},
             {"0", 1, false},   {".false.", 2, false}, {".f.", 2, false},   {"no", 1, false}};
  for (const auto& each : all)
    if (is_like(text, each.word, each.least)) return value = each.value, true;
  const bool is_enabled = strcasecmp(text, "enabled") == 0;
  if (!is_enabled && strcasecmp(text, "disabled") != 0) return false;
  value = is_enabled;
  return true;
}

bool read_bool(const char* name, bool& value) {
  const char* const found = std::getenv(name);
  if (found == nullptr) return false;
  word_reader t(found);
  const bool is_true = t.take_letters("true");
  if (is_true || t.take_letters("false")) {
    // It counts whatever comes after it, as in libgomp.
    value = is_true;
    if (t.is_at_end()) return true;
  }
  if (has_objects_of_clang() && read_bool_of_llvm(found, value)) return true;
  invalid(name);
  return false;
}

void read_threads(global_settings& g) {
  const char* const found = std::getenv("OMP_NUM_THREADS");
  if (found == nullptr) return;
  std::vector<unsigned> list;
  word_reader t(found);
  do {
    unsigned long threads = 0;
    if (!t.take_number(threads) || threads == 0 || threads > 0x7fffffff)
      return invalid("OMP_NUM_THREADS");
    list.push_back(static_cast<unsigned>(threads));
  } while (t.take(','));
  if (!t.is_at_end()) return invalid("OMP_NUM_THREADS");
  g.first.threads = list[0];
  g.threads_by_level = list;
}

void read_bind(global_settings& g, bool& is_given) {
  constexpr const char* name = "OMP_PROC_BIND";
  const char* const found = std::getenv(name);
  if (found == nullptr) return;
  word_reader t(found);
  std::vector<unsigned char> list;
  if (t.take_word("false")) {
    list.push_back(bind_false);
  } else if (t.take_word("true")) {
    list.push_back(bind_true);
  } else {
    do {
      if (t.take_word("master") || t.take_word("primary"))
        list.push_back(bind_primary);
      else if (t.take_word("close"))
        list.push_back(bind_close);
      else if (t.take_word("spread"))
        list.push_back(bind_spread);
      else
        return invalid(name);
    } while (t.take(','));
  }
  if (!t.is_at_end()) return invalid(name);
  is_given = true;
  g.first.bind = list[0];
  g.bind_by_level = list;
}

// The predefined ones, from 1.
constexpr const char* allocators[] = {"omp_default_mem_alloc", "omp_large_cap_mem_alloc",
                                      "omp_const_mem_alloc",   "omp_high_bw_mem_alloc",
                                      "omp_low_lat_mem_alloc", "omp_cgroup_mem_alloc",
                                      "omp_pteam_mem_alloc",   "omp_thread_mem_alloc"};

void read_schedule(global_settings& g) {
  constexpr const char* name = "OMP_SCHEDULE";
  const char* const found = std::getenv(name);
  if (found == nullptr) return;
  word_reader t(found);
  unsigned modifier = 0;
  bool is_nonmonotonic = false;
  if (t.take_word("monotonic")) {
    modifier = schedule_monotonic;
    if (!t.take(':')) return complain("Unknown value for environment variable %s", name);
  } else if (t.take_word("nonmonotonic")) {
    is_nonmonotonic = true;
    if (!t.take(':')) return complain("Unknown value for environment variable %s", name);
  }
  unsigned schedule = 0;
  if (t.take_letters("static"))
    schedule = schedule_static;
  else if (t.take_letters("dynamic"))
    schedule = schedule_dynamic;
  else if (t.take_letters("guided"))
    schedule = schedule_guided;
  else if (t.take_letters("auto"))
    schedule = schedule_auto;
  else
    return complain("Unknown value for environment variable %s", name);
  if (schedule == schedule_static && !is_nonmonotonic) modifier = schedule_monotonic;
  // It counts whatever comes after it, as in libgomp.
  g.first.schedule = schedule | modifier;
  long chunk = schedule == schedule_static ? 0 : 1;
  if (t.take(',')) {
    // libgomp, too, takes negative sizes. Loops have them for none.
    if (!t.take_signed(chunk) || chunk < INT_MIN || chunk > INT_MAX || !t.is_at_end())
      return complain("Invalid value for chunk size in environment variable %s", name);
    if (chunk == 0 && schedule != schedule_static) chunk = 1;
  }
  if (!t.is_at_end()) return complain("Unknown value for environment variable %s", name);
  g.first.chunk = chunk;
}

// Takes a number and a unit, which is `usual` if there is none, a power of two. For the objects of
// clang, LLVM's units count as well.
bool read_stack(const char* name, std::size_t& bytes, unsigned usual) {
  const char* const found = std::getenv(name);
  if (found == nullptr) return false;
  word_reader t(found);
  unsigned long number = 0;
  if (!t.take_number(number)) {
    invalid(name);
    return false;
  }
  static constexpr struct {
    const char* of_gcc;
    const char* of_llvm;
    unsigned shift;
  } units[] = {{"b", "b", 0},   {"k", "kb", 10}, {"m", "mb", 20},
               {"g", "gb", 30}, {"", "t", 40},   {"", "tb", 40}};
  unsigned shift = usual;
  for (const auto& each : units)
    if ((*each.of_gcc != '\0' && t.take_word(each.of_gcc)) ||
        (has_objects_of_clang() && t.take_word(each.of_llvm))) {
      shift = each.shift;
      break;
    }
  if (!t.is_at_end() || (number << shift) >> shift != number) {
    invalid(name);
    return false;
  }
  bytes = number << shift;
  return true;
}

// What the workers' stacks have without a setting in LLVM's runtime, on whose sizes programs of
// clang may rely: as much as the program's own, but at most 64 MB.
std::size_t stack_bytes_of_llvm() {
  constexpr rlim_t least = 4u << 20, most = 64u << 20;
  rlimit own{};
  if (getrlimit(RLIMIT_STACK, &own) != 0) return least;
  return std::clamp(own.rlim_cur, least, most);
}

// Says so if threads cannot have a stack of this size. They then get one of the system's size.
void check_stack(std::size_t bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, bytes) != 0) {
    const auto least = static_cast<std::size_t>(PTHREAD_STACK_MIN);
    if (bytes < least)
      complain("Stack size less than minimum of %sk", std::to_string(least / 1024).c_str());
    else
      complain("Stack size larger than system limit%s", "");
  }
  pthread_attr_destroy(&attributes);
}

void read_wait_policy(global_settings& g) {
  const char* const found = std::getenv("OMP_WAIT_POLICY");
  if (found == nullptr) return;
  word_reader t(found);
  if (t.take_word("active") && t.is_at_end())
    g.wait_policy = 1;
  else if (word_reader again(found); again.take_word("passive") && again.is_at_end())
    g.wait_policy = 0;
  else
    invalid("OMP_WAIT_POLICY");
}

// How often libgomp's threads poll before they sleep. tutti's waits learn that; the number is only
// displayed.
void read_spins(global_settings& g) {
  constexpr const char* name = "GOMP_SPINCOUNT";
  g.spins = g.wait_policy < 0 ? 300'000 : g.wait_policy > 0 ? 30'000'000'000 : 0;
  const char* const found = std::getenv(name);
  if (found == nullptr) return;
  constexpr std::uint64_t endless = UINT64_MAX;
  word_reader t(found);
  std::uint64_t factor = 1;
  long number = 0;
  if (t.take_letters("infinite") || t.take_letters("infinity")) {
    number = -1;
  } else if (t.take_signed(number)) {
    // Each unit is a thousand of the next one.
    for (const char* const unit : {"t", "g", "m", "k"})
      if (factor != 1 || t.take_letters(unit)) factor *= 1000;
  } else {
    return invalid(name);
  }
  if (!t.is_at_end()) return invalid(name);
  const auto count = static_cast<std::uint64_t>(number);
  g.spins = count > endless / factor ? endless : count * factor;
}

void read_target_offload(global_settings& g) {
  constexpr const char* name = "OMP_TARGET_OFFLOAD";
  const char* const found = std::getenv(name);
  if (found == nullptr) return;
  word_reader t(found);
  auto wanted = target_offload::usual;
  if (t.take_letters("mandatory"))
    wanted = target_offload::mandatory;
  else if (t.take_letters("disabled"))
    wanted = target_offload::disabled;
  else if (!t.take_letters("default"))
    return invalid(name);
  if (!t.is_at_end()) return invalid(name);
  g.offload = wanted;
}

// Places given by OMP_PROC_BIND or GOMP_CPU_AFFINITY alone are one CPU each.
void read_places(global_settings& g, bool bind_is_given) {
  const char* const cpus = std::getenv("GOMP_CPU_AFFINITY");
  const char* const places = std::getenv("OMP_PLACES");
  bool any = false;
  if (places != nullptr) {
    any = parse_places(places);
    if (!any) invalid("OMP_PLACES");
  }
  if (cpus != nullptr && !any) {
    any = parse_places_of_cpus(cpus);
    if (!any) invalid("GOMP_CPU_AFFINITY");
  }
  if (any && !bind_is_given) {
    g.first.bind = bind_true;
    g.bind_by_level = {bind_true};
  }
  if (!any && bind_is_given && g.first.bind != bind_false) parse_places("threads");
  if (g.first.bind == bind_false && places_ != nullptr) {
    delete places_;
    places_ = nullptr;
  }
}

void read_environment(global_settings& g) {
  g.first.threads = processors_before_binding();
  unsigned long number = 0;
  read_schedule(g);
  read_bool("OMP_DYNAMIC", g.first.is_dynamic);
  read_bool("OMP_CANCELLATION", g.can_cancel);
  read_bool("OMP_DISPLAY_AFFINITY", g.displays_affinity);
  if (read_number("OMP_DEFAULT_DEVICE", number, true, INT_MAX))
    g.first.device = static_cast<int>(number);
  read_target_offload(g);
  if (read_number("OMP_MAX_TASK_PRIORITY", number, true, INT_MAX))
    g.max_task_priority = static_cast<int>(number);
  if (read_number("OMP_THREAD_LIMIT", number, false))
    g.thread_limit = static_cast<unsigned>(std::min(number, 0xfffffffful));
  g.first.thread_limit = g.thread_limit;
  if (read_number("OMP_NUM_TEAMS", number, false, INT_MAX))
    g.num_teams = static_cast<unsigned>(number);
  if (read_number("OMP_TEAMS_THREAD_LIMIT", number, false, INT_MAX))
    g.teams_thread_limit = static_cast<unsigned>(number);
  read_threads(g);
  bool bind_is_given = false;
  read_bind(g, bind_is_given);
  bool is_nested = false;
  if (read_number("OMP_MAX_ACTIVE_LEVELS", number, true))
    g.first.max_active_levels = static_cast<unsigned char>(std::min(number, 255ul));
  else if (read_bool("OMP_NESTED", is_nested))
    g.first.max_active_levels = is_nested ? 255 : 1;
  else if (g.threads_by_level.size() > 1 || g.bind_by_level.size() > 1)
    g.first.max_active_levels = 255;
  read_places(g, bind_is_given);
  read_wait_policy(g);
  read_spins(g);
  const char* const reproducible = std::getenv("TUTTI_REPRODUCIBLE");
  g.is_reproducible = reproducible != nullptr && std::strcmp(reproducible, "1") == 0;
  constexpr unsigned in_bytes = 0, in_kilobytes = 10;
  const bool is_of_clang = has_objects_of_clang();
  if ((is_of_clang && read_stack("KMP_STACKSIZE", g.stack_bytes, in_bytes)) ||
      read_stack("OMP_STACKSIZE", g.stack_bytes, in_kilobytes) ||
      read_stack("GOMP_STACKSIZE", g.stack_bytes, in_kilobytes))
    check_stack(g.stack_bytes);
  else if (is_of_clang)
    g.stack_bytes = stack_bytes_of_llvm();
  // The program may change its environment later.
  if (const char* const format = std::getenv("OMP_AFFINITY_FORMAT"); format != nullptr)
    g.affinity_format = strdup(format);
  if (const char* const allocator = std::getenv("OMP_ALLOCATOR"); allocator != nullptr) {
    bool is_found = false;
    for (std::size_t i = 0; i < std::size(allocators) && !is_found; ++i) {
      word_reader t(allocator);
      is_found = t.take_word(allocators[i]) && t.is_at_end();
      if (is_found) g.first.allocator = i + 1;
    }
    if (!is_found) invalid("OMP_ALLOCATOR");
  }
}

void read_display(const char* value) {
  word_reader t(value);
  bool is_verbose = t.take_letters("verbose");
  bool is_wanted = is_verbose || t.take_letters("true");
  if ((!is_wanted && !t.take_letters("false")) || !t.is_at_end()) {
    const bool is_of_clang = has_objects_of_clang();
    is_verbose = is_verbose || (is_of_clang && is_like(value, "verbose", 1));
    is_wanted = is_wanted || is_verbose;
    // The text counts whatever comes after it, as in libgomp.
    if (!is_of_clang || (!is_verbose && !read_bool_of_llvm(value, is_wanted)))
      invalid("OMP_DISPLAY_ENV");
  }
  if (is_wanted) display_environment(is_verbose);
}

}  // namespace

void warn(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
}

void fatal(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  std::exit(EXIT_FAILURE);
}

global_settings& make_global() {
  static small_lock lock;
  const locked guard(lock);
  if (global_ != nullptr) return *global_;
  platform::tell_quota_to_headers();
  auto* const g = new global_settings;
  read_environment(*g);
  global_ = g;
  if (const char* const display = std::getenv("OMP_DISPLAY_ENV");
      display != nullptr && !is_libgomp_loaded())
    read_display(display);
  return *g;
}

const char* name_of_allocator(std::uintptr_t allocator) { return allocators[allocator - 1]; }

const std::vector<unsigned>& process_cpus() {
  static const auto& cpus = *new std::vector<unsigned>(platform::process_cpus());
  return cpus;
}

namespace {
// Copies them while they live.
[[maybe_unused]] const std::size_t cpus_at_start = process_cpus().size();
}  // namespace

unsigned usable_processors() noexcept {
  // The quota may change, but reading it takes a system call.
  static const unsigned count = [] {
    platform::tell_quota_to_headers();
    return platform::usable_cpus();
  }();
  return count;
}

unsigned processors_before_binding() noexcept {
  const unsigned usable = usable_processors();
  if (cpus_before_binding == 0) return usable;
  // A quota may allow fewer CPUs than the places have, and GOMP_CPU_AFFINITY may list more CPUs
  // than the process could use.
  if (usable < process_cpus().size()) return std::min(usable, cpus_before_binding);
  const double quota = platform::recent_cpu_quota();
  return quota <= 0 || quota >= cpus_before_binding ? cpus_before_binding
                                                    : static_cast<unsigned>(std::ceil(quota));
}

}  // namespace tutti::openmp

using namespace tutti::openmp;

namespace {
void report_error(ompt_severity_t severity, const char* message, std::size_t size,
                  ompt::call_site at) {
  thread& me = self();
  if (ompt::is_on()) ompt::error_event(me, severity, message, message != nullptr ? size : 0, at);
}
}  // namespace

TUTTI_OMP void GOMP_error(const char* message, std::size_t size) {
  report_error(ompt_fatal, message, size, TUTTI_OMPT_CALL_SITE);
  if (message != nullptr)
    fatal("fatal error: error directive encountered: %.*s", static_cast<int>(size), message);
  fatal("fatal error: error directive encountered");
}
TUTTI_OMP void GOMP_warning(const char* message, std::size_t size) {
  report_error(ompt_warning, message, size, TUTTI_OMPT_CALL_SITE);
  if (message != nullptr)
    warn("error directive encountered: %.*s", static_cast<int>(size), message);
  else
    warn("error directive encountered");
}
