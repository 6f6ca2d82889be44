// SPDX-License-Identifier: Apache-2.0
// How the program starts again without this library.
#include "preload/openmp/second_start.hpp"

#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace tutti::openmp {
namespace {

bool is_same_file(const char* one, const char* another) {
  struct stat first {
  }, second{};
  return stat(one, &first) == 0 && stat(another, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::string without_folder(const std::string& file) { return file.substr(file.rfind('/') + 1); }

// The dynamic linker searches its folders for a name without a slash, and replaces `$LIB` and the
// like.
bool is_own(const std::string& entry, const std::string& own_file) {
  if (entry == own_file) return true;
  if (entry.find('/') == std::string::npos || entry.find('$') != std::string::npos)
    return without_folder(entry) == without_folder(own_file);
  return is_same_file(entry.c_str(), own_file.c_str());
}

constexpr const char* own_program = "/proc/self/exe";

// Returns the path of the program that the process runs. The kernel calls a process after the path,
// so the path is the one by which the program was started or, for the interpreter of a script, that
// of its file.
std::string path_of_program(const char* first_argument) {
  const auto* const started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (started != nullptr && is_same_file(started, own_program)) return started;
  std::vector<char> file(4096);
  const ssize_t size = readlink(own_program, file.data(), file.size() - 1);
  // Without /proc only these two tell. A script is started by the path of its interpreter, which
  // is then the first argument.
  if (size < 0 && started != nullptr) {
    char begin[2] = {};
    std::ifstream(started, std::ios::binary).read(begin, sizeof begin);
    return begin[0] == '#' && begin[1] == '!' ? first_argument : started;
  }
  const std::string path(file.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return is_same_file(path.c_str(), own_program) ? path : own_program;
}

}  // namespace

preloads read_preloads(const std::string& own_file) {
  preloads read;
  const char* const list = std::getenv("LD_PRELOAD");
  for (const char* p = list != nullptr ? list : ""; *p != '\0';) {
    const std::size_t size = std::strcspn(p, ": ");
    const std::string each(p, size);
    if (is_own(each, own_file))
      read.has_own = true;
    else if (!each.empty())
      read.others += (read.others.empty() ? "" : ":") + each;
    p += size + (p[size] != '\0' ? 1 : 0);
  }
  return read;
}

void start_again(char** arguments, const std::string& preloads) {
  if (preloads.empty())
    unsetenv("LD_PRELOAD");
  else
    setenv("LD_PRELOAD", preloads.c_str(), 1);
  std::string path = path_of_program(arguments[0]);
  // If the program is an argument of the dynamic linker, only the kernel still knows all arguments.
  std::string words;
  std::vector<char*> all;
  if (getauxval(AT_BASE) == 0) {
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    words.assign(std::istreambuf_iterator<char>(in), {});
    for (std::size_t i = 0; i < words.size(); i += std::strlen(&words[i]) + 1)
      all.push_back(&words[i]);
    if (all.empty()) path = own_program;
    all.push_back(nullptr);
    arguments = all.data();
  }
  execve(path.c_str(), arguments, environ);
  std::perror("tutti: the program cannot start again without tutti");
  _exit(126);
}

}  // namespace tutti::openmp
