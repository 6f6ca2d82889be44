// SPDX-License-Identifier: Apache-2.0
// Places (OMP_PLACES), and how the threads of a region are bound to them (OMP_PROC_BIND).
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <string>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/places.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"
#include "preload/openmp/word_reader.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::openmp {

constinit std::vector<place>* places_ = nullptr;

namespace {

cpu_set_t one_cpu(unsigned cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  return set;
}

// libgomp has sets of whole words, for CPUs up to the last one that the process may use.
unsigned long end_of_sets() {
  constexpr unsigned word = 8 * sizeof(unsigned long);
  const auto& cpus = process_cpus();
  return (*std::max_element(cpus.begin(), cpus.end()) / word + 1ul) * word;
}

// A file of sysfs that tells about the CPU.
std::string file_of_cpu(unsigned cpu, const std::string& file) {
  return "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/" + file;
}

// Reads a list such as 0-3,8 from a file of sysfs, which may be missing.
std::vector<unsigned> read_list(const std::string& file) {
  std::vector<unsigned> numbers;
  std::ifstream in(file);
  unsigned first = 0;
  while (in >> first) {
    unsigned last = first;
    if (in.peek() == '-' && !(in.ignore() >> last)) break;
    for (unsigned each = first; each <= last && each < CPU_SETSIZE; ++each) numbers.push_back(each);
    if (in.get() != ',') break;
  }
  return numbers;
}

using cpu_groups = std::vector<std::vector<unsigned>>;

// The CPUs of the list that are left, which are so no longer.
std::vector<unsigned> take_from(std::vector<unsigned>& left, const std::vector<unsigned>& list) {
  std::vector<unsigned> taken;
  for (const unsigned cpu : list)
    if (std::erase(left, cpu) != 0) taken.push_back(cpu);
  return taken;
}

// Groups the CPUs by the lists of CPUs that sysfs has of each, in the order of their first CPU. As
// in libgomp, CPUs without a list are in no group.
cpu_groups grouped_by(const std::string& file) {
  cpu_groups groups;
  std::vector<unsigned> left = process_cpus();
  while (!left.empty()) {
    const unsigned first = left.front();
    std::vector<unsigned> group = take_from(left, read_list(file_of_cpu(first, file)));
    if (std::erase(left, first) == 0) groups.push_back(std::move(group));
  }
  return groups;
}

// One CPU each. The threads of a core come together.
cpu_groups threads_of_machine() {
  cpu_groups threads;
  for (const auto& core : grouped_by("topology/thread_siblings_list"))
    for (const unsigned cpu : core) threads.push_back({cpu});
  if (threads.empty())
    for (const unsigned cpu : process_cpus()) threads.push_back({cpu});
  return threads;
}

// Those that share a cache of the highest level. All CPUs have it under the same number, as far as
// libgomp knows.
cpu_groups last_caches() {
  for (const unsigned cpu : process_cpus()) {
    const std::string caches = file_of_cpu(cpu, "cache/index");
    int last = -1;
    unsigned highest = 0, level = 0;
    for (int i = 0;; ++i) {
      std::ifstream in(caches + std::to_string(i) + "/level");
      if (!in) break;
      if (!(in >> level) || level < highest) continue;
      highest = level;
      last = i;
    }
    if (last >= 0) return grouped_by("cache/index" + std::to_string(last) + "/shared_cpu_list");
  }
  return {};
}

cpu_groups numa_domains() {
  cpu_groups groups;
  std::vector<unsigned> left = process_cpus();
  const std::string nodes = "/sys/devices/system/node/";
  for (const unsigned node : read_list(nodes + "online")) {
    auto group = take_from(left, read_list(nodes + "node" + std::to_string(node) + "/cpulist"));
    if (!group.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

place place_of(const std::vector<unsigned>& cpus) {
  place made;
  CPU_ZERO(&made.cpus);
  for (const unsigned cpu : cpus)
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &made.cpus);
  return made;
}

// first + i * stride, or -1 if there is no such CPU.
long cpu_at(long first, long i, long stride) {
  long cpu = 0;
  if (__builtin_mul_overflow(i, stride, &cpu) || __builtin_add_overflow(first, cpu, &cpu))
    return -1;
  return cpu;
}

// The rest of `first:count:stride`. Without a stride, neighbours differ by one.
bool parse_interval(word_reader& p, long& count, long& stride) {
  constexpr long most = 65535;
  if (!p.take(':')) return true;
  if (!p.take_signed(count) || count < 1 || count > most) return false;
  return !p.take(':') || p.take_signed(stride);
}

// {a:count:stride, !b, ...}: the CPUs, without the braces. Those with ! are none of the others,
// wherever they stand.
bool parse_cpus(word_reader& p, std::vector<long>& cpus) {
  std::vector<long> excluded;
  do {
    const bool excludes = p.take('!');
    long first = 0, count = 1, stride = 1;
    if (!p.take_signed(first) || first < 0) return false;
    if (!excludes && !parse_interval(p, count, stride)) return false;
    for (long i = 0; i < count; ++i) {
      const long cpu = cpu_at(first, i, stride);
      if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
      (excludes ? excluded : cpus).push_back(cpu);
    }
  } while (p.take(','));
  return std::all_of(excluded.begin(), excluded.end(),
                     [&cpus](long cpu) { return std::erase(cpus, cpu) != 0; });
}

// The CPUs `shift` after those given.
bool add_place(std::vector<place>& list, const std::vector<long>& cpus, long shift) {
  place made{};
  CPU_ZERO(&made.cpus);
  for (const long each : cpus) {
    const long cpu = cpu_at(each, 1, shift);
    if (cpu < 0) return false;
    if (cpu < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(cpu), &made.cpus);
  }
  if (CPU_COUNT(&made.cpus) > 0) list.push_back(made);
  return true;
}

// Takes the place away that these CPUs are.
bool remove_place(std::vector<place>& list, const std::vector<long>& cpus) {
  std::vector<place> gone;
  if (!add_place(gone, cpus, 0) || gone.empty()) return false;
  const auto is_it = [&](const place& each) { return CPU_EQUAL(&each.cpus, &gone[0].cpus); };
  return std::erase_if(list, is_it) != 0;
}

bool parse_list(word_reader& p, std::vector<place>& list) {
  do {
    const bool excludes = p.take('!');
    std::vector<long> cpus;
    if (p.take('{')) {
      if (!parse_cpus(p, cpus) || !p.take('}')) return false;
    } else {
      long cpu = 0;
      if (!p.take_signed(cpu) || cpu < 0) return false;
      cpus.push_back(cpu);
    }
    if (excludes) {
      if (!remove_place(list, cpus)) return false;
      continue;
    }
    long count = 1, stride = 1;
    if (!parse_interval(p, count, stride)) return false;
    for (long i = 0; i < count; ++i) {
      long shift = 0;
      if (__builtin_mul_overflow(i, stride, &shift) || !add_place(list, cpus, shift)) return false;
    }
  } while (p.take(','));
  return p.is_at_end();
}

// Leaves the CPUs that the process may use, and the places that have some. A place that the text
// takes away again is compared before that.
void remove_unusable(std::vector<place>& list) {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  for (const unsigned cpu : process_cpus())
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &usable);
  for (place& each : list) CPU_AND(&each.cpus, &each.cpus, &usable);
  std::erase_if(list, [](const place& each) { return CPU_COUNT(&each.cpus) == 0; });
}

void keep(std::vector<place> list) {
  delete places_;
  places_ = new std::vector<place>(std::move(list));
}

}  // namespace

std::string describe(const cpu_set_t& cpus, const char* between) {
  std::string out;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    unsigned last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &cpus)) ++last;
    if (!out.empty()) out += ",";
    out += std::to_string(cpu);
    if (last > cpu) out += between + std::to_string(*between == ':' ? last - cpu + 1 : last);
    cpu = last;
  }
  return out;
}

