// SPDX-License-Identifier: Apache-2.0
// Unpacks gzip by zlib. Several streams one after another form one file, as in gzip itself.
#include "src/graph/read/bytes.hpp"
#include "tutti/graph/load.hpp"

#if TUTTI_HAVE_ZLIB

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

namespace tutti::graph {

namespace {

struct inflater {
  z_stream stream{};
  inflater() {
    constexpr int gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&stream, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~inflater() { inflateEnd(&stream); }
};

constexpr std::size_t at_once = std::numeric_limits<uInt>::max();

}  // namespace

std::string unpacked(std::string_view bytes, const std::string& name, std::uint64_t at_most) {
  inflater gzip;
  z_stream& stream = gzip.stream;
  std::string out;
  std::size_t filled = 0;
  const auto fail = [&](const std::string& what) { throw file_error(name, 0, what); };
  for (;;) {
    if (filled == out.size()) out.resize(std::max<std::size_t>(out.size() * 2, bytes.size() * 4));
    const auto given = static_cast<uInt>(std::min(bytes.size(), at_once));
    const auto room = static_cast<uInt>(std::min(out.size() - filled, at_once));
    stream.next_in = reinterpret_cast<z_const Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = given;
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
    stream.avail_out = room;
    const int state = inflate(&stream, Z_NO_FLUSH);
    bytes.remove_prefix(given - stream.avail_in);
    filled += room - stream.avail_out;
    if (filled > at_most) fail("unpacks to more than " + std::to_string(at_most) + " bytes");
    if (state == Z_MEM_ERROR) throw std::bad_alloc();
    if (state == Z_STREAM_END) {
      if (bytes.empty()) break;
      if (!is_compressed(bytes)) fail("has other bytes after the compressed data");
      inflateReset(&stream);
      continue;
    }
    if (state != Z_OK && state != Z_BUF_ERROR) fail("is damaged: the compressed data are invalid");
    if (bytes.empty() && stream.avail_out != 0) fail("is damaged: the compressed data end early");
  }
  out.resize(filled);
  return out;
}

}  // namespace tutti::graph

#else

namespace tutti::graph {

std::string unpacked(std::string_view, const std::string& name, std::uint64_t) {
  throw file_error(name, 0,
                   "is compressed, and this tutti was built without zlib; unpack it first");
}

}  // namespace tutti::graph

#endif
