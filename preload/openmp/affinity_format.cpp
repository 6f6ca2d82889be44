// SPDX-License-Identifier: Apache-2.0
// How threads describe themselves: OMP_AFFINITY_FORMAT, OMP_DISPLAY_AFFINITY, and the routines. The
// text, the messages about wrong formats, and when a region's threads are displayed, are libgomp's.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "preload/openmp/abi.hpp"
#include "preload/openmp/environment.hpp"
#include "preload/openmp/places.hpp"
#include "preload/openmp/takeover.hpp"
#include "preload/openmp/teams.hpp"
#include "preload/openmp/threads.hpp"
#include "tutti/platform/usable_cpus.hpp"

namespace tutti::openmp {

std::string affinity_format() {
  const char* const chosen = global().affinity_format;
  return chosen != nullptr ? chosen : "level %L thread %i affinity %A";
}

namespace {

// What formats tell about a thread.
struct described_thread {
  unsigned team, teams, level, rank, threads;
  int ancestor;
  unsigned place;
  pthread_t handle;
};

described_thread described(const thread& me) {
  const context& now = me.now;
  return {me.team_num, me.num_teams,   now.level,
          now.rank,    now.team->size, now.level == 0 ? -1 : static_cast<int>(now.team->outer.rank),
          now.place,   pthread_self()};
}

// Writes to a buffer as much as it has room for, and counts all. The format gives widths, so the
// text may be larger than the memory.
class counted_text {
 public:
  counted_text(char* to, std::size_t room) : to_(to), room_(room) {}
  void add(std::string_view text) {
    const std::size_t fits = fitting(text.size());
    if (fits != 0) std::memcpy(to_ + size_, text.data(), fits);
    count(text.size());
  }
  void repeat(char c, std::size_t times) {
    const std::size_t fits = fitting(times);
    if (fits != 0) std::memset(to_ + size_, c, fits);
    count(times);
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t fitting(std::size_t wanted) const {
    return size_ < room_ ? std::min(wanted, room_ - size_) : 0;
  }
  void count(std::size_t more) {
    if (size_ + more < size_) fatal("overflow in omp_capture_affinity");
    size_ += more;
  }
  char* to_;
  std::size_t room_, size_ = 0;
};

struct field {
  static constexpr std::size_t no_width = SIZE_MAX;
  bool zeros = false, is_right = false;
  std::size_t width = no_width;
  char letter = '\0';
};

// OpenMP and LLVM's runtime have the word "undefined" printed for an unknown field, and LLVM's does
// without a dot or a width. libgomp ends the program.
constexpr char unknown = '?';
bool accepts_all_formats() { return has_objects_of_clang(); }

char letter_of(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    char letter;
  } all[] = {{"team_num", 't'},       {"num_teams", 'T'},   {"nesting_level", 'L'},
             {"thread_num", 'n'},     {"num_threads", 'N'}, {"ancestor_tnum", 'a'},
             {"host", 'H'},           {"process_id", 'P'},  {"native_thread_id", 'i'},
             {"thread_affinity", 'A'}};
  for (const auto& each : all)
    if (each.name == name) return each.letter;
  if (!accepts_all_formats())
    fatal("unsupported long type name '%.*s' in affinity format", static_cast<int>(name.size()),
          name.data());
  return unknown;
}

// Reads %[0][.][width]letter or %[0][.][width]{name}, without the first character. Returns what
// follows.
const char* read_field(const char* at, field& f) {
  f.zeros = *at == '0';
  if (f.zeros && *++at != '.' && !accepts_all_formats())
    fatal("leading zero not followed by dot in affinity format");
  f.is_right = *at == '.';
  if (f.is_right) ++at;
  f.zeros = f.zeros && f.is_right;
  if (*at >= '1' && *at <= '9') {
    char* end = nullptr;
    f.width = std::strtoul(at, &end, 10);
    at = end;
  } else if (f.is_right && !accepts_all_formats()) {
    fatal("leading zero or right justification in affinity format requires size");
  }
  f.letter = *at;
  if (f.letter == '{') {
    const char* const end = std::strchr(at, '}');
    if (end != nullptr) {
      f.letter = letter_of({at + 1, end});
      return end + 1;
    }
    if (!accepts_all_formats())
      fatal("unterminated long type name '%s' in affinity format", at + 1);
    f.letter = unknown;
    return at + std::strlen(at);
  }
  if (f.letter != '\0' && std::strchr("tTLnNaHPiA", f.letter) != nullptr) return at + 1;
  if (!accepts_all_formats()) fatal("unsupported type %c in affinity format", f.letter);
  f.letter = unknown;
  return *at != '\0' ? at + 1 : at;
}

void add_aligned(counted_text& out, const field& f, std::string_view value) {
  const bool is_short = f.width != field::no_width && value.size() < f.width;
  const std::size_t missing = is_short ? f.width - value.size() : 0;
  if (f.is_right) out.repeat(' ', missing);
  out.add(value);
  if (!f.is_right) out.repeat(' ', missing);
}

// Zeros come after a sign, or after 0x.
void add_number(counted_text& out, const field& f, std::string_view digits) {
  if (!f.zeros || digits.size() >= f.width || f.width == field::no_width)
    return add_aligned(out, f, digits);
  const std::size_t prefix = digits.starts_with("0x") ? 2 : digits.starts_with("-") ? 1 : 0;
  out.add(digits.substr(0, prefix));
  out.repeat('0', f.width - digits.size());
  out.add(digits.substr(prefix));
}

std::string host() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "node";
}

// The CPUs on which a thread may run, without the one CPU that tutti chooses for a worker.
std::string affinity_of(unsigned place) {
  if (place != 0) return describe((*places_)[place - 1].cpus, "-");
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const unsigned cpu : process_cpus())
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &all);
  return describe(all, "-");
}

