// SPDX-License-Identifier: Apache-2.0
#include "hardware/driver/mapped_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <new>

#include "tutti/platform/misuse.hpp"
#include "tutti/platform/native.hpp"

namespace tutti::hardware {

mapping::mapping(const std::string& path, std::size_t bytes, std::size_t offset,
                 const std::string& needs, int flags)
    : start_(nullptr), bytes_(bytes) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | flags);
  if (file < 0) fail(path, std::string("cannot be opened: ") + std::strerror(errno));
  struct stat about {};
  // Character devices have no size; the file of a BAR has the BAR's size.
  if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
      static_cast<std::size_t>(about.st_size) < offset + bytes) {
    ::close(file);
    fail(path, "has " + std::to_string(about.st_size) + " bytes, the " + needs + " need " +
                   std::to_string(offset + bytes));
  }
  void* at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
  const int why = errno;
  ::close(file);
  if (at == MAP_FAILED) fail(path, std::string("cannot be mapped: ") + std::strerror(why));
  start_ = at;
}

mapping::~mapping() { ::munmap(start_, bytes_); }

mapped_memory::mapped_memory(const std::string& path, std::size_t bytes, std::uint64_t bus_address)
    : file_(path, bytes, 0, "lines of the participants"),
      bus_address_(bus_address),
      words_(static_cast<std::atomic<std::uint64_t>*>(file_.start())) {
  static_assert(sizeof(std::atomic<std::uint64_t>) == sizeof(std::uint64_t) &&
                std::atomic<std::uint64_t>::is_always_lock_free);
  if (bus_address % 64 != 0)
    refuse("memory at " + std::to_string(bus_address) + " does not begin a line of 64 bytes");
}

std::uint64_t bus_address_in(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!(file >> text)) fail(path, "cannot be read");
  char* end = nullptr;
  errno = 0;
  const std::uint64_t address = std::strtoull(text.c_str(), &end, 0);
  if (errno != 0 || end == text.c_str() || *end != '\0') fail(path, "has no address but: " + text);
  return address;
}

mapped_messages::mapped_messages(const std::string& path)
    : file_(path, bytes, 0, "message addresses") {}

void mapped_messages::send(unsigned address) noexcept {
  auto* line = reinterpret_cast<std::atomic<std::uint64_t>*>(static_cast<char*>(file_.start()) +
                                                             offset_of(address));
  // relaxed: only this thread writes the line; the value differs from the last, so that a platform
  // that compares sees every message.
  const std::uint64_t last = line->load(relaxed);
  // release: publishes what this thread wrote before its arrival; pairs with the platform's read of
  // the line.
  line->store(last + 1, std::memory_order_release);
}

}  // namespace tutti::hardware