bool parse_places(const char* text) {
  static constexpr struct {
    const char* name;
    cpu_groups (*groups)();
  } abstract[] = {
      {"threads", threads_of_machine},
      {"cores", [] { return grouped_by("topology/thread_siblings_list"); }},
      {"sockets", [] { return grouped_by("topology/core_siblings_list"); }},
      {"ll_caches", last_caches},
      {"numa_domains", numa_domains},
  };
  word_reader p(text);
  for (const auto& each : abstract) {
    if (!p.take_word(each.name)) continue;
    long most = 0;
    // A negative number is a very large one to libgomp.
    if (p.take('(') && (!p.take_signed(most) || most == 0 || !p.take(')'))) return false;
    if (!p.is_at_end()) return false;
    std::vector<place> list;
    for (const auto& group : each.groups()) {
      if (most > 0 && list.size() == static_cast<std::size_t>(most)) break;
      list.emplace_back(place_of(group));
    }
    if (list.empty()) return false;
    keep(std::move(list));
    return true;
  }
  std::vector<place> list;
  if (!parse_list(p, list)) return false;
  remove_unusable(list);
  if (list.empty()) return false;
  keep(std::move(list));
  return true;
}

bool parse_places_of_cpus(const char* text) {
  std::vector<place> list;
  const char* at = text;
  while (*at != '\0') {
    char* end = nullptr;
    const unsigned long first = std::strtoul(at, &end, 0);
    constexpr unsigned long most = 65535;
    if (end == at || first > most) return false;
    unsigned long last = first, stride = 1;
    if (*end == '-') {
      at = end + 1;
      last = std::strtoul(at, &end, 0);
      if (end == at || last < first || last > most) return false;
      if (*end == ':') {
        at = end + 1;
        stride = std::strtoul(at, &end, 0);
        if (end == at || stride == 0 || stride > most) return false;
      }
    }
    // libgomp, too, takes CPUs that the process may not use, and such as do not exist. It makes no
    // thread there, and here the thread stays where it is.
    for (unsigned long cpu = first; cpu <= last && cpu < end_of_sets(); cpu += stride)
      list.push_back({one_cpu(static_cast<unsigned>(cpu))});
    at = end;
    while (*at == ',' || std::isspace(static_cast<unsigned char>(*at))) ++at;
  }
  if (list.empty()) return false;
  keep(std::move(list));
  return true;
}

