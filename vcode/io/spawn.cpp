// SPDX-License-Identifier: Apache-2.0
// SPAWN: starts another program with given streams or new pipes.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <vector>

#include "vcode/io/file_table.hpp"

extern char** environ;

namespace tutti::vcode {
namespace {

std::vector<std::string> words(const std::string& command) {
  std::istringstream text(command);
  std::vector<std::string> result;
  for (std::string word; text >> word;) result.push_back(word);
  return result;
}

struct closing {
  void operator()(std::FILE* stream) const { std::fclose(stream); }
};

class pipes {
 public:
  ~pipes() {
    for (const int each : open_) ::close(each);
  }
  // Makes a pipe and returns the child's end and our end.
  bool make(bool child_reads, int& child, int& ours) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    open_.insert(open_.end(), {ends[0], ends[1]});
    child = ends[child_reads ? 0 : 1];
    ours = ends[child_reads ? 1 : 0];
    return true;
  }
  // Duplicates the descriptor above 2, closed on exec. Returns a negative number if too many files
  // are open.
  int copy(int descriptor) {
    const int made = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (made >= 0) open_.push_back(made);
    return made;
  }
  // Makes a stream of our end of a pipe. Returns null if the system refuses.
  std::FILE* stream(int descriptor, const char* mode) {
    std::FILE* const made = fdopen(descriptor, mode);
    if (made == nullptr) return nullptr;
    std::erase(open_, descriptor);
    streams_.emplace_back(made);
    return made;
  }
  // From now on the caller owns the streams.
  void keep_streams() {
    for (auto& each : streams_) static_cast<void>(each.release());
  }

 private:
  std::vector<int> open_;
  std::vector<std::unique_ptr<std::FILE, closing>> streams_;
};

}  // namespace

stream_result file_table::spawn(const std::string& command, const std::int32_t (&streams)[3]) {
  stream_result made;
  const std::vector<std::string> parts = words(command);
  if (parts.empty()) {
    made.error = "SPAWN needs a command";
    return made;
  }
  std::vector<char*> arguments;
  for (const auto& each : parts) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);

  // Nobody else waits for the children that have ended since the last SPAWN.
  std::erase_if(children_, [](pid_t each) { return waitpid(each, nullptr, WNOHANG) != 0; });

  pipes opened;
  int child[3];
  int ours[3] = {-1, -1, -1};
  for (int i = 0; i < 3; ++i) {
    if (streams[i] >= 0) {
      // Flush, and give back what was read ahead, so that the child continues where this program
      // stopped.
      std::fflush(find(streams[i]));
      child[i] = fileno(find(streams[i]));
      if (child[i] < 0) {
        made.error = "this stream is not a file, so a program cannot inherit it";
        return made;
      }
    } else if (!opened.make(i == 0, child[i], ours[i])) {
      made.error = std::strerror(errno);
      return made;
    }
  }
  flush_all();
  // Move the descriptors above 2, so that dup2 overwrites none before it is used.
  int away[3];
  for (int i = 0; i < 3; ++i) {
    away[i] = opened.copy(child[i]);
    if (away[i] < 0) {
      made.error = std::strerror(errno);
      return made;
    }
  }

  // Before the child starts, since then nothing may fail.
  std::FILE* ends[3] = {};
  for (int i = 0; i < 3; ++i) {
    if (ours[i] < 0) continue;
    ends[i] = opened.stream(ours[i], i == 0 ? "w" : "r");
    if (ends[i] == nullptr) {
      made.error = std::strerror(errno);
      return made;
    }
  }

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i) posix_spawn_file_actions_adddup2(&actions, away[i], i);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The child must have the default action for SIGPIPE, even if this process ignores the signal.
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t process = 0;
  const int status =
      posix_spawnp(&process, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) {
    made.error = std::strerror(status);
    return made;
  }
  children_.push_back(process);
  opened.keep_streams();
  for (int i = 0; i < 3; ++i) {
    made.number[i] = streams[i];
    if (ends[i] == nullptr) continue;
    // No buffer: the program may write a request and then wait for the child's answer.
    if (i == 0) std::setvbuf(ends[i], nullptr, _IONBF, 0);
    made.number[i] = add(ends[i]);
  }
  return made;
}

}  // namespace tutti::vcode
