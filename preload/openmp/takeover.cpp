// SPDX-License-Identifier: Apache-2.0
// Whether this runtime takes the program over. Before main it reads the dynamic symbol tables of
// all loaded objects. If one of them imports a symbol of an OpenMP runtime that this runtime lacks,
// the program starts again without this library, and its own runtime runs it. By then the dynamic
// linker has called the constructors of most other libraries, which so run twice. (With `-z
// initfirst` it would call this library's first, but before libc knows the environment, before
// libgomp has read it, and instead of another library that asks for the same.) Objects that dlopen
// brings later are read when they open their first region; they cannot get another runtime any
// more, so a symbol that this runtime lacks ends the program.
#include "preload/openmp/takeover.hpp"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "preload/openmp/locks.hpp"
#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/second_start.hpp"

namespace tutti::openmp {
namespace {

// An address inside of this library.
constinit char here = 0;

std::string& own_file() {
  static std::string& one = *new std::string;
  return one;
}

template <std::size_t... Sizes>
bool begins_with(const char* name, const char (&... prefixes)[Sizes]) {
  return (... || (std::strncmp(name, prefixes, Sizes - 1) == 0));
}

}  // namespace

// Nearly all names are others, and the first characters tell.
bool is_of_openmp(const char* name) {
  switch (name[0]) {
    case 'G': return begins_with(name, "GOMP_", "GOACC_");
    case 'o': return begins_with(name, "omp_", "ompc_", "ompx_");
    case 'a': return begins_with(name, "acc_");
    case 'k': return begins_with(name, "kmp_", "kmpc_");
    case '_': return name[1] == '_' && name[2] == 'k' && begins_with(name, "__kmpc_");
    default: return false;
  }
}

namespace {

struct symbols {
  const ElfW(Sym) * table = nullptr;
  const char* strings = nullptr;
  // One of the two says how many symbols there are.
  const std::uint32_t* gnu_hash = nullptr;
  const std::uint32_t* hash = nullptr;
  // The number of each symbol's version, and the lists that name the versions: those that the
  // object needs of others, and those that it has.
  const ElfW(Half) * versions = nullptr;
  const ElfW(Verneed) * needed = nullptr;
  const ElfW(Verdef) * defined = nullptr;
  // The places to which the dynamic linker writes addresses, and their bytes: those of functions
  // that the object calls, and all others.
  const ElfW(Rela) * of_calls = nullptr;
  const ElfW(Rela) * of_others = nullptr;
  std::size_t bytes_of_calls = 0, bytes_of_others = 0;
};

template <class T>
const T* after(const void* from, std::size_t bytes) {
  return reinterpret_cast<const T*>(static_cast<const char*>(from) + bytes);
}

// Returns the name of a symbol's version, or an empty string.
std::string_view version_of(const symbols& all, std::size_t symbol) {
  if (all.versions == nullptr) return {};
  const unsigned wanted = all.versions[symbol] & 0x7fff;
  if (wanted <= 1) return {};
  for (const auto* n = all.needed; n != nullptr;
       n = n->vn_next != 0 ? after<ElfW(Verneed)>(n, n->vn_next) : nullptr)
    for (const auto* a = after<ElfW(Vernaux)>(n, n->vn_aux); a != nullptr;
         a = a->vna_next != 0 ? after<ElfW(Vernaux)>(a, a->vna_next) : nullptr)
      if (a->vna_other == wanted) return all.strings + a->vna_name;
  for (const auto* d = all.defined; d != nullptr;
       d = d->vd_next != 0 ? after<ElfW(Verdef)>(d, d->vd_next) : nullptr)
    if ((d->vd_ndx & 0x7fff) == wanted)
      return all.strings + after<ElfW(Verdaux)>(d, d->vd_aux)->vda_name;
  return {};
}

// Some dynamic linkers leave addresses relative to the object's base.
template <class T>
const T* at(const dl_phdr_info& object, ElfW(Addr) address) {
  return reinterpret_cast<const T*>(address < object.dlpi_addr ? address + object.dlpi_addr
                                                               : address);
}

// The section .gnu.hash has the symbols from `first` on, which are those that others may use. A
// chain has the hashes of the names of a bucket; the lowest bit of each tells whether it is the
// last one. Each name sets two bits of a filter.
struct hash_table {
  explicit hash_table(const std::uint32_t* section)
      : buckets(section[0]),
        first(section[1]),
        filter_words(section[2]),
        shift(section[3]),
        filter(reinterpret_cast<const ElfW(Addr) *>(section + 4)),
        bucket(section + 4 + section[2] * (sizeof(ElfW(Addr)) / 4)),
        chain(bucket + buckets) {}