std::string describe_places() {
  if (places_ == nullptr) return "";
  std::string out;
  for (const place& each : *places_)
    out += (out.empty() ? "{" : ",{") + describe(each.cpus, ":") + "}";
  return out;
}

void bind_to_place(unsigned place) {
  const cpu_set_t& cpus = (*places_)[place - 1].cpus;
  sched_setaffinity(0, sizeof cpus, &cpus);
}

void take_place(placement& mine) {
  if (places_ == nullptr || mine.place != 0) return;
  mine = {1, 0, static_cast<unsigned>(places_->size())};
  bind_to_place(1);
}

namespace {

// How `close` and `spread` share `places` out among more threads: in turns of equal size, and what
// is left begins again at the first place, one thread each.
unsigned place_when_crowded(unsigned rank, unsigned threads, unsigned places) {
  const unsigned each = threads / places;
  return rank < each * places ? rank / each : rank - each * places;
}

}  // namespace

void place_ranks(const context& opener, unsigned char bind, unsigned threads,
                 std::vector<placement>& of_rank) {
  const unsigned first = opener.first_place, count = opener.places;
  of_rank.assign(threads, {opener.place, first, count});
  if (bind == bind_false || bind == bind_primary || count == 0 || threads == 1) return;
  const unsigned at = opener.place - 1 - first;
  if (threads > count) {
    for (unsigned rank = 0; rank < threads; ++rank) {
      const unsigned place = first + (at + place_when_crowded(rank, threads, count)) % count;
      of_rank[rank].place = place + 1;
      if (bind == bind_spread) of_rank[rank] = {place + 1, place, 1};
    }
    return;
  }
  if (bind != bind_spread) {
    for (unsigned rank = 0; rank < threads; ++rank)
      of_rank[rank].place = first + (at + rank) % count + 1;
    return;
  }
  // Each rank has a part of the places, beginning with that which has the opener's. The first
  // parts may have one place more.
  const unsigned size = count / threads, larger = count % threads;
  const auto part_begin = [&](unsigned part) { return part * size + std::min(part, larger); };
  unsigned own = 0;
  while (part_begin(own + 1) <= at) ++own;
  for (unsigned rank = 0; rank < threads; ++rank) {
    const unsigned part = (own + rank) % threads, begin = first + part_begin(part);
    of_rank[rank] = {begin + 1, begin, part_begin(part + 1) - part_begin(part)};
  }
  // The opener stays where it is.
  of_rank[0].place = opener.place;
}

}  // namespace tutti::openmp

