// SPDX-License-Identifier: Apache-2.0
// Finds loops with compare-and-swap that update a floating-point variable, in the machine code of
// the program and of its libraries. The tables for exceptions tell where functions begin and end;
// code of which they do not tell is searched as well.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
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
  // Where the program headers of those objects are that have been read.
  std::unordered_set<const void*> seen_objects;
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

// What the process may read, in the order of the addresses: the program may have taken away the
// right to read some of its code. Nothing if the system does not tell.
std::vector<function_range> readable_ranges() {
  std::vector<function_range> all;
  std::ifstream in("/proc/self/maps");
  for (std::string line; std::getline(in, line);) {
    unsigned long begin = 0, end = 0;
    char rights = '-';
    if (std::sscanf(line.c_str(), "%lx-%lx %c", &begin, &end, &rights) != 3 || rights != 'r')
      continue;
    if (!all.empty() && all.back().end == begin)
      all.back().end = end;
    else
      all.push_back({begin, end});
  }
  return all;
}

// The parts of the code that can be read.
std::vector<function_range> common_parts(const std::vector<function_range>& code,
                                         const std::vector<function_range>& readable) {
  if (readable.empty()) return code;
  std::vector<function_range> parts;
  for (const function_range& segment : code)
    for (const function_range& each : readable) {
      const address begin = std::max(segment.begin, each.begin);
      const address end = std::min(segment.end, each.end);
      if (begin < end) parts.push_back({begin, end});
    }
  return parts;
}

// The functions of an object in the order of their addresses, from the search table of its
// exception tables. Compilers write it with offsets of 32 bits; other encodings, or no table, give
// none.
std::vector<function_range> functions_of(address header) {
  std::vector<function_range> all;
  if (header == 0) return all;
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
  std::sort(all.begin(), all.end(),
            [](const function_range& a, const function_range& b) { return a.begin < b.begin; });
  return all;
}

// The parts of the code that are in none of the functions, which lie in the order of their
// addresses. Cuts functions off where their code, or the next function, shows that they end.
std::vector<function_range> cut(std::vector<function_range>& functions,
                                const std::vector<function_range>& code) {
  std::vector<function_range> rest;
  std::size_t i = 0;
  for (const function_range& segment : code) {
    address at = segment.begin;
    for (; i < functions.size() && functions[i].begin < segment.end; ++i) {
      function_range& f = functions[i];
      if (f.begin < segment.begin) f.end = f.begin;
      f.end = std::min(f.end, segment.end);
      if (i + 1 < functions.size()) f.end = std::min(f.end, functions[i + 1].begin);
      if (f.end <= f.begin) continue;
      if (at < f.begin) rest.push_back({at, f.begin});
      at = f.end;
    }
    if (at < segment.end) rest.push_back({at, segment.end});
  }
  functions.resize(i);
  return rest;
}

#if defined(__x86_64__)

// Whether an addition, subtraction, multiplication or division of floating-point values ends here.
// Reads at most five bytes.
bool is_arithmetic(const unsigned char* code) {
  const auto is_operation = [](unsigned char c) {
    return c == 0x58 || c == 0x59 || c == 0x5c || c == 0x5e;
  };
  // A multiplication with an addition is in the second map of operations.
  const auto is_of_map = [&](unsigned map, unsigned char c) {
    return map == 1 ? is_operation(c)
                    : map == 2 && (c & 0xf) >= 6 && (c >> 4) >= 0x9 && (c >> 4) <= 0xb;
  };
  // 0F 58, before which F2, F3 and 66 tell the type, or with two, three or four bytes of VEX and
  // EVEX before the operation.
  if (code[0] == 0x0f) return is_operation(code[1]);
  if (code[0] == 0xc5) return is_operation(code[2]);
  if (code[0] == 0xc4) return is_of_map(code[1] & 0x1f, code[3]);
  return code[0] == 0x62 && (code[2] & 4) != 0 && is_of_map(code[1] & 0xf, code[4]);
}

