// SPDX-License-Identifier: Apache-2.0
// Places (OMP_PLACES), how the threads of a region are bound to them (OMP_PROC_BIND), and how a
// thread describes itself (OMP_AFFINITY_FORMAT).
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
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

bool is_usable(unsigned cpu) {
  const auto& cpus = platform::process_cpus();
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

// Groups the CPUs by a file of sysfs, in the order of their first CPU.
std::vector<place> grouped_by(const char* file) {
  std::vector<place> groups;
  std::map<std::string, std::size_t> known;
  for (const unsigned cpu : platform::process_cpus()) {
    std::ifstream in("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/" + file);
    std::string key;
    if (!std::getline(in, key)) key = std::string(file) == "" ? "" : std::to_string(cpu);
    const auto [at, is_new] = known.try_emplace(key, groups.size());
    if (is_new) {
      groups.emplace_back();
      CPU_ZERO(&groups.back().cpus);
    }
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &groups[at->second].cpus);
  }
  return groups;
}

// {a:count:stride, !b, ...}: the CPUs, without the braces.
bool parse_cpus(word_reader& p, std::vector<long>& cpus) {
  do {
    const bool excludes = p.take('!');
    long first = 0, count = 1, stride = 1;
    if (!p.take_signed(first) || first < 0) return false;
    if (p.take(':') && (!p.take_signed(count) || count < 1)) return false;
    if (count > 1 && p.take(':') && !p.take_signed(stride)) return false;
    for (long i = 0; i < count; ++i) {
      const long cpu = first + i * stride;
      if (cpu < 0 || cpu >= CPU_SETSIZE) return false;
      if (excludes)
        cpus.erase(std::remove(cpus.begin(), cpus.end(), cpu), cpus.end());
      else
        cpus.push_back(cpu);
    }
  } while (p.take(','));
  return true;
}

void add_place(std::vector<place>& list, const std::vector<long>& cpus, long shift) {
  place made{};
  CPU_ZERO(&made.cpus);
  for (const long cpu : cpus)
    if (cpu + shift >= 0 && cpu + shift < CPU_SETSIZE &&
        is_usable(static_cast<unsigned>(cpu + shift)))
      CPU_SET(static_cast<std::size_t>(cpu + shift), &made.cpus);
  if (CPU_COUNT(&made.cpus) > 0) list.push_back(made);
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
    long count = 1, stride = static_cast<long>(cpus.size());
    if (p.take(':') && (!p.take_signed(count) || count < 1)) return false;
    if (count > 1 && p.take(':') && !p.take_signed(stride)) return false;
    if (excludes) {
      std::vector<place> gone;
      add_place(gone, cpus, 0);
      std::erase_if(list, [&](const place& each) {
        return !gone.empty() && CPU_EQUAL(&each.cpus, &gone[0].cpus);
      });
      continue;
    }
    for (long i = 0; i < count; ++i) add_place(list, cpus, i * stride);
  } while (p.take(','));
  return p.is_at_end();
}

void keep(std::vector<place> list) {
  delete places_;
  places_ = new std::vector<place>(std::move(list));
}

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

}  // namespace

bool parse_places(const char* text) {
  static constexpr struct {
    const char* name;
    const char* file;
  } abstract[] = {
      {"threads", nullptr},
      {"cores", "topology/core_cpus_list"},
      {"sockets", "topology/physical_package_id"},
      {"ll_caches", "cache/index3/shared_cpu_list"},
      {"numa_domains", "topology/physical_package_id"},
  };
  word_reader p(text);
  for (const auto& each : abstract) {
    if (!p.take_word(each.name)) continue;
    long most = 0;
    if (p.take('(') && (!p.take_signed(most) || most < 1 || !p.take(')'))) return false;
    if (!p.is_at_end()) return false;
    std::vector<place> list;
    if (each.file != nullptr)
      list = grouped_by(each.file);
    else
      for (const unsigned cpu : platform::process_cpus()) list.push_back({one_cpu(cpu)});
    if (most > 0 && list.size() > static_cast<std::size_t>(most))
      list.resize(static_cast<std::size_t>(most));
    if (list.empty()) return false;
    keep(std::move(list));
    return true;
  }
  std::vector<place> list;
  if (!parse_list(p, list) || list.empty()) return false;
  keep(std::move(list));
  return true;
}