  // False if no symbol has a name with this hash.
  bool may_have(std::uint32_t hash) const {
    constexpr std::uint32_t bits = 8 * sizeof(ElfW(Addr));
    const ElfW(Addr) word = filter[hash / bits % filter_words];
    return (word >> hash % bits & word >> (hash >> shift) % bits & 1) != 0;
  }

  std::size_t count() const {
    const std::uint32_t last = buckets == 0 ? 0 : *std::max_element(bucket, chain);
    if (last < first) return first;
    std::uint32_t i = last;
    while ((chain[i - first] & 1) == 0) ++i;
    return i + 1;
  }

  std::uint32_t buckets, first, filter_words, shift;
  const ElfW(Addr) * filter;
  const std::uint32_t* bucket;
  const std::uint32_t* chain;
};

std::size_t count_of(const symbols& all) {
  if (all.hash != nullptr) return all.hash[1];
  return all.gnu_hash != nullptr ? hash_table(all.gnu_hash).count() : 0;
}

// Returns the number of a symbol that the object defines under this name and that `is_wanted`, or
// 0. An object may define several versions of a name.
template <class Predicate>
std::size_t find_definition(const symbols& all, const char* name, Predicate is_wanted) {
  const auto is_it = [&](std::size_t i) {
    return all.table[i].st_shndx != SHN_UNDEF &&
           std::strcmp(all.strings + all.table[i].st_name, name) == 0 && is_wanted(i);
  };
  if (all.gnu_hash == nullptr) {
    for (std::size_t i = 1, end = count_of(all); i < end; ++i)
      if (is_it(i)) return i;
    return 0;
  }
  const hash_table table(all.gnu_hash);
  std::uint32_t hash = 5381;
  for (const char* c = name; *c != '\0'; ++c) hash = hash * 33 + static_cast<unsigned char>(*c);
  if (!table.may_have(hash)) return 0;
  std::size_t i = table.buckets == 0 ? 0 : table.bucket[hash % table.buckets];
  if (i == 0) return 0;
  for (;; ++i) {
    const std::uint32_t found = table.chain[i - table.first];
    if ((found | 1) == (hash | 1) && is_it(i)) return i;
    if ((found & 1) != 0) return 0;
  }
}

std::size_t find_definition(const symbols& all, const char* name) {
  return find_definition(all, name, [](std::size_t) { return true; });
}

// Calls what(place) for each place to which the dynamic linker writes an address.
template <class What>
void for_each_place(const symbols& all, What what) {
  std::for_each(all.of_calls, all.of_calls + all.bytes_of_calls / sizeof *all.of_calls, what);
  std::for_each(all.of_others, all.of_others + all.bytes_of_others / sizeof *all.of_others, what);
}

// Returns the number of symbols among which the imports are. Linkers put imports before what
// .gnu.hash has, except those whose address a program that cannot be moved takes. (A large library
// has many symbols, in pages that nobody else may need.) A .gnu.hash that has no symbols does not
// tell how many there are, so the places that need their addresses do.
std::size_t imports_end(const dl_phdr_info& object, const symbols& all) {
  if (all.gnu_hash == nullptr) return count_of(all);
  const hash_table table(all.gnu_hash);
  if (const std::size_t count = table.count(); count != table.first) {
    const bool is_program = object.dlpi_name == nullptr || *object.dlpi_name == '\0';
    return is_program ? count : table.first;
  }
  std::size_t last = 0;
  for_each_place(all, [&last](const ElfW(Rela) & place) {
    last = std::max<std::size_t>(last, ELF64_R_SYM(place.r_info));
  });
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
      if (entry->d_tag == DT_VERSYM) found.versions = at<ElfW(Half)>(object, value);
      if (entry->d_tag == DT_VERNEED) found.needed = at<ElfW(Verneed)>(object, value);
      if (entry->d_tag == DT_VERDEF) found.defined = at<ElfW(Verdef)>(object, value);
      if (entry->d_tag == DT_GNU_HASH) found.gnu_hash = at<std::uint32_t>(object, value);
      if (entry->d_tag == DT_HASH) found.hash = at<std::uint32_t>(object, value);
      if (entry->d_tag == DT_JMPREL) found.of_calls = at<ElfW(Rela)>(object, value);
      if (entry->d_tag == DT_PLTRELSZ) found.bytes_of_calls = value;
      if (entry->d_tag == DT_RELA) found.of_others = at<ElfW(Rela)>(object, value);
      if (entry->d_tag == DT_RELASZ) found.bytes_of_others = value;
    }
  }
  return found;
}

