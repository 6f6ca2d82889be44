// SPDX-License-Identifier: Apache-2.0
// machine_run IMAGE [--cores N] [--sockets N] [--ideal | --messages] [--cycles N] [--quiet]
// [--line TEXT]: runs a program on the machine. Prints its console, and unless --quiet each trace
// and the end of each core. --line is the command line of the image kernel.bin, which ends with
// core 0. --messages is for up to 4 cores. The status is 1 if the program does not end or a core
// ends with another status than 0, and 2 for bad arguments.
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>

#include "hardware/machine/sim/system.hpp"

namespace {

struct arguments {
  std::string image;
  tutti::machine::settings settings;
  std::uint64_t cycles = 10'000'000;
  bool quiet = false, is_kernel = false;
};

arguments parse(int argc, char** argv) {
  arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto number = [&]<class Number>(Number& into) {
      if (i + 1 == argc) throw std::invalid_argument(word + " lacks its number");
      const std::string text = argv[++i];
      char* end = nullptr;
      errno = 0;
      const unsigned long long value = std::strtoull(text.c_str(), &end, 0);
      // A number for strtoull may begin with blanks and a sign.
      if (std::isdigit(static_cast<unsigned char>(text[0])) == 0 || *end != '\0')
        throw std::invalid_argument(word + ": " + text + " is no number");
      if (errno != 0 || value > std::numeric_limits<Number>::max())
        throw std::invalid_argument(word + ": " + text + " is too large");
      into = static_cast<Number>(value);
    };
    if (word == "--cores")
      number(a.settings.cores);
    else if (word == "--sockets")
      number(a.settings.sockets);
    else if (word == "--cycles")
      number(a.cycles);
    else if (word == "--ideal")
      a.settings.ideal = true;
    else if (word == "--messages")
      a.settings.messages = true;
    else if (word == "--quiet")
      a.quiet = true;
    else if (word == "--line") {
      if (i + 1 == argc) throw std::invalid_argument("--line lacks its text");
      a.settings.command_line(argv[++i]);
      a.is_kernel = true;
    } else if (word.starts_with("-") || !a.image.empty())
      throw std::invalid_argument("unknown argument '" + word + "'");
    else
      a.image = word;
  }
  if (a.image.empty()) throw std::invalid_argument("no image is given");
  return a;
}

// Prints what the programs have written so far.
void print_reports(const tutti::machine::system& machine, bool quiet) {
  std::fputs(machine.console().c_str(), stdout);
  for (const auto& e : machine.events())
    if (!quiet)
      std::printf("%llu: core %u, tag %u: %u\n", static_cast<unsigned long long>(e.cycle), e.core,
                  e.tag, e.data);
}

// Returns whether the program has ended.
bool run(tutti::machine::system& machine, const arguments& with) try {
  return with.is_kernel ? machine.run_core(0, with.cycles) : machine.run(with.cycles);
} catch (const std::runtime_error&) {
  // It stands still. What it wrote before shows how far it has come.
  print_reports(machine, with.quiet);
  throw;
}

}  // namespace

int main(int argc, char** argv) try {
  const arguments with = parse(argc, argv);
  tutti::machine::system machine(with.image, with.settings);
  const auto start = std::chrono::steady_clock::now();
  const bool ended = run(machine, with);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  print_reports(machine, with.quiet);
  bool right = ended;
  std::uint64_t instructions = 0;
  for (unsigned c = 0; c < with.settings.cores; ++c) {
    instructions += machine.instructions(c);
    if (machine.ended(c) && machine.status(c) != 0) {
      std::fprintf(stderr, "core %u ended with status %u\n", c, machine.status(c));
      right = false;
    }
  }
  if (!ended) std::fprintf(stderr, "did not end\n%s", machine.who_waits_for_what().c_str());
  std::fprintf(stderr, "%llu cycles, %llu instructions, %.0f cycles a second\n",
               static_cast<unsigned long long>(machine.cycle()),
               static_cast<unsigned long long>(instructions),
               static_cast<double>(machine.cycle()) / seconds.count());
  return right ? 0 : 1;
} catch (const std::invalid_argument& error) {
  std::fprintf(stderr, "machine_run: %s\n", error.what());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "machine_run: %s\n", error.what());
  return 1;
}
