// SPDX-License-Identifier: Apache-2.0
// READ, WRITE, FOPEN, FCLOSE, FREAD, FWRITE, FREAD_CHAR, SPAWN. One thread makes the system calls.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "vcode/io/file_table.hpp"
#include "vcode/machine/host.hpp"
#include "vcode/machine/operations.hpp"

namespace tutti::vcode {
namespace {

using std::int32_t;

int32_t number(context& c, const value& v, const char* what) {
  if (v.length() != 1) fail(fmt::format("{} has length {}, not 1", what, v.length()));
  return *elements<int32_t>(c, v);
}

std::vector<int32_t> codes(context& c, const value& v) {
  const auto* const data = elements<int32_t>(c, v);
  return {data, data + v.length()};
}

std::string text(context& c, const value& v) {
  std::string made;
  for (const int32_t code : codes(c, v)) made += static_cast<char>(code);
  return made;
}

// Uses the original's words, since programs get this text as a string.
stream_result no_stream(const step& s, int32_t number) {
  stream_result made;
  made.error = fmt::format("vinterp: line {}: illegal VCODE file descriptor for {}: {}", s.line,
                           info(s.code).name, number);
  return made;
}

// The elements of a value of any kind, as they are printed.
struct printed {
  kind type;
  const void* data;
  std::size_t count;
};
printed to_print(context& c, kind type, const value& v) {
  if (type == kind::segdes && !v.is_scalar()) {
    const value lengths(v.vector()->lengths);
    return {type, elements<void>(c, lengths), static_cast<std::size_t>(v.length())};
  }
  return {type, elements<void>(c, v), static_cast<std::size_t>(v.length())};
}

template <class Act>
stream_result with_stream(context& c, const step& s, int32_t number, Act&& act) {
  std::FILE* const stream = c.files.find(number);
  return stream == nullptr ? no_stream(s, number) : act(stream);
}

// Calls read(largest) with the number of elements that a vector of this kind can have now, and
// fails if the input has more.
template <class Read>
stream_result read_limited(context& c, kind type, Read&& read) {
  // Small parts may come from free ones of their size, which room() does not count.
  constexpr std::size_t always_tried = std::size_t{1} << 16;
  allocator& memory = c.memory.memory();
  const std::size_t fitting = std::max(memory.room(), always_tried) / size_of(type);
  const std::size_t largest = std::min<std::size_t>(fitting, INT32_MAX);
  stream_result made = read(largest);
  if (!made.is_too_long) return made;
  if (largest < fitting) fail("a vector has more elements than an INT can count");
  fail(fmt::format("the memory for vectors, {} bytes, is full: the input has more than {} elements",
                   memory.limit(), largest));
}

stream_result perform(context& c, const step& s, const value* v) {
  switch (s.code) {
    case opcode::read:
    case opcode::read_file: {
      const int32_t from = s.code == opcode::read ? 0 : number(c, v[0], "the stream");
      return with_stream(c, s, from, [&](std::FILE* stream) {
        return read_limited(c, s.type, [&](std::size_t largest) {
          return file_table::read(stream, s.type, largest);
        });
      });
    }
    case opcode::write:
    case opcode::write_file: {
      const int32_t to = s.code == opcode::write ? 2 : number(c, v[1], "the stream");
      const printed p = to_print(c, s.type, v[0]);
      return with_stream(c, s, to, [&](std::FILE* stream) {
        return file_table::write(stream, p.type, p.data, p.count);
      });
    }
    case opcode::open: return c.files.open(text(c, v[0]), number(c, v[1], "the mode"));
    case opcode::close: {
      const int32_t which = number(c, v[0], "the stream");
      return with_stream(c, s, which, [&](std::FILE*) { return c.files.close(which); });
    }
    case opcode::read_characters: {
      const int32_t most = number(c, v[1], "the largest count");
      const std::vector<int32_t> delimiters = codes(c, v[0]);
      return with_stream(c, s, number(c, v[2], "the stream"), [&](std::FILE* stream) {
        return read_limited(c, kind::character, [&](std::size_t largest) {
          return file_table::read_characters(stream, delimiters, most, largest);
        });
      });
    }
    default: {
      // -1 asks for a pipe; every other number is that of a stream.
      int32_t streams[3];
      for (unsigned i = 0; i < 3; ++i) {
        streams[i] = number(c, v[i + 1], "the stream");
        if (streams[i] != -1 && c.files.find(streams[i]) == nullptr)
          return no_stream(s, streams[i]);
      }
      return c.files.spawn(text(c, v[0]), streams);
    }
  }
}

value read_value(context& c, kind type, const stream_result& r) {
  switch (type) {
    case kind::real: return to_machine(c, kind::real, r.reals.data(), r.reals.size());
    case kind::boolean: return to_machine(c, kind::boolean, r.booleans.data(), r.booleans.size());
    case kind::segdes:
      return make_segdes(c, to_machine(c, kind::integer, r.integers.data(), r.integers.size()));
    default: return to_machine(c, kind::integer, r.integers.data(), r.integers.size());
  }
}

}  // namespace

void run_stream(context& c, const step& s, value* v) {
  for (unsigned i = 0; i < s.operands; ++i) force(c, v[i]);
  c.workers.once([&] { c.files.last = perform(c, s, v); });
  for (unsigned i = 0; i < s.operands; ++i) c.memory.release(v[i]);
  const stream_result& r = c.files.last;

  const bool ok = r.error.empty();
  value* to = v;
  switch (s.code) {
    case opcode::read:
    case opcode::read_file: *to++ = read_value(c, s.type, ok ? r : stream_result()); break;
    case opcode::open: *to++ = value::of(r.number[0]); break;
    case opcode::read_characters:
      *to++ = read_value(c, kind::integer, r);
      *to++ = value::of(r.number[0]);
      break;
    case opcode::spawn:
      for (int i = 2; i >= 0; --i) *to++ = value::of(r.number[i]);
      break;
    default: break;
  }
  std::vector<int32_t> message;
  for (const char each : r.error) message.push_back(static_cast<signed char>(each));
  *to++ = to_machine(c, kind::integer, message.data(), message.size());
  *to = value::of(ok);
  // The next stream instruction overwrites the result, so wait until all threads have read it.
  c.workers.meet();
}

}  // namespace tutti::vcode