// The dynamic linker takes a symbol of the wanted version, or any if none is wanted.
bool has(const symbols& all, const char* name, std::string_view version) {
  return find_definition(all, name, [&](std::size_t i) {
           return version.empty() || version_of(all, i) == version;
         }) != 0;
}

bool opens_regions(const symbols& all) {
  return find_definition(all, "GOMP_parallel") != 0 ||
         find_definition(all, "__kmpc_fork_call") != 0;
}

// Whether the object is a runtime of OpenMP or OpenACC, or the part of LLVM's for devices.
bool is_runtime(const symbols& all) {
  return opens_regions(all) || find_definition(all, "acc_get_num_devices") != 0 ||
         find_definition(all, "__tgt_register_lib") != 0;
}

// Whether a loaded object that is no runtime defines the name: kmp_search may search a text, and
// omp_fit may be an orthogonal matching pursuit. Compilers alone write the names with capitals and
// underscores.
bool is_of_others(const char* name, std::string_view version) {
  if (name[0] == 'G' || name[0] == '_') return false;
  struct wanted {
    const char* name;
    std::string_view version;
  } one{name, version};
  return dl_iterate_phdr(
             [](dl_phdr_info* object, std::size_t, void* raw) {
               const auto& want = *static_cast<const wanted*>(raw);
               const symbols all = symbols_of(*object);
               if (all.table == nullptr || all.strings == nullptr) return 0;
               return has(all, want.name, want.version) && !is_runtime(all) ? 1 : 0;
             },
             &one) != 0;
}

struct search {
  const symbols& ours;
  std::string missing;
  // The runtime for which the programs were built.
  const char* runtime = "libgomp";
  bool any = false;
  bool has_tasks = false;
  // Whether the program itself defines a runtime. The dynamic linker then takes that one for the
  // program's libraries too.
  bool is_in_program = false;
};

symbols read_exports() {
  symbols ours;
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
        *static_cast<symbols*>(raw) = symbols_of(*object);
        return 1;
      },
      &ours);
  return ours;
}

// What this library exports.
const symbols& exports() {
  static const symbols ours = read_exports();
  return ours;
}

// How many objects have been loaded and unloaded so far.
struct object_counts {
  std::size_t loaded = 0, unloaded = 0;
};
object_counts count_objects() {
  object_counts counts;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* raw) {
        *static_cast<object_counts*>(raw) = {object->dlpi_adds, object->dlpi_subs};
        return 1;
      },
      &counts);
  return counts;
}

// What has been looked at. A look at one object takes microseconds, and a program may have hundreds
// when it opens its first region.
struct looked_at {
  object_counts counts;
  // The objects, by the address of their program headers, which no other object has until one is
  // unloaded.
  std::unordered_set<const void*> objects;
  // Whether one of them may be a tool (ompt/tool.hpp).
  bool has_tool = false;
  bool has_clang = false;
};
looked_at& past_looks() {
  static looked_at& one = *new looked_at;
  return one;
}

