// SPDX-License-Identifier: Apache-2.0
#include "src/shared/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "src/shared/segment.hpp"

namespace tutti::detail::shared {

namespace {
constexpr const char* folder = "/dev/shm";
}

std::string path_of(std::string_view name) {
  std::string_view plain = name;
  if (!plain.empty() && plain.front() == '/') plain.remove_prefix(1);
  if (plain.empty() || plain.size() > 200 || plain == "." || plain == ".." ||
      plain.find('/') != std::string_view::npos || plain.find('\0') != std::string_view::npos)
    refuse(
        "the name of a barrier between processes takes 1 to 200 characters without '/', before "
        "which one '/' may stand: not '" +
        std::string(name) + "'");
  return std::string(folder) + '/' + std::string(plain);
}

std::optional<mapping> create_file(std::string_view name, rank_t participants,
                                   const shared_barrier_options& options) {
  const std::string what = text_of(name), path = path_of(name);
  const std::size_t bytes = segment::bytes_for(participants);
  const descriptor file(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, options.mode));
  if (!file) fail_by_system("creating " + what + " in " + folder);
  if (fchmod(file.number(), options.mode) != 0) fail_by_system("creating " + what);
  // Memory that is missing is told now, and not by SIGBUS.
  if (const int error = posix_fallocate(file.number(), 0, static_cast<off_t>(bytes))) {
    errno = error;
    fail_by_system("creating " + what);
  }
  mapping made(file.number(), bytes, what);
  segment(made.base(), participants).build(options.patience);
  const std::string self = "/proc/self/fd/" + std::to_string(file.number());
  if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) return made;
  if (errno != EEXIST) fail_by_system("creating " + what);
  return {};
}

int open_file(const std::string& path) {
  return open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

mapping map_file(const descriptor& file, rank_t participants, const std::string& what) {
  struct stat is {};
  if (fstat(file.number(), &is) != 0) fail_by_system("looking at " + what);
  const auto bytes = static_cast<std::size_t>(is.st_size);
  if (bytes < sizeof(header)) fail(reason::other_kind, what + " is no barrier of tutti");
  mapping mapped(file.number(), bytes, what);
  check(mapped.base(), bytes, participants, what);
  return mapped;
}

void unlink_file(const descriptor& file, const std::string& path) {
  flock(file.number(), LOCK_EX);
  struct stat mine {
  }, named{};
  if (fstat(file.number(), &mine) == 0 && ::stat(path.c_str(), &named) == 0 &&
      mine.st_ino == named.st_ino && mine.st_dev == named.st_dev)
    ::unlink(path.c_str());
  flock(file.number(), LOCK_UN);
}

}  // namespace tutti::detail::shared
