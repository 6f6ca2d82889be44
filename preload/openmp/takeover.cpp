// SPDX-License-Identifier: Apache-2.0
// Whether this runtime takes the program over. Before main it reads the dynamic symbol tables of
// all loaded objects. If one of them imports a symbol of an OpenMP runtime that this runtime lacks,
// the program starts again without this library, and libgomp runs it; nothing else has happened by
// then. Objects that dlopen brings later are read when they open their first region; they cannot
// get libgomp any more, so a symbol that this runtime lacks ends the program.
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "preload/openmp/core.hpp"

namespace tutti::openmp {
namespace {

// An address inside of this library.
constinit char here = 0;

std::string& own_file() {
  static std::string& one = *new std::string;
  return one;
}

bool begins_with(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view each : prefixes)
    if (name.starts_with(each)) return true;
  return false;
}

// The names of OpenMP and OpenACC runtimes. Those of clang's runtime are not ours to give.
bool is_of_openmp(std::string_view name) {
  return begins_with(name, {"GOMP_", "GOACC_", "omp_", "acc_", "__kmpc_", "kmp_", "kmpc_"});
}

struct symbols {
  const ElfW(Sym) * table = nullptr;
  const char* strings = nullptr;
  std::size_t count = 0;
};

// Some dynamic linkers leave addresses relative to the object's base.
template <class T>
const T* at(const dl_phdr_info& object, ElfW(Addr) address) {
  return reinterpret_cast<const T*>(address < object.dlpi_addr ? address + object.dlpi_addr
                                                               : address);
}

std::size_t count_of(const std::uint32_t* gnu_hash) {
  const std::uint32_t buckets = gnu_hash[0], first = gnu_hash[1], words = gnu_hash[2];
  const auto* const bucket = gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / 4);
  const auto* const chain = bucket + buckets;
  std::uint32_t last = 0;
  for (std::uint32_t i = 0; i < buckets; ++i) last = bucket[i] > last ? bucket[i] : last;
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

symbols symbols_of(const dl_phdr_info& object) {
  symbols found;
  for (unsigned i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + segment.p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const ElfW(Addr) value = entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) found.table = at<ElfW(Sym)>(object, value);
      if (entry->d_tag == DT_STRTAB) found.strings = at<char>(object, value);
      if (entry->d_tag == DT_GNU_HASH && found.count == 0)
        found.count = count_of(at<std::uint32_t>(object, value));
      if (entry->d_tag == DT_HASH) found.count = at<std::uint32_t>(object, value)[1];
    }
  }
  return found;
}

struct search {
  const std::vector<std::string_view>& ours;
  std::string missing;
  bool any = false;
  bool has_tasks = false;
};

std::vector<std::string_view> exports() {
  std::vector<std::string_view> names;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* raw) {
        bool is_mine = false;
        const auto mine = reinterpret_cast<ElfW(Addr)>(&here);
        for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
          const auto& s = object->dlpi_phdr[i];
          is_mine = is_mine || (s.p_type == PT_LOAD && mine >= object->dlpi_addr + s.p_vaddr &&
                                mine < object->dlpi_addr + s.p_vaddr + s.p_memsz);
        }
        if (!is_mine) return 0;
        own_file() = object->dlpi_name;
        const symbols s = symbols_of(*object);
        for (std::size_t i = 1; i < s.count; ++i)
          if (s.table[i].st_shndx != SHN_UNDEF)
            static_cast<std::vector<std::string_view>*>(raw)->push_back(s.strings +
                                                                        s.table[i].st_name);
        return 1;
      },
      &names);
  return names;
}