void add_field(counted_text& out, const field& f, const described_thread& t) {
  const auto number = [&](auto value) { add_number(out, f, std::to_string(value)); };
  switch (f.letter) {
    case 't': return number(t.team);
    case 'T': return number(t.teams);
    case 'L': return number(t.level);
    case 'n': return number(t.rank);
    case 'N': return number(t.threads);
    case 'a': return number(t.ancestor);
    case 'P': return number(getpid());
    case 'H': return add_aligned(out, f, host());
    case 'A': return add_aligned(out, f, affinity_of(t.place));
    case 'i': {
      char text[2 + 16 + 1];
      std::snprintf(text, sizeof text, "0x%lx", t.handle);
      return add_number(out, f, text);
    }
    default: add_aligned(out, f, "undefined");
  }
}

// Returns the size of the text, of which as much is written as there is room for.
std::size_t write_affinity(char* to, std::size_t room, const char* format,
                           const described_thread& t) {
  counted_text out(to, room);
  for (;;) {
    const std::size_t literal = std::strcspn(format, "%");
    out.add({format, literal});
    format += literal;
    if (*format == '\0') return out.size();
    if (*++format == '%') {
      out.add("%");
      ++format;
      continue;
    }
    field f;
    format = read_field(format, f);
    add_field(out, f, t);
  }
}

void print_affinity(const char* format, const described_thread& t) {
  char usual[512];
  std::size_t size = write_affinity(usual, sizeof usual, format, t);
  char* text = usual;
  if (size >= sizeof usual) {
    text = static_cast<char*>(std::malloc(size + 1));
    if (text == nullptr) fatal("Out of memory allocating %lu bytes", size + 1);
    size = std::min(size, write_affinity(text, size, format, t));
  }
  text[size++] = '\n';
  std::fwrite(text, 1, size, stderr);
  if (text != usual) std::free(text);
}

const char* chosen_or_default(const char* format, const std::string& otherwise) {
  return format != nullptr && *format != '\0' ? format : otherwise.c_str();
}

void fill_out(char* to, std::size_t size, std::string_view from) {
  const std::size_t count = std::min(from.size(), size);
  std::memcpy(to, from.data(), count);
  std::memset(to + count, ' ', size - count);
}

// Whether the last region that this thread opened outside of all others showed the same.
bool is_shown(thread& me, const omp_team& team, unsigned char bind) {
  if (team.outer.level != 0) return false;
  // With OMP_PROC_BIND=true, threads may have any place.
  const bool is_same =
      me.shown_threads == team.size &&
      (bind == bind_true || std::ranges::equal(me.shown_placements, team.placements, {},
                                               &placement::place, &placement::place));
  me.shown_threads = team.size;
  me.shown_placements = team.placements;
  return is_same;
}

}  // namespace

void show_affinity(thread& me, const omp_team& team, unsigned char bind) {
  if (team.size == 1 || is_shown(me, team, bind)) return;
  const std::string format = affinity_format();
  for (unsigned rank = 0; rank < team.size; ++rank) {
    const unsigned place = team.placements.empty() ? 0 : team.placements[rank].place;
    print_affinity(format.c_str(), {me.team_num, me.num_teams, team.level, rank, team.size,
                                    static_cast<int>(team.outer.rank), place,
                                    rank == 0 ? pthread_self() : team.workers[rank - 1]->handle});
  }
}

}  // namespace tutti::openmp

using namespace tutti::openmp;

TUTTI_OMP void omp_set_affinity_format(const char* format) {
  global().affinity_format = strdup(format);
}
TUTTI_OMP void omp_set_affinity_format_(const char* format, std::size_t size) {
  omp_set_affinity_format(std::string(format, size).c_str());
}
TUTTI_OMP std::size_t omp_get_affinity_format(char* to, std::size_t room) {
  const std::string format = affinity_format();
  if (room > 0) to[format.copy(to, room - 1)] = '\0';
  return format.size();
}
TUTTI_OMP int omp_get_affinity_format_(char* to, std::size_t room) {
  const std::string format = affinity_format();
  fill_out(to, room, format);
  return static_cast<int>(format.size());
}
TUTTI_OMP std::size_t omp_capture_affinity(char* to, std::size_t room, const char* format) {
  const std::size_t size =
      write_affinity(to, room, chosen_or_default(format, affinity_format()), described(self()));
  if (room > 0) to[std::min(size, room - 1)] = '\0';
  return size;
}
TUTTI_OMP int omp_capture_affinity_(char* to, const char* format, std::size_t room,
                                    std::size_t format_size) {
  // Blanks at the end belong to the format, as in libgomp.
  const std::string wanted(format, format_size);
  const std::size_t size = write_affinity(
      to, room, chosen_or_default(wanted.c_str(), affinity_format()), described(self()));
  if (size < room) std::memset(to + size, ' ', room - size);
  return static_cast<int>(size);
}
TUTTI_OMP void omp_display_affinity(const char* format) {
  print_affinity(chosen_or_default(format, affinity_format()), described(self()));
}
TUTTI_OMP void omp_display_affinity_(const char* format, std::size_t size) {
  omp_display_affinity(std::string(format, size).c_str());
}
