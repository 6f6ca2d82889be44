// SPDX-License-Identifier: Apache-2.0
#include "src/mpi/launch.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "src/mpi/wait_until_read.hpp"

namespace tutti::mpi {
namespace {

using lookup = const char* (*)(const char*);

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error("tutti: " + what); }

int number_in(lookup variable, const std::string& name, int least) {
  const char* const text = variable(name.c_str());
  if (text == nullptr) fail("the launcher of MPI has not set " + name);
  const std::string_view digits(text);
  int value = -1;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < least)
    fail(name + " is '" + text + "'; it must be a number of at least " + std::to_string(least));
  return value;
}

std::optional<launch> find_one(lookup variable, const char* family, const std::string& size,
                               const std::string& rank) {
  if (variable(size.c_str()) == nullptr) return std::nullopt;
  launch found{family, number_in(variable, size, 1), number_in(variable, rank, 0)};
  if (found.rank >= found.size)
    fail(rank + " is " + std::to_string(found.rank) + ", but " + size + " is only " +
         std::to_string(found.size));
  return found;
}

// Finds a file in libexec/tutti beside the program or above it, where a build and an installation
// have it.
std::filesystem::path companion(const std::string& name, const std::string& family) {
  std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (int up = 0; up < 4; ++up, folder = folder.parent_path()) {
    const auto candidate = folder / "libexec" / "tutti" / name;
    if (std::filesystem::exists(candidate)) return candidate;
  }
  fail("a launcher of " + family + " has started this program, but there is no " + name +
       ": tutti was built without that MPI");
}

}  // namespace

std::optional<launch> find_launch(lookup variable) {
  const auto open = find_one(variable, "openmpi", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK");
  const auto other = find_one(variable, "mpich", "PMI_SIZE", "PMI_RANK");
  if (open && other)
    fail(
        "launchers of two MPIs seem to have started this program: both OMPI_COMM_WORLD_SIZE and "
        "PMI_SIZE are set");
  return open ? open : other;
}

std::optional<launch> find_launch() {
  return find_launch([](const char* name) -> const char* { return std::getenv(name); });
}

void become_bench_program(const launch& how, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{companion("tutti-bench-mpi-" + how.family, how.family).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(argv[0], argv.data());
  fail("cannot run " + words[0]);
}

library::library(const launch& how, bool several_threads) {
  const auto file = companion("libtutti-mpi-" + how.family + ".so", how.family);
  // The symbols are global because the components of Open MPI look up its functions among the
  // symbols of the program. The plugin is never closed, because MPI leaves threads and handlers
  // behind.
  void* const plugin = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (plugin == nullptr) fail(std::string("cannot load MPI: ") + dlerror());
  using getter = const calls* (*)();
  const auto get = reinterpret_cast<getter>(dlsym(plugin, "tutti_mpi_calls"));
  if (get == nullptr) fail(file.string() + " is not a plugin of tutti");
  const calls* const table = get();
  if (table->version != calls::current_version)
    fail(file.string() + "has version " + std::to_string(table->version) + "; it must be " +
         std::to_string(calls::current_version));
  const auto check = [&](int error, const char* what) {
    if (error == 0) return;
    std::array<char, 256> words{};
    table->text(error, words.data(), words.size());
    fail(std::string(what) + " failed: " + words.data());
  };
  check(table->init(several_threads), "MPI_Init_thread");
  calls_ = table;
  int size = 0;
  check(table->size(table->world, &size), "MPI_Comm_size");
  if (size != how.size)
    fail("the launcher reports " + std::to_string(how.size) + " processes, " + how.family + " of " +
         std::to_string(size) + ": was this started by the launcher of another MPI?");
}

library::~library() {
  if (std::uncaught_exceptions() == 0) calls_->finalize();
}

void library::abort(int status) const {
  wait_until_read(STDERR_FILENO);
  calls_->abort(calls_->world, status);
  std::_Exit(status);
}

}  // namespace tutti::mpi
