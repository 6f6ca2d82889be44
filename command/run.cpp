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

// Returns why no library can be loaded into the program, or an empty string. The kernel runs a
// script by its interpreter, which is then the program.
std::string why_untouched(const fs::path& path, int depth = 0) {
  const std::unique_ptr<std::FILE, file_closer> file(std::fopen(path.c_str(), "rbe"));
  if (!file) return "its file cannot be read";
  if (getxattr(path.c_str(), "security.capability", nullptr, 0) > 0)
    return "it has file capabilities, so the dynamic linker ignores preloads";
  std::array<char, 4096> head{};
  const std::size_t size = std::fread(head.data(), 1, head.size(), file.get());
  if (size > 2 && head[0] == '#' && head[1] == '!') {
    std::string_view line(head.data() + 2, size - 2);
    line = line.substr(0, line.find('\n'));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::string interpreter(line.substr(0, line.find_first_of(" \t")));
    std::error_code ignored;
    return depth < 4 && !interpreter.empty() && fs::exists(interpreter, ignored)
               ? why_untouched(interpreter, depth + 1)
               : "";
  }
  // The kernel ignores these bits of a script.
  struct stat status {};
  if (fstat(fileno(file.get()), &status) == 0 && changes_identity(status))
    return "it is setuid or setgid, so the dynamic linker ignores preloads";
  if (size < sizeof(Elf64_Ehdr) || std::memcmp(head.data(), ELFMAG, SELFMAG) != 0) return "";
  Elf64_Ehdr mine{}, header{};
  std::memcpy(&header, head.data(), sizeof header);
  const std::unique_ptr<std::FILE, file_closer> self(std::fopen("/proc/self/exe", "rbe"));
  if (!self || std::fread(&mine, sizeof mine, 1, self.get()) != 1) return "";
  if (header.e_ident[EI_CLASS] != mine.e_ident[EI_CLASS] ||
      header.e_ident[EI_DATA] != mine.e_ident[EI_DATA] || header.e_machine != mine.e_machine)
    return "it is for another architecture than tutti";
  std::string interpreter;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    const auto at = static_cast<long>(header.e_phoff + std::uint64_t{i} * header.e_phentsize);
    if (std::fseek(file.get(), at, SEEK_SET) != 0 ||
        std::fread(&part, sizeof part, 1, file.get()) != 1)
      break;
    if (part.p_type != PT_INTERP || part.p_filesz > 4096) continue;
    interpreter.resize(part.p_filesz);
    if (std::fseek(file.get(), static_cast<long>(part.p_offset), SEEK_SET) != 0 ||
        std::fread(interpreter.data(), 1, interpreter.size(), file.get()) != interpreter.size())
      interpreter.clear();
  }
  if (interpreter.empty())
    return is_dynamic_linker(path) ? "it is the dynamic linker; give the program without it"
                                   : "it is statically linked";
  if (!is_dynamic_linker(interpreter.c_str()))
    return fmt::format("its dynamic linker is {}, not glibc's", interpreter.c_str());
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

void prepend_preloads(const run_options& o) {
  const bool any = std::find(o.chosen.begin(), o.chosen.end(), true) != o.chosen.end();
  std::string list;
  for (std::size_t i = 0; i < std::size(preloads); ++i) {
    if (!(any ? o.chosen[i] : preloads[i].is_default)) continue;
    const std::string file = find_library(preloads[i].library).string();
    if (file.find_first_of(": \t\n") != std::string::npos)
      throw std::runtime_error(fmt::format(
          "{}: the dynamic linker cannot preload a library whose path contains a blank or a colon",
          file));
    list += (list.empty() ? "" : ":") + file;
  }
  if (const char* const before = std::getenv("LD_PRELOAD"); before != nullptr && *before != '\0')
    list += (list.empty() ? "" : ":") + std::string(before);
  if (!list.empty()) setenv("LD_PRELOAD", list.c_str(), 1);
}

int complain(const std::string& sentence, int status) {
  std::fprintf(stderr, "tutti run: %s\n", sentence.c_str());
  return status;
}

bool is_elf(const fs::path& path) {
  std::array<char, SELFMAG> head{};
  const std::unique_ptr<std::FILE, file_closer> file(std::fopen(path.c_str(), "rbe"));
  return file && std::fread(head.data(), 1, head.size(), file.get()) == head.size() &&
         std::memcmp(head.data(), ELFMAG, SELFMAG) == 0;
}

int run(const run_options& o) {
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
  if (o.verbose) setenv("TUTTI_VERBOSE", "1", 1);
  if (o.reproducible) setenv("TUTTI_REPRODUCIBLE", "1", 1);
  if (!o.deadline.empty()) setenv("TUTTI_MPI_DEADLINE", o.deadline.c_str(), 1);
  if (const std::string why = why_untouched(path); !why.empty())
    std::fprintf(stderr, "tutti run: %s runs without tutti: %s\n", name.c_str(), why.c_str());
  else
    prepend_preloads(o);
  std::vector<char*> arguments;
  for (const std::string& each : o.program) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  execv(path.c_str(), arguments.data());
  const int error = errno;
  if (error == ENOEXEC && !is_elf(path)) {
    // A script without an interpreter, which execvp would start in the same way.
    std::string shell = "/bin/sh", script = path.string();
    arguments.front() = script.data();
    arguments.insert(arguments.begin(), shell.data());
    execv(shell.c_str(), arguments.data());
  }
  return complain(fmt::format("{}: {}", name, std::strerror(error)), cannot_run);
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
                 "With --mpi: a rank that waits longer, such as 10s, names those that are missing");
  app.add_option("program", app->program, "The program and its arguments, after --").required();
}

}  // namespace tutti::command