// Whether such an operation of the x87 unit begins here, and a store of its result to memory soon
// after it: these codes alone are too short to tell.
bool is_x87_arithmetic(const unsigned char* code, const unsigned char* end) {
  // Two operations of each code compare.
  const unsigned operation = code[1] >> 3 & 7;
  if ((code[0] != 0xd8 && code[0] != 0xdc && code[0] != 0xde) || (operation | 1) == 3) return false;
  constexpr std::ptrdiff_t soon = 16;
  for (const unsigned char* c = code + 2; c + 1 < end && c - code <= soon; ++c) {
    const bool is_store =
        (c[1] >> 3 & 6) == 2 ? c[0] == 0xd9 || c[0] == 0xdd : (c[1] >> 3 & 7) == 7 && c[0] == 0xdb;
    if (is_store && c[1] < 0xc0) return true;
  }
  return false;
}

// Whether the value of a floating-point register goes to an integer register, as it is or rounded,
// or to the stack, here: an exchange takes it from there. Reads at most seven bytes.
bool is_move_out(const unsigned char* code) {
  // The operation, and whether 66, or what VEX and EVEX have in its place, tells its type.
  const auto moves = [](const unsigned char* c, bool has_66) {
    if (c[0] == 0x7e) return has_66;
    if (c[0] == 0x2c || c[0] == 0x2d) return true;
    const bool is_store = c[0] == 0x11 || c[0] == 0x13 || c[0] == 0x17 || c[0] == 0x29 ||
                          c[0] == 0x7f || c[0] == 0xd6;
    const unsigned mode = c[1] >> 6, base = c[1] & 7;
    const bool is_on_stack = (base == 4 && (c[2] & 7) == 4) || (base == 5 && mode != 0);
    return is_store && mode != 3 && is_on_stack;
  };
  const unsigned char* const after_prefix = code + ((code[1] & 0xf0) == 0x40 ? 2 : 1);
  switch (code[0]) {
    case 0x0f: return moves(code + 1, false);
    case 0x66: return after_prefix[0] == 0x0f && moves(after_prefix + 1, true);
    case 0xc5: return moves(code + 2, (code[1] & 3) == 1);
    case 0xc4: return moves(code + 3, (code[2] & 3) == 1);
    case 0x62: return moves(code + 4, (code[2] & 3) == 1);
    default: return false;
  }
}

// Calls of libatomic's compare-and-swap, which compilers use for 16 bytes: through the places of
// its address, or through the jumps of the linker.
struct atomic_calls {
  std::unordered_set<address> places, jumps;

  bool begins_at(const unsigned char* code) const {
    const auto at = reinterpret_cast<address>(code);
    if (code[0] == 0xe8)
      return jumps.count(at + 5 + static_cast<address>(read<std::int32_t>(at + 1))) != 0;
    return code[0] == 0xff && code[1] == 0x15 && places.count(target_of(at)) != 0;
  }

  // What an instruction of six bytes names, by its distance.
  static address target_of(address at) {
    return at + 6 + static_cast<address>(read<std::int32_t>(at + 2));
  }
};

atomic_calls find_atomic_calls(const dl_phdr_info& object,
                               const std::vector<function_range>& code) {
  atomic_calls calls;
  for (const address each : places_of_imports(object, "__atomic_compare_exchange"))
    calls.places.insert(each);
  if (calls.places.empty()) return calls;
  for (const function_range& part : code)
    for (address i = part.begin; i + 6 <= part.end; ++i) {
      if (read<std::uint16_t>(i) != 0x25ff || calls.places.count(calls.target_of(i)) == 0) continue;
      // F3 0F 1E FA, F2 or both may come before.
      for (const address before : {0ul, 1ul, 4ul, 5ul}) calls.jumps.insert(i - before);
    }
  return calls;
}