// Looks at the objects that have been loaded since the last call. Returns the first symbol that one
// imports and this runtime lacks. What a program defines itself (a copy of clang's runtime, say) is
// no import of ours.
search look(const symbols& ours) {
  search s{ours, {}};
  looked_at& past = past_looks();
  const object_counts now = count_objects();
  if (now.unloaded != past.counts.unloaded) past.objects.clear();
  past.counts = now;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* raw) {
        auto& result = *static_cast<search*>(raw);
        if (!past_looks().objects.insert(object->dlpi_phdr).second) return 0;
        const symbols all = symbols_of(*object);
        if (all.table == nullptr || all.strings == nullptr) return 0;
        if (find_definition(all, "ompt_start_tool") != 0) past_looks().has_tool = true;
        if (*object->dlpi_name == '\0' && opens_regions(all)) result.is_in_program = true;
        const std::size_t end = imports_end(*object, all);
        for (std::size_t i = 1; i < end; ++i) {
          const auto& symbol = all.table[i];
          if (symbol.st_shndx != SHN_UNDEF || !is_of_openmp(all.strings + symbol.st_name)) continue;
          const std::string_view name = all.strings + symbol.st_name;
          if (name == "GOMP_task" ||
              begins_with(name.data(), "GOMP_taskloop", "__kmpc_omp_task_alloc"))
            result.has_tasks = true;
          if (name.starts_with("__kmpc_")) {
            result.runtime = "libomp";
            past_looks().has_clang = true;
          }
          const std::string_view version = version_of(all, i);
          const bool is_ours = has(result.ours, name.data(), version);
          if (!is_ours && is_of_others(name.data(), version)) continue;
          result.any = true;
          if (!result.missing.empty() || ELF64_ST_BIND(symbol.st_info) == STB_WEAK || is_ours)
            continue;
          const char* const slash = std::strrchr(object->dlpi_name, '/');
          const char* file = slash != nullptr ? slash + 1 : object->dlpi_name;
          if (*file == '\0') file = "the program";
          result.missing = std::string(file) + " imports " + std::string(name);
          if (has(result.ours, name.data(), {})) result.missing += "@" + std::string(version);
          result.missing += ", which tutti does not have";
        }
        return 0;
      },
      &s);
  return s;
}

// The text as it stands between the quotes of JSON.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      result += code;
    } else {
      result += c;
    }
  }
  return result;
}

void say(const char* runtime, const std::string& reason) {
  const char* const wanted = std::getenv("TUTTI_VERBOSE");
  if (wanted == nullptr || *wanted == '\0' || std::strcmp(wanted, "0") == 0) return;
  if (std::strcmp(wanted, "json") == 0)
    std::fprintf(stderr, "{\"runtime\": \"%s\", \"reason\": \"%s\"}\n", runtime,
                 escaped(reason).c_str());
  else
    std::fprintf(stderr, "tutti: runtime %s%s%s\n", runtime, reason.empty() ? "" : ": ",
                 reason.c_str());
}

void say_once() {
  static std::atomic<bool> is_said{false};
  // relaxed: it publishes nothing.
  if (!is_said.exchange(true, relaxed)) say("tutti", "");
}

void decide(char** arguments) {
  search found = look(exports());
  if (found.has_tasks) note_tasks();
  const preloads listed = read_preloads(own_file());
  if (listed.has_own && found.missing.empty() && found.is_in_program)
    found.missing = "the program has a runtime of its own";
  if (found.missing.empty()) {
    // Only a program that has OpenMP by now is worth a line; others get theirs when they open a
    // region.
    if (found.any) say_once();
    return;
  }
  say(found.runtime, found.missing);
  if (!listed.has_own) {
    std::fprintf(stderr, "tutti: %s; link the program with %s instead\n", found.missing.c_str(),
                 found.runtime);
    _exit(127);
  }
  start_again(arguments, listed.others);
}

}  // namespace

