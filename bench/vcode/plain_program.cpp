// SPDX-License-Identifier: Apache-2.0
// A program for what tutti vcode is compared with: `tutti-peer-vcode-plain FILE` runs a VCODE
// program by the plain interpreter and prints its stack; with --loop NAME it runs the loop that
// does the same work and prints the nanoseconds that it took.
#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

#include "bench/vcode/loops.hpp"
#include "bench/vcode/plain.hpp"

namespace {

int run_loop(const std::string& name) {
  for (const auto& loop : tutti::bench::plain_loops()) {
    if (loop.program != name) continue;
    const auto begin = std::chrono::steady_clock::now();
    loop.compute();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    fmt::print("{:.0f}\n", took.count());
    return 0;
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--loop") return run_loop(argv[2]);
  if (argc != 2) return 2;
  // Freed vectors are used again, as in the original's arena, and not given back to the system.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_TOP_PAD, 1 << 26);
  try {
    std::ifstream in(argv[1], std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    tutti::bench::run_plainly(tutti::vcode::compile(text, argv[1]), stdout);
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
