// SPDX-License-Identifier: Apache-2.0
// `tutti run`: starts an unmodified program with libraries that replace its synchronisation.
//
// The command sets the environment and becomes the program (execve), so the exit status, signals,
// the standard streams and the process group are the program's own. Each library decides in the
// program, before main, whether it takes over (preload/openmp/takeover.cpp); this file only refuses
// what the dynamic linker could not load anyway.
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/errors.hpp"
#include "cli/options.hpp"
#include "command/preloads.hpp"
#include "command/subcommands.hpp"

namespace tutti::command {
namespace {

namespace fs = std::filesystem;

// The statuses with which shells and env(1) report these two failures.
constexpr int cannot_run = 126, not_found = 127;

struct run_options {
  std::array<bool, std::size(preloads)> chosen{};
  bool verbose = false;
  bool reproducible = false;
  std::string deadline;
  std::vector<std::string> program;
};

// ---- the program

// Finds the program as execvp does. Returns an empty path if there is none.
fs::path find_program(const std::string& name) {
  std::error_code why;
  if (name.find('/') != std::string::npos)
    return fs::status(name, why).type() == fs::file_type::not_found ? fs::path() : fs::path(name);
  const char* const path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/bin:/usr/bin";
  fs::path refused;
  for (std::size_t from = 0; from <= folders.size();) {
    const std::size_t to = std::min(folders.find(':', from), folders.size());
    const std::string folder = folders.substr(from, to - from);
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    std::error_code ignored;
    if (fs::is_regular_file(candidate, ignored)) {
      if (access(candidate.c_str(), X_OK) == 0) return candidate;
      if (refused.empty()) refused = candidate;
    }
    from = to + 1;
  }
  return refused;
}

struct file_closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Whether a program of this file would have the rights of another user or group than this one.
bool changes_identity(const struct stat& file) {
  constexpr mode_t setgid = S_ISGID | S_IXGRP;
  return ((file.st_mode & S_ISUID) != 0 && file.st_uid != getuid()) ||
         ((file.st_mode & setgid) == setgid && file.st_gid != getgid());
}

// Whether the file has the name of glibc's dynamic linker on one of the architectures.
bool is_dynamic_linker(const fs::path& path) {
  const std::string name = path.filename().string();
  // The others are those of s390x and big-endian PowerPC, of PowerPC, and of MIPS.
  return name.starts_with("ld-linux") || name == "ld64.so.1" || name == "ld64.so.2" ||
         name == "ld.so.1";
}

// A program's file.
class program_file {
 public:
  explicit program_file(const fs::path& path) {
    // To open a pipe would wait for a writer.
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) file_.reset(std::fopen(path.c_str(), "rbe"));
    if (!file_) return;
    head_.resize(4096);
    head_.resize(std::fread(head_.data(), 1, head_.size(), file_.get()));
    if (is_elf() && head_.size() >= sizeof header_)
      std::memcpy(&header_, head_.data(), sizeof header_);
  }

  bool is_readable() const { return file_ != nullptr; }
  bool is_script() const { return head_.starts_with("#!"); }
  bool is_elf() const { return head_.starts_with(ELFMAG); }
  int number() const { return fileno(file_.get()); }

  // Returns the first word of a script.
  std::string interpreter() const {
    std::string_view line = std::string_view(head_).substr(2);
    line = line.substr(0, line.find('\n'));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return std::string(line.substr(0, line.find_first_of(" \t")));
  }

  bool is_for_the_machine_of(const program_file& other) const {
    return header_.e_ident[EI_CLASS] == other.header_.e_ident[EI_CLASS] &&
           header_.e_ident[EI_DATA] == other.header_.e_ident[EI_DATA] &&
           header_.e_machine == other.header_.e_machine;
  }
  // Returns the dynamic linker that the program names, or an empty string.
  std::string dynamic_linker() const {
    std::string name;
    for (unsigned i = 0; i < header_.e_phnum; ++i) {
      const std::string content =
          bytes(header_.e_phoff + std::uint64_t{i} * header_.e_phentsize, sizeof(Elf64_Phdr));
      if (content.size() != sizeof(Elf64_Phdr)) break;
      Elf64_Phdr part{};
      std::memcpy(&part, content.data(), sizeof part);
      if (part.p_type == PT_INTERP) name = bytes(part.p_offset, part.p_filesz).c_str();
    }
    return name;
  }