void for_each_definition(const char* name, const char* unless, void* raw,
                         void (*found)(void* raw, const char* file, void* function)) {
  struct wanted {
    const char* name;
    const char* unless;
    void* raw;
    void (*found)(void*, const char*, void*);
  } all{name, unless, raw, found};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* given) {
        const auto& want = *static_cast<const wanted*>(given);
        const symbols s = symbols_of(*object);
        if (s.table == nullptr || s.strings == nullptr) return 0;
        const std::size_t i = find_definition(s, want.name);
        if (i == 0 || find_definition(s, want.unless) != 0) return 0;
        void* function = reinterpret_cast<void*>(object->dlpi_addr + s.table[i].st_value);
        // Such a symbol is a function that returns the function.
        if (ELF64_ST_TYPE(s.table[i].st_info) == STT_GNU_IFUNC)
          function = reinterpret_cast<void* (*)(unsigned long)>(function)(getauxval(AT_HWCAP));
        want.found(want.raw, object->dlpi_name, function);
        return 0;
      },
      &all);
}

bool imports_openmp(const dl_phdr_info& object) {
  const symbols all = symbols_of(object);
  if (all.table == nullptr || all.strings == nullptr) return false;
  const std::size_t end = imports_end(object, all);
  for (std::size_t i = 1; i < end; ++i)
    if (all.table[i].st_shndx == SHN_UNDEF && is_of_openmp(all.strings + all.table[i].st_name))
      return true;
  return false;
}

std::vector<std::uintptr_t> places_of_imports(const dl_phdr_info& object, const char* prefix) {
  std::vector<std::uintptr_t> found;
  const symbols all = symbols_of(object);
  if (all.table == nullptr || all.strings == nullptr) return found;
  for_each_place(all, [&](const ElfW(Rela) & place) {
    const auto& symbol = all.table[ELF64_R_SYM(place.r_info)];
    if (symbol.st_shndx == SHN_UNDEF &&
        std::strncmp(all.strings + symbol.st_name, prefix, std::strlen(prefix)) == 0)
      found.push_back(object.dlpi_addr + place.r_offset);
  });
  return found;
}

namespace {

// This library has a C++ library of its own, so that the program's own allocations fail as before.
// The frames of the program's C functions let no exception pass. The caller may hold a lock that
// functions which exit() calls need.
void end_without_memory() {
  constexpr std::string_view message = "\nlibgomp: Out of memory\n";
  static_cast<void>(!write(STDERR_FILENO, message.data(), message.size()));
  _exit(EXIT_FAILURE);
}

[[gnu::constructor(101)]] void load(int, char** arguments) {
  std::set_new_handler(end_without_memory);
  decide(arguments);
  watch_main();
}

}  // namespace

namespace {

constinit small_lock look_lock;

// The caller holds the lock.
void look_again() {
  const search found = look(exports());
  if (found.has_tasks) note_tasks();
  if (found.missing.empty()) return;
  std::fprintf(stderr, "tutti: %s, and %s cannot replace tutti any more\n", found.missing.c_str(),
               found.runtime);
  _exit(127);
}

}  // namespace

void lock_looks() { look_lock.lock(); }
void unlock_looks() { look_lock.unlock(); }
void reset_looks() { look_lock.reset(); }

void check_new_objects() {
  static std::size_t objects = 0;
  const locked guard(look_lock);
  const std::size_t now = count_objects().loaded;
  if (now == objects) return;
  objects = now;
  say_once();
  if (is_reproducible()) read_code();
  if (now != past_looks().counts.loaded) look_again();
}

bool has_objects_of_clang() {
  const locked guard(look_lock);
  if (count_objects().loaded != past_looks().counts.loaded) look_again();
  return past_looks().has_clang;
}

bool may_have_tool() {
  const locked guard(look_lock);
  if (count_objects().loaded != past_looks().counts.loaded) look_again();
  return past_looks().has_tool;
}

}  // namespace tutti::openmp
