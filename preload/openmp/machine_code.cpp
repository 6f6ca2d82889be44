// SPDX-License-Identifier: Apache-2.0
// Finds loops with compare-and-swap that update a floating-point variable, in the machine code of
// the program and of its libraries. The tables for exceptions tell where functions begin and end.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <unordered_set>

#include "preload/openmp/reproducible.hpp"
#include "preload/openmp/takeover.hpp"

namespace tutti::openmp {
namespace {

using address = std::uintptr_t;

struct function_range {
  address begin = 0, end = 0;
};

struct object_code {
  // The region functions with such a loop, by their addresses.
  std::unordered_set<address> regions;
  // Where the object is, if another function has one: then any of its regions may call it.
  std::vector<function_range> whole_objects;
  std::unordered_set<address> seen_objects;
};
object_code& found() {
  static object_code& one = *new object_code;
  return one;
}

template <class T>
T read(address at) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
  return value;
}

// The functions of an object, from the search table of its exception tables. Compilers write it
// with offsets of 32 bits; other encodings give none.
std::vector<function_range> functions_of(address header) {
  std::vector<function_range> all;
  constexpr unsigned char offset_from_header = 0x3b, count_of_4_bytes = 0x03, own_offset = 0x1b;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(header);
  if (bytes[0] != 1 || bytes[1] != own_offset || bytes[2] != count_of_4_bytes ||
      bytes[3] != offset_from_header)
    return all;
  const auto count = read<std::uint32_t>(header + 8);
  for (std::uint32_t i = 0; i < count; ++i) {
    const address row = header + 12 + std::uint64_t{i} * 8;
    const address begin = header + static_cast<address>(read<std::int32_t>(row));
    const address entry = header + static_cast<address>(read<std::int32_t>(row + 4));
    all.push_back({begin, begin + read<std::uint32_t>(entry + 12)});
  }
  return all;
}

#if defined(__x86_64__)

// Whether an addition, subtraction, multiplication or division of floating-point values ends here.
bool is_arithmetic(const unsigned char* code) {
  const unsigned char operation = code[2];
  const bool is_wanted =
      operation == 0x58 || operation == 0x59 || operation == 0x5c || operation == 0x5e;
  if (!is_wanted) return false;
  // F2 0F 58 and F3 0F 58, or with two bytes of VEX before the operation.
  return (code[1] == 0x0f && (code[0] == 0xf2 || code[0] == 0xf3 || (code[0] & 0xf0) == 0x40)) ||
         code[0] == 0xc5;
}

bool has_exchange_loop(const function_range& f) {
  const auto* const code = reinterpret_cast<const unsigned char*>(f.begin);
  const std::size_t size = f.end - f.begin;
  for (std::size_t i = 0; i + 4 < size; ++i) {
    if (code[i] != 0xf0) continue;
    const std::size_t at = (code[i + 1] & 0xf0) == 0x40 ? i + 2 : i + 1;
    if (code[at] != 0x0f || code[at + 1] != 0xb1) continue;
    // The new value is computed just before it is exchanged.
    const std::size_t from = i > 64 ? i - 64 : 0;
    for (std::size_t k = from; k + 3 <= i; ++k)
      if (is_arithmetic(code + k)) return true;
  }
  return false;
}

// The addresses that the code of a function takes: those of regions' functions are among them.
void add_taken_addresses(const function_range& f, std::unordered_set<address>& taken) {
  const auto* const code = reinterpret_cast<const unsigned char*>(f.begin);
  for (address i = f.begin; i + 7 <= f.end; ++i) {
    const unsigned char* const c = code + (i - f.begin);
    if ((c[0] & 0xfb) == 0x48 && c[1] == 0x8d && (c[2] & 0xc7) == 0x05)
      taken.insert(i + 7 + static_cast<address>(read<std::int32_t>(i + 3)));
    // A position-dependent program moves the address, of 32 bits.
    if (c[0] >= 0xb8 && c[0] <= 0xbf) taken.insert(read<std::uint32_t>(i + 1));
  }
}

#else

bool has_exchange_loop(const function_range&) { return false; }
void add_taken_addresses(const function_range&, std::unordered_set<address>&) {}

#endif

void name(const function_range& f, const char* file, bool is_region) {
  Dl_info where{};
  const char* symbol = nullptr;
  address offset = f.begin;
  if (dladdr(reinterpret_cast<const void*>(f.begin), &where) != 0) {
    symbol = reinterpret_cast<address>(where.dli_saddr) == f.begin ? where.dli_sname : nullptr;
    offset = f.begin - reinterpret_cast<address>(where.dli_fbase);
  }
  char at[32];
  std::snprintf(at, sizeof at, "+0x%lx", static_cast<unsigned long>(offset));
  std::fprintf(
      stderr,
      "tutti: %s%s%s updates a floating-point variable in a way that no runtime can order; "
      "the ranks of %s run one after the other\n",
      file, symbol != nullptr ? ":" : "", symbol != nullptr ? symbol : at,
      is_region ? "its region" : "all regions of this file");
}

void read_object(const dl_phdr_info& object, address header, const function_range& range) {
  const std::vector<function_range> all = functions_of(header);
  std::vector<function_range> with_loop;
  for (const function_range& f : all)
    if (has_exchange_loop(f)) with_loop.push_back(f);
  if (with_loop.empty()) return;
  std::unordered_set<address> taken;
  for (const function_range& f : all) add_taken_addresses(f, taken);
  const char* const slash = std::strrchr(object.dlpi_name, '/');
  const char* file = slash != nullptr ? slash + 1 : object.dlpi_name;
  if (*file == '\0') file = "the program";
  for (const function_range& f : with_loop) {
    const bool is_region = taken.count(f.begin) != 0;
    if (is_region)
      found().regions.insert(f.begin);
    else
      found().whole_objects.push_back(range);
    name(f, file, is_region);
  }
}

}  // namespace

void read_code() {
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void*) {
        address header = 0;
        function_range range{UINTPTR_MAX, 0};
        for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
          const auto& s = object->dlpi_phdr[i];
          const address at = object->dlpi_addr + s.p_vaddr;
          if (s.p_type == PT_GNU_EH_FRAME) header = at;
          if (s.p_type != PT_LOAD) continue;
          range.begin = std::min(range.begin, at);
          range.end = std::max(range.end, at + s.p_memsz);
        }
        if (header == 0 || !imports_openmp(*object)) return 0;
        if (!found().seen_objects.insert(header).second) return 0;
        read_object(*object, header, range);
        return 0;
      },
      nullptr);
}

bool runs_serially(region_function function) {
  const auto at = reinterpret_cast<address>(function);
  // Another thread may read an object that was loaded meanwhile.
  lock_looks();
  const auto& objects = found().whole_objects;
  const bool serially = found().regions.count(at) != 0 ||
                        std::any_of(objects.begin(), objects.end(), [at](const function_range& o) {
                          return at >= o.begin && at < o.end;
                        });
  unlock_looks();
  return serially;
}

}  // namespace tutti::openmp