bool parse_places_of_cpus(const char* text) {
  std::vector<place> list;
  const char* at = text;
  while (*at != '\0') {
    char* end = nullptr;
    const unsigned long first = std::strtoul(at, &end, 0);
    if (end == at) return false;
    unsigned long last = first, stride = 1;
    if (*end == '-') {
      at = end + 1;
      last = std::strtoul(at, &end, 0);
      if (end == at || last < first) return false;
      if (*end == ':') {
        at = end + 1;
        stride = std::strtoul(at, &end, 0);
        if (end == at || stride == 0) return false;
      }
    }
    for (unsigned long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu += stride)
      if (is_usable(static_cast<unsigned>(cpu)))
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

// Distributes the ranks over the opener's places: all at the opener's place (primary), next to each
// other (close), or spread over sub-partitions.
void place_ranks(omp_team& team, const context& opener, unsigned char bind,
                 std::vector<unsigned>& of_rank) {
  const unsigned threads = team.size;
  const unsigned first = opener.first_place, count = opener.places;
  const unsigned at = opener.place != 0 ? opener.place - 1 - first : 0;
  of_rank.assign(threads, 0);
  team.first_place = first;
  team.places = count;
  if (bind == bind_false || count == 0) return;
  for (unsigned rank = 0; rank < threads; ++rank) {
    unsigned place = at;
    if (bind == bind_close || bind == bind_true) {
      place = threads <= count ? at + rank
                               : at + static_cast<unsigned>(std::uint64_t{rank} * count / threads);
    } else if (bind == bind_spread) {
      place = at + static_cast<unsigned>(std::uint64_t{rank} * count / threads);
    }
    of_rank[rank] = first + place % count + 1;
  }
  if (of_rank[0] != opener.place) bind_to_place(of_rank[0]);
}

std::string affinity_format() {
  const char* const chosen = global().affinity_format;
  return chosen != nullptr ? chosen : "level %L thread %i affinity %A";
}

namespace {

std::string field(thread& me, char name) {
  char buffer[256];
  switch (name) {
    case 't': return std::to_string(me.team_num);
    case 'T': return std::to_string(me.num_teams);
    case 'L': return std::to_string(me.now.level);
    case 'n': return std::to_string(me.now.rank);
    case 'N': return std::to_string(me.now.team->size);
    case 'a':
      return std::to_string(me.now.level == 0 ? -1 : static_cast<int>(me.now.team->outer.rank));
    case 'H':
      if (gethostname(buffer, sizeof buffer) != 0) return "node";
      buffer[sizeof buffer - 1] = '\0';
      return buffer;
    case 'P': return std::to_string(getpid());
    case 'i': std::snprintf(buffer, sizeof buffer, "0x%lx", pthread_self()); return buffer;
    case 'A': {
      cpu_set_t cpus;
      if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) return "";
      return describe(cpus, "-");
    }
    default: return "undefined";
  }
}

char short_name(const std::string& name) {
  static const std::map<std::string, char> names = {
      {"team_num", 't'},       {"num_teams", 'T'},   {"nesting_level", 'L'},
      {"thread_num", 'n'},     {"num_threads", 'N'}, {"ancestor_tnum", 'a'},
      {"host", 'H'},           {"process_id", 'P'},  {"native_thread_id", 'i'},
      {"thread_affinity", 'A'}};
  const auto found = names.find(name);
  return found == names.end() ? '\0' : found->second;
}

// A field is %[0][.][width]letter or %[0][.][width]{name}: it is aligned to the left, or to the
// right after a dot, and filled with zeros after a 0.
std::string formatted(thread& me, const char* format) {
  std::string out;
  for (const char* at = format; *at != '\0'; ++at) {
    if (*at != '%') {
      out += *at;
      continue;
    }
    if (*++at == '%') {
      out += '%';
      continue;
    }
    const bool zeros = *at == '0';
    if (zeros) ++at;
    const bool right = *at == '.';
    if (right) ++at;
    std::size_t width = 0;
    while (std::isdigit(static_cast<unsigned char>(*at)))
      width = 10 * width + static_cast<std::size_t>(*at++ - '0');
    char name = *at;
    if (name == '{') {
      const char* const end = std::strchr(at, '}');
      if (end == nullptr) return out;
      name = short_name(std::string(at + 1, end));
      at = end;
    } else if (name == '\0') {
      return out;
    }
    std::string value = field(me, name);
    if (value.size() < width) {
      const std::size_t missing = width - value.size();
      if (!right)
        value.append(missing, ' ');
      else if (zeros && value.starts_with("0x"))
        value.insert(2, missing, '0');
      else
        value.insert(0, missing, zeros ? '0' : ' ');
    }
    out += value;
  }
  return out;
}

std::size_t copy_out(char* to, std::size_t size, const std::string& from) {
  if (size > 0) {
    const std::size_t count = std::min(from.size(), size - 1);
    std::memcpy(to, from.data(), count);
    to[count] = '\0';
  }
  return from.size();
}

void fill_out(char* to, std::size_t size, const std::string& from) {
  const std::size_t count = std::min(from.size(), size);
  std::memcpy(to, from.data(), count);
  std::memset(to + count, ' ', size - count);
}

}  // namespace

void show_affinity(thread& me) {
  const std::string text = formatted(me, affinity_format().c_str()) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace tutti::openmp

using namespace tutti::openmp;

TUTTI_OMP void omp_set_affinity_format(const char* format) {
  global().affinity_format = strdup(format);
}
TUTTI_OMP void omp_set_affinity_format_(const char* format, std::size_t size) {
  omp_set_affinity_format(std::string(format, size).c_str());
}
TUTTI_OMP std::size_t omp_get_affinity_format(char* to, std::size_t size) {
  return copy_out(to, size, affinity_format());
}
TUTTI_OMP int omp_get_affinity_format_(char* to, std::size_t size) {
  fill_out(to, size, affinity_format());
  return static_cast<int>(affinity_format().size());
}
TUTTI_OMP std::size_t omp_capture_affinity(char* to, std::size_t size, const char* format) {
  const bool is_default = format == nullptr || *format == '\0';
  return copy_out(to, size, formatted(self(), is_default ? affinity_format().c_str() : format));
}
TUTTI_OMP int omp_capture_affinity_(char* to, const char* format, std::size_t size,
                                    std::size_t format_size) {
  // Blanks at the end belong to the format, as in libgomp.
  const std::string wanted(format, format_size);
  const std::string text =
      formatted(self(), wanted.empty() ? affinity_format().c_str() : wanted.c_str());
  fill_out(to, size, text);
  return static_cast<int>(text.size());
}
TUTTI_OMP void omp_display_affinity(const char* format) {
  const bool is_default = format == nullptr || *format == '\0';
  const std::string text =
      formatted(self(), is_default ? affinity_format().c_str() : format) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}
TUTTI_OMP void omp_display_affinity_(const char* format, std::size_t size) {
  omp_display_affinity(std::string(format, size).c_str());
}

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
template <class Value>
void proc_ids(long place, Value* ids) {
  if (place < 0 || static_cast<unsigned long>(place) >= place_count()) return;
  const cpu_set_t& cpus = (*places_)[static_cast<unsigned long>(place)].cpus;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) *ids++ = static_cast<Value>(cpu);
}
template <class Value>
void partition(Value* places) {
  const context& now = self().now;
  for (unsigned i = 0; i < now.places; ++i) places[i] = static_cast<Value>(now.first_place + i);
}
}  // namespace
TUTTI_OMP void omp_get_place_proc_ids(int place, int* ids) { proc_ids(place, ids); }
TUTTI_OMP int omp_get_place_num() {
  return place_count() == 0 ? -1 : static_cast<int>(self().now.place) - 1;
}
TUTTI_OMP int omp_get_partition_num_places() {
  return place_count() == 0 ? 0 : static_cast<int>(self().now.places);
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
