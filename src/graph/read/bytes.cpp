// SPDX-License-Identifier: Apache-2.0
// Maps files into memory, and reads files that cannot be mapped.
#include "src/graph/read/bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tutti/graph/load.hpp"

namespace tutti::graph {

namespace {

[[noreturn]] void fail(const std::string& path, const char* doing, int error) {
  throw file_error(path, 0, std::string(doing) + ": " + std::generic_category().message(error));
}

struct descriptor {
  int number;
  ~descriptor() {
    if (number >= 0) close(number);
  }
};

std::string read_all(int file, const std::string& path, std::uint64_t at_most) {
  constexpr std::size_t step = std::size_t{1} << 20;
  std::string bytes;
  for (std::size_t filled = 0;;) {
    if (bytes.size() - filled < step) bytes.resize(bytes.size() + bytes.size() / 2 + step);
    const ssize_t n = read(file, bytes.data() + filled, bytes.size() - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "cannot be read", errno);
    if (n == 0) {
      bytes.resize(filled);
      return bytes;
    }
    filled += static_cast<std::size_t>(n);
    if (filled > at_most)
      throw file_error(path, 0, "holds more than " + std::to_string(at_most) + " bytes");
  }
}

}  // namespace

file_bytes::file_bytes(const std::string& path, std::uint64_t at_most) {
  const descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.number < 0) fail(path, "cannot be opened", errno);
  struct stat status;
  if (fstat(file.number, &status) != 0) fail(path, "cannot be read", errno);
  if (S_ISDIR(status.st_mode)) throw file_error(path, 0, "is a folder, not a graph");
  // /dev/zero has no end, and a terminal holds no graph.
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
    throw file_error(path, 0, "is a device, not a graph");
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    // Files in /proc claim to be empty.
    read_ = read_all(file.number, path, at_most);
    return;
  }
  size_ = static_cast<std::size_t>(status.st_size);
  mapped_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    read_ = read_all(file.number, path, at_most);
    return;
  }
  madvise(mapped_, size_, MADV_SEQUENTIAL);
}

file_bytes::~file_bytes() {
  if (mapped_ != nullptr) munmap(mapped_, size_);
}

void file_bytes::forget_before(const char* at) const noexcept {
  constexpr std::size_t stride = std::size_t{1} << 22;
  if (mapped_ == nullptr) return;
  const std::size_t end = static_cast<std::size_t>(at - static_cast<const char*>(mapped_));
  // The reader has begun again.
  if (end < forgotten_) forgotten_ = 0;
  if (end - forgotten_ < stride) return;
  const std::size_t pages = (end - forgotten_) / stride * stride;
  // A page that stays costs memory and nothing else, so the result does not matter.
  madvise(static_cast<char*>(mapped_) + forgotten_, pages, MADV_DONTNEED);
  forgotten_ += pages;
}

bool is_compressed(std::string_view bytes) noexcept { return bytes.starts_with("\x1f\x8b"); }

}  // namespace tutti::graph
