// SPDX-License-Identifier: Apache-2.0
// A program of two sources, one of them compiled without exceptions, that share a barrier and the
// copies of its functions that the linker keeps. The test compiles this file twice; the source
// without exceptions has no main().
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <tutti/barrier/barrier.hpp>
#include <tutti/reduce/reduction.hpp>

struct shared {
  tutti::barrier<> barrier{2};
  tutti::reduction<int> sum{2};

  bool run(tutti::rank_t rank) {
    bool is_right = true;
    for (int i = 0; i < 100; ++i) {
      barrier.arrive_and_wait(rank);
      is_right = is_right && sum.all(rank, static_cast<int>(rank) + 1) == 3;
    }
    return is_right;
  }
};

bool run_without_exceptions(shared& all);
void refuse_without_exceptions(shared& all);

#if !defined(__cpp_exceptions)

bool run_without_exceptions(shared& all) { return all.run(1); }
void refuse_without_exceptions(shared& all) { all.barrier.set_patience("no such patience"); }

#else

template <class Call>
bool is_refused(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& why) {
    return std::string_view(why.what()).starts_with("tutti: ");
  }
  return false;
}

// With an argument, nobody catches what the source without exceptions throws.
int main(int argc, char**) {
  shared all;
  if (argc > 1) refuse_without_exceptions(all);
  bool second = false;
  std::thread other([&] { second = run_without_exceptions(all); });
  const bool first = all.run(0);
  other.join();
  const bool refused = is_refused([&] { all.barrier.set_patience("no such patience"); }) &&
                       is_refused([&] { refuse_without_exceptions(all); });
  if (!first || !second || !refused) {
    std::fprintf(stderr, "wrong: %d %d %d\n", first, second, refused);
    return 1;
  }
  return 0;
}

#endif