// Whether a compare-and-swap begins here: F0 0F B1, or F0 0F C7 for 8 and 16 bytes.
bool is_exchange(const unsigned char* code) {
  if (code[0] != 0xf0) return false;
  const unsigned char* const c = code + ((code[1] & 0xf0) == 0x40 ? 2 : 1);
  return c[0] == 0x0f && (c[1] == 0xb1 || (c[1] == 0xc7 && (c[2] >> 3 & 7) == 1 && c[2] < 0xc0));
}

// Returns where a jump leads that may be here, by its distance from the beginning of the code, or a
// number that no code has. `is_any` allows conditions other than equality. Reads at most six bytes.
std::size_t jump_target(const unsigned char* code, std::size_t at, bool is_any) {
  const unsigned char* const c = code + at;
  const auto here = reinterpret_cast<address>(c);
  const unsigned condition = is_any ? 0xf0 : 0xfe;
  if ((c[0] & condition) == (0x74 & condition) || c[0] == 0xeb)
    return at + 2 + static_cast<std::size_t>(read<std::int8_t>(here + 1));
  if (c[0] == 0x0f && (c[1] & condition) == (0x84 & condition))
    return at + 6 + static_cast<std::size_t>(read<std::int32_t>(here + 2));
  if (c[0] == 0xe9) return at + 5 + static_cast<std::size_t>(read<std::int32_t>(here + 1));
  return SIZE_MAX;
}

// Returns where the loop of an exchange begins: a jump back, soon after the exchange, tells. A `je`
// that follows at once leaves the loop. Returns `exchange` if there is no such jump.
std::size_t loop_begin(const unsigned char* code, std::size_t size, std::size_t exchange) {
  constexpr std::size_t at_once = 12, soon = 64, longest = 256;
  for (std::size_t i = exchange + 4; i + 6 <= size && i < exchange + soon; ++i) {
    const bool is_equal = code[i] == 0x74 || (code[i] == 0x0f && code[i + 1] == 0x84);
    if (is_equal && i < exchange + at_once) return exchange;
    const std::size_t target = jump_target(code, i, false);
    if (target <= exchange && exchange - target <= longest) return target;
  }
  return exchange;
}

// Whether the code from `begin` to `end` computes a value and then moves it to where an exchange
// takes it from. `has_result` tells whether it is computed already.
bool makes_result(const unsigned char* code, std::size_t begin, std::size_t end, bool has_result) {
  for (std::size_t k = begin; k + 3 <= end; ++k) {
    if (is_x87_arithmetic(code + k, code + end) || (has_result && is_move_out(code + k)))
      return true;
    has_result = has_result || is_arithmetic(code + k);
  }
  return false;
}

// The same for a loop whose arithmetic comes after the exchange, and which jumps back to the move.
bool makes_result_after(const unsigned char* code, std::size_t size, std::size_t exchange) {
  constexpr std::size_t soon = 128, near = 64;
  bool has_result = false;
  for (std::size_t i = exchange + 4; i + 6 <= size && i < exchange + soon; ++i) {
    has_result = has_result || is_arithmetic(code + i);
    const std::size_t target = has_result ? jump_target(code, i, true) : SIZE_MAX;
    if (target <= exchange && exchange - target <= near &&
        makes_result(code, target, exchange, true))
      return true;
  }
  return false;
}