// Returns the first symbol that a loaded object imports and this runtime lacks. What a program
// defines itself (a copy of clang's runtime, say) is no import of ours.
search look(const std::vector<std::string_view>& ours) {
  search s{ours, {}, false, false};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* raw) {
        auto& result = *static_cast<search*>(raw);
        const symbols all = symbols_of(*object);
        if (all.table == nullptr || all.strings == nullptr) return 0;
        for (std::size_t i = 1; i < all.count; ++i) {
          const auto& symbol = all.table[i];
          const std::string_view name = all.strings + symbol.st_name;
          if (symbol.st_shndx != SHN_UNDEF || !is_of_openmp(name)) continue;
          if (name == "GOMP_task" || name.starts_with("GOMP_taskloop")) result.has_tasks = true;
          bool is_found = false;
          for (const std::string_view each : result.ours) is_found = is_found || each == name;
          result.any = true;
          if (is_found || ELF64_ST_BIND(symbol.st_info) == STB_WEAK) continue;
          const char* const slash = std::strrchr(object->dlpi_name, '/');
          const char* file = slash != nullptr ? slash + 1 : object->dlpi_name;
          if (*file == '\0') file = "the program";
          // Libraries that have both runtimes' names are LLVM's own.
          if (result.missing.empty())
            result.missing =
                std::string(file) + " imports " + std::string(name) + ", which tutti does not have";
        }
        return 0;
      },
      &s);
  return s;
}

void say(const char* runtime, const std::string& reason) {
  const char* const wanted = std::getenv("TUTTI_VERBOSE");
  if (wanted == nullptr || *wanted == '\0' || std::strcmp(wanted, "0") == 0) return;
  if (std::strcmp(wanted, "json") == 0)
    std::fprintf(stderr, "{\"runtime\": \"%s\", \"reason\": \"%s\"}\n", runtime, reason.c_str());
  else
    std::fprintf(stderr, "tutti: runtime %s%s%s\n", runtime, reason.empty() ? "" : ": ",
                 reason.c_str());
}

void say_once() {
  static std::atomic<bool> is_said{false};
  // relaxed: it publishes nothing.
  if (!is_said.exchange(true, relaxed)) say("tutti", "");
}

// LD_PRELOAD without this library.
std::string other_preloads() {
  const char* const preloads = std::getenv("LD_PRELOAD");
  std::string rest;
  for (const char* p = preloads != nullptr ? preloads : ""; *p != '\0';) {
    const std::size_t size = std::strcspn(p, ": ");
    const std::string each(p, size);
    if (!each.empty() && each != own_file()) rest += (rest.empty() ? "" : ":") + each;
    p += size + (p[size] != '\0' ? 1 : 0);
  }
  return rest;
}

void decide(char** arguments) {
  const std::vector<std::string_view> ours = exports();
  const search found = look(ours);
  if (found.has_tasks) note_tasks();
  if (found.missing.empty()) {
    // Only a program that has OpenMP by now is worth a line; others get theirs when they open a
    // region.
    if (found.any) say_once();
    return;
  }
  say("libgomp", found.missing);
  const char* const preloads = std::getenv("LD_PRELOAD");
  const bool is_preloaded =
      preloads != nullptr && std::strstr(preloads, own_file().c_str()) != nullptr;
  if (!is_preloaded) {
    std::fprintf(stderr, "tutti: %s; link the program with libgomp instead\n",
                 found.missing.c_str());
    _exit(127);
  }
  const std::string rest = other_preloads();
  if (rest.empty())
    unsetenv("LD_PRELOAD");
  else
    setenv("LD_PRELOAD", rest.c_str(), 1);
  execve("/proc/self/exe", arguments, environ);
  std::perror("tutti: the program cannot start again without tutti");
  _exit(126);
}

[[gnu::constructor(101)]] void load(int, char** arguments) { decide(arguments); }

}  // namespace

void check_new_objects() {
  static small_lock lock;
  static std::size_t objects = 0;
  const locked guard(lock);
  std::size_t now = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* raw) {
        *static_cast<std::size_t*>(raw) = object->dlpi_adds;
        return 1;
      },
      &now);
  if (now == objects) return;
  objects = now;
  say_once();
  const search found = look(exports());
  if (found.has_tasks) note_tasks();
  if (found.missing.empty()) return;
  std::fprintf(stderr, "tutti: %s, and libgomp cannot replace tutti any more\n",
               found.missing.c_str());
  _exit(127);
}

}  // namespace tutti::openmp
