// SPDX-License-Identifier: Apache-2.0
#include "src/shared/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "src/shared/segment.hpp"
#include "src/shared/this_process.hpp"

namespace tutti::detail::shared {

namespace {

constexpr const char* folder = "/dev/shm";

// The files that this process has mapped. It is never destroyed, because objects with static
// lifetime use it.
class table_of_files {
 public:
  using key = std::pair<dev_t, ino_t>;  // device and number

  // Returns the mapping of the file, or the result of map() if there is none. A mapping keeps the
  // file's number in use, so an entry that is alive means this file.
  template <class Map>
  std::shared_ptr<void> find_or(key file, Map map) {
    const auto before = lock_.lock();
    const std::lock_guard guard(lock_, std::adopt_lock);
    auto& files = whole_contents(before).files;
    std::erase_if(files, [](const auto& entry) { return entry.second.expired(); });
    if (const auto known = files.find(file); known != files.end())
      if (auto pages = known->second.lock()) return pages;
    const auto pages = map();
    files[file] = pages;
    return pages;
  }
  void keep(const std::shared_ptr<void>& pages) {
    const auto before = lock_.lock();
    const std::lock_guard guard(lock_, std::adopt_lock);
    whole_contents(before).kept.push_back(pages);
  }

 private:
  struct contents {
    std::map<key, std::weak_ptr<void>> files;
    std::vector<std::shared_ptr<void>> kept;
    // What the parent was changing when it forked. LeakSanitizer finds it here.
    const contents* of_parent = nullptr;
  };
  contents& whole_contents(inherited_lock::was before) {
    if (before == inherited_lock::was::held_in_parent || contents_ == nullptr) {
      const contents* const of_parent = std::exchange(contents_, nullptr);
      contents_ = new contents{.files = {}, .kept = {}, .of_parent = of_parent};
    }
    return *contents_;
  }

  inherited_lock lock_;
  contents* contents_ = nullptr;
};
constinit table_of_files table;

}  // namespace

mapping::mapping(const descriptor& file, std::size_t bytes, const std::string& what) {
  struct stat is {};
  if (fstat(file.number(), &is) != 0) fail_by_system("looking at " + what);
  pages_ = table.find_or({is.st_dev, is.st_ino}, [&] {
    void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
    if (base == MAP_FAILED) fail_by_system("mapping " + what);
    return std::shared_ptr<void>(base, [bytes](void* pages) { munmap(pages, bytes); });
  });
}

void mapping::keep() {
  if (pages_ != nullptr) table.keep(pages_);
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
  mapping made(file, bytes, what);
  segment(made.base(), participants).build(options.patience);
  const std::string self = "/proc/self/fd/" + std::to_string(file.number());
  if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) return made;
  if (errno != EEXIST) fail_by_system("creating " + what);
  return {};
}

int open_file(const std::string& path) {
  return open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

mapping map_file(const descriptor& file, const std::string& what) {
  struct stat is {};
  if (fstat(file.number(), &is) != 0) fail_by_system("looking at " + what);
  const auto bytes = static_cast<std::size_t>(is.st_size);
  if (bytes < sizeof(header)) fail(reason::other_kind, what + " is no barrier of tutti");
  mapping mapped(file, bytes, what);
  check(mapped.base(), bytes, what);
  return mapped;
}

void unlink_file(const descriptor& file, const std::string& path, const std::string& what) {
  flock(file.number(), LOCK_EX);
  struct stat mine {
  }, named{};
  bool is_done = fstat(file.number(), &mine) == 0;
  if (is_done && ::stat(path.c_str(), &named) != 0)
    is_done = errno == ENOENT;
  else if (is_done && mine.st_ino == named.st_ino && mine.st_dev == named.st_dev)
    is_done = ::unlink(path.c_str()) == 0 || errno == ENOENT;
  const int error = errno;
  flock(file.number(), LOCK_UN);
  errno = error;
  if (!is_done) fail_by_system("removing " + what + ", which is stale");
}

}  // namespace tutti::detail::shared