// Returns where a loop's exchange is, or 0.
address find_exchange_loop(const function_range& f, const atomic_calls& calls) {
  const auto* const code = reinterpret_cast<const unsigned char*>(f.begin);
  const std::size_t size = f.end - f.begin;
  for (std::size_t i = 0; i + 6 <= size; ++i) {
    if (!is_exchange(code + i) && !calls.begins_at(code + i)) continue;
    // The new value is computed, and moved, in the loop or just before it is exchanged.
    const std::size_t from = std::min(loop_begin(code, size, i), i > 64 ? i - 64 : 0);
    if (makes_result(code, from, i, false) || makes_result_after(code, size, i)) return f.begin + i;
  }
  return 0;
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

struct atomic_calls {};
atomic_calls find_atomic_calls(const dl_phdr_info&, const std::vector<function_range>&) {
  return {};
}
address find_exchange_loop(const function_range&, const atomic_calls&) { return 0; }
void add_taken_addresses(const function_range&, std::unordered_set<address>&) {}

#endif

void name(address code, const char* file, bool is_region) {
  Dl_info where{};
  const char* symbol = nullptr;
  address offset = code;
  if (dladdr(reinterpret_cast<const void*>(code), &where) != 0) {
    symbol = reinterpret_cast<address>(where.dli_saddr) == code ? where.dli_sname : nullptr;
    offset = code - reinterpret_cast<address>(where.dli_fbase);
  }
  char at[32];
  std::snprintf(at, sizeof at, "+0x%lx", static_cast<unsigned long>(offset));
  const std::string place =
      std::string(file) + (symbol != nullptr ? ":" : "") + (symbol != nullptr ? symbol : at);
  // An object is read again when another one has gone.
  static std::unordered_set<std::string>& named = *new std::unordered_set<std::string>;
  if (!named.insert(place).second) return;
  std::fprintf(stderr,
               "tutti: %s may update a floating-point variable in a way that no runtime can order; "
               "the ranks of %s run one after the other\n",
               place.c_str(), is_region ? "its region" : "all regions of this file");
}

void read_object(const dl_phdr_info& object, address header, const function_range& range,
                 const std::vector<function_range>& code) {
  std::vector<function_range> all = functions_of(header);
  const std::vector<function_range> rest = cut(all, code);
  const atomic_calls calls = find_atomic_calls(object, code);
  const char* const slash = std::strrchr(object.dlpi_name, '/');
  const char* file = slash != nullptr ? slash + 1 : object.dlpi_name;
  if (*file == '\0') file = "the program";
  std::vector<function_range> with_loop;
  for (const function_range& f : all)
    if (find_exchange_loop(f, calls) != 0) with_loop.push_back(f);
  std::unordered_set<address> taken;
  if (!with_loop.empty())
    for (const function_range& f : all) add_taken_addresses(f, taken);
  for (const function_range& f : with_loop) {
    const bool is_region = taken.count(f.begin) != 0;
    if (is_region)
      found().regions.insert(f.begin);
    else
      found().whole_objects.push_back(range);
    name(f.begin, file, is_region);
  }
  for (const function_range& part : rest) {
    const address exchange = find_exchange_loop(part, calls);
    if (exchange == 0) continue;
    found().whole_objects.push_back(range);
    name(exchange, file, false);
  }
}

}  // namespace

void read_code() {
  // Another object may have come where one has gone.
  static unsigned long long unloaded = 0;
  std::optional<std::vector<function_range>> readable;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* raw) {
        if (object->dlpi_subs != unloaded) found() = {};
        unloaded = object->dlpi_subs;
        address header = 0;
        function_range range{UINTPTR_MAX, 0};
        std::vector<function_range> code;
        for (unsigned i = 0; i < object->dlpi_phnum; ++i) {
          const auto& s = object->dlpi_phdr[i];
          const address at = object->dlpi_addr + s.p_vaddr;
          if (s.p_type == PT_GNU_EH_FRAME) header = at;
          if (s.p_type != PT_LOAD) continue;
          range.begin = std::min(range.begin, at);
          range.end = std::max(range.end, at + s.p_memsz);
          if ((s.p_flags & PF_X) != 0 && (s.p_flags & PF_R) != 0)
            code.push_back({at, at + s.p_filesz});
        }
        if (!imports_openmp(*object) || !found().seen_objects.insert(object->dlpi_phdr).second)
          return 0;
        // Here no other thread loads an object.
        auto& rights = *static_cast<std::optional<std::vector<function_range>>*>(raw);
        if (!rights) rights = readable_ranges();
        read_object(*object, header, range, common_parts(code, *rights));
        return 0;
      },
      &readable);
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