 private:
  // Returns fewer bytes, or none, if the file does not have them. No part that is read is long.
  std::string bytes(std::uint64_t at, std::uint64_t size) const {
    constexpr std::uint64_t most = 4096;
    std::string content(size <= most ? size : 0, '\0');
    if (std::fseek(file_.get(), static_cast<long>(at), SEEK_SET) != 0) return "";
    content.resize(std::fread(content.data(), 1, content.size(), file_.get()));
    return content;
  }

  std::unique_ptr<std::FILE, file_closer> file_;
  std::string head_;
  Elf64_Ehdr header_{};
};

// The kernel runs a script by its interpreter, which is then the program.
fs::path without_scripts(fs::path path) {
  for (int depth = 0; depth < 5; ++depth) {
    const program_file file(path);
    std::error_code ignored;
    if (!file.is_script() || !fs::is_regular_file(file.interpreter(), ignored)) break;
    path = file.interpreter();
  }
  return path;
}

// Returns why a file that may be executed was not started. The kernel says ENOENT also if what
// starts the file is missing.
std::string why_not_started(const fs::path& path, int error) {
  if (error == ENOENT) {
    const program_file file(without_scripts(path));
    const bool is_script = file.is_script();
    const std::string starter = is_script ? file.interpreter() : file.dynamic_linker();
    std::error_code ignored;
    if (!starter.empty() && !fs::exists(starter, ignored))
      return fmt::format("its {} {} does not exist", is_script ? "interpreter" : "dynamic linker",
                         starter);
  }
  return std::strerror(error);
}

// Returns why no library can be loaded into the program, or an empty string.
std::string why_untouched(const fs::path& path) {
  const program_file file(path);
  if (!file.is_readable()) return "its file cannot be read";
  // The kernel ignores these properties of a script.
  if (file.is_script()) return "";
  if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    return "it has file capabilities, so the dynamic linker ignores preloads";
  struct stat status {};
  if (fstat(file.number(), &status) == 0 && changes_identity(status))
    return "it is setuid or setgid, so the dynamic linker ignores preloads";
  const program_file self("/proc/self/exe");
  if (!file.is_elf() || !self.is_elf()) return "";
  if (!file.is_for_the_machine_of(self)) return "it is for another architecture than tutti";
  const std::string linker = file.dynamic_linker();
  if (linker.empty()) {
    // Debian has it also as /usr/bin/ld.so, a link.
    std::error_code ignored;
    return is_dynamic_linker(path) || is_dynamic_linker(fs::canonical(path, ignored))
               ? "it is the dynamic linker; give the program without it"
               : "it is statically linked";
  }
  if (!is_dynamic_linker(linker))
    return fmt::format("its dynamic linker is {}, not glibc's", linker);
  return "";
}

// ---- the libraries

// Looks above libexec in the build tree, and where `cmake --install` puts the libraries.
fs::path find_library(const char* name) {
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path built = (here / "../../preload").lexically_normal();
  const fs::path installed = (here / TUTTI_PRELOAD_FOLDER).lexically_normal();
  for (const fs::path& folder : {built, installed})
    if (fs::exists(folder / name, ignored)) return fs::weakly_canonical(folder / name);
  throw std::runtime_error(fmt::format("the library {} is neither in {} nor in {}", name,
                                       built.string(), installed.string()));
}

// Puts the value before what the variable has.
void prepend(const char* variable, std::string value, char between) {
  if (const char* const before = std::getenv(variable); before != nullptr && *before != '\0')
    value += between + std::string(before);
  setenv(variable, value.c_str(), 1);
}

// Whether the preload is used: it was chosen, or none was and it is a default.
bool is_used(const run_options& o, std::size_t preload) {
  const bool any = std::find(o.chosen.begin(), o.chosen.end(), true) != o.chosen.end();
  return any ? o.chosen[preload] : preloads[preload].is_default;
}
bool is_used(const run_options& o, std::string_view option) {
  for (std::size_t i = 0; i < std::size(preloads); ++i)
    if (preloads[i].option == option) return is_used(o, i);
  return false;
}

void prepend_preloads(const run_options& o) {
  std::string list;
  for (std::size_t i = 0; i < std::size(preloads); ++i) {
    if (!is_used(o, i)) continue;
    const std::string file = find_library(preloads[i].library).string();
    if (file.find_first_of(": \t\n") != std::string::npos)
      throw std::runtime_error(fmt::format(
          "{}: the dynamic linker cannot preload a library whose path contains a blank or a colon",
          file));
    list += (list.empty() ? "" : ":") + file;
  }
  if (list.empty()) return;
  prepend("LD_PRELOAD", list, ':');
  // AddressSanitizer ends a program in which another library comes first, which may allocate before
  // it. tutti's leave allocation alone. What the user says comes later, and counts.
  prepend("ASAN_OPTIONS", "verify_asan_link_order=0", ':');
}

int complain(const std::string& sentence, int status) {
  return cli::complain("tutti run", sentence, status);
}

int run(const run_options& o) {
  if (!o.deadline.empty() && !is_used(o, "--mpi"))
    return complain("--deadline is for the calls of MPI, so give --mpi, too", cli::wrong_usage);
  if (o.reproducible && !is_used(o, "--openmp"))
    return complain("--reproducible is for OpenMP, so give --openmp, too", cli::wrong_usage);
  const std::string& name = o.program.front();
  const fs::path path = find_program(name);
  if (path.empty()) return complain(fmt::format("{}: there is no such program", name), not_found);
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return complain(fmt::format("{}: this is a folder, not a program", name), cannot_run);
  if (access(path.c_str(), X_OK) != 0) {
    const char* const why = errno == EACCES ? "this file is not executable" : std::strerror(errno);
    return complain(fmt::format("{}: {}", name, why), cannot_run);
  }
  if (!fs::is_regular_file(path, ignored))
    return complain(fmt::format("{}: Permission denied, because this is no regular file", name),
                    cannot_run);
  if (o.verbose) setenv("TUTTI_VERBOSE", "1", 1);
  if (o.reproducible) setenv("TUTTI_REPRODUCIBLE", "1", 1);
  if (!o.deadline.empty()) setenv("TUTTI_MPI_DEADLINE", o.deadline.c_str(), 1);
  const fs::path program = without_scripts(path);
  if (const std::string why = why_untouched(program); !why.empty())
    complain(fmt::format("{} runs without tutti: {}", name, why), cli::success);
  else
    prepend_preloads(o);
  std::vector<char*> arguments;
  for (const std::string& each : o.program) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  const int error = errno;
  if (error == ENOEXEC && !program_file(path).is_elf()) {
    // A script without an interpreter, which execvp would start in the same way.
    std::string shell = "/bin/sh", script = path.string();
    arguments.front() = script.data();
    arguments.insert(arguments.begin(), shell.data());
    execv(shell.c_str(), arguments.data());
  }
  return complain(fmt::format("{}: {}", name, why_not_started(path, error)), cannot_run);
}

}  // namespace

void add_run(cli::command& program) {
  cli::subcommand<run_options> app(program, "run",
                                   "Run an unmodified program with tutti's synchronisation", run);
  for (std::size_t i = 0; i < std::size(preloads); ++i)
    app.add_flag(preloads[i].option, app->chosen[i], preloads[i].help);
  app.add_flag("--verbose", app->verbose, "Say on standard error who runs the program");
  app.add_flag("--reproducible", app->reproducible,
               "Compute the same in each run with the same number of OpenMP threads");
  app.add_option("--deadline", app->deadline,
                 "With --mpi: a rank that waits longer, such as 10s, names those that are missing, "
                 "and the job ends");
  app.add_option("program", app->program, "The program and its arguments, after --").required();
}

}  // namespace tutti::command