using namespace tutti::openmp;

namespace {
unsigned place_count() noexcept {
  return places_ == nullptr ? 0 : static_cast<unsigned>(places_->size());
}
}  // namespace

TUTTI_OMP int omp_get_num_places() { return static_cast<int>(place_count()); }
TUTTI_OMP int omp_get_place_num_procs(int place) {
  if (place < 0 || static_cast<unsigned>(place) >= place_count()) return 0;
  return CPU_COUNT(&(*places_)[static_cast<unsigned>(place)].cpus);
}
namespace {
// The calling thread, which has a place if there are any.
thread& placed() {
  thread& me = self();
  take_place(me.now);
  return me;
}
template <class Value>
void proc_ids(long place, Value* ids) {
  if (place < 0 || static_cast<unsigned long>(place) >= place_count()) return;
  const cpu_set_t& cpus = (*places_)[static_cast<unsigned long>(place)].cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) *ids++ = static_cast<Value>(cpu);
}
template <class Value>
void partition(Value* places) {
  const context& now = placed().now;
  for (unsigned i = 0; i < now.places; ++i) places[i] = static_cast<Value>(now.first_place + i);
}
}  // namespace
TUTTI_OMP void omp_get_place_proc_ids(int place, int* ids) { proc_ids(place, ids); }
TUTTI_OMP int omp_get_place_num() {
  return place_count() == 0 ? -1 : static_cast<int>(placed().now.place) - 1;
}
TUTTI_OMP int omp_get_partition_num_places() {
  return place_count() == 0 ? 0 : static_cast<int>(placed().now.places);
}
TUTTI_OMP void omp_get_partition_place_nums(int* places) { partition(places); }

TUTTI_OMP int omp_get_num_places_() { return omp_get_num_places(); }
TUTTI_OMP int omp_get_place_num_procs_(const int* place) { return omp_get_place_num_procs(*place); }
TUTTI_OMP int omp_get_place_num_procs_8_(const long* place) {
  return omp_get_place_num_procs(static_cast<int>(*place));
}
TUTTI_OMP void omp_get_place_proc_ids_(const int* place, int* ids) { proc_ids(*place, ids); }
TUTTI_OMP void omp_get_place_proc_ids_8_(const long* place, long* ids) { proc_ids(*place, ids); }
TUTTI_OMP int omp_get_place_num_() { return omp_get_place_num(); }
TUTTI_OMP int omp_get_partition_num_places_() { return omp_get_partition_num_places(); }
TUTTI_OMP void omp_get_partition_place_nums_(int* places) { partition(places); }
TUTTI_OMP void omp_get_partition_place_nums_8_(long* places) { partition(places); }
