// SPDX-License-Identifier: Apache-2.0
// `describe` prints the machine as the kernel found it, and shows that each core runs threads;
// `panic` ends in the way that its argument says.
#include <atomic>

#include "kernel/core/core.hpp"
#include "kernel/core/memory.hpp"
#include "kernel/core/panic.hpp"
#include "kernel/programs/programs.hpp"

namespace tutti::kernel {

namespace {

std::atomic<u64> cores_that_ran{0};

void note_core(void* expected) {
  const u32 index = machine::here().index;
  expect(index == address_of(expected), "a thread runs on another core than its own");
  // relaxed: join() orders it.
  cores_that_ran.fetch_add(1, relaxed);
}

[[gnu::noinline]] void write_to_nowhere() { *reinterpret_cast<volatile u64*>(u64{1} << 46) = 1; }
[[gnu::noinline]] u64 overflow_stack(u64 depth) {
  volatile u64 block[64] = {depth};
  return depth == 0 ? block[0] : overflow_stack(depth - 1) + block[0];
}
void overflow(void*) {
  overflow_stack(30);
  yield();
}

}  // namespace

bool describe_machine(const char*) {
  const machine::description& d = machine::described();
  thread* threads[machine::most_cores];
  for (u64 i = 0; i < d.cores; ++i)
    threads[i] = create(static_cast<u32>(i), note_core, reinterpret_cast<void*>(i), "note");
  for (u32 i = 0; i < d.cores; ++i) join(threads[i]);

  // relaxed: all threads have been joined.
  const u64 ran = cores_that_ran.load(relaxed);
  print("{\"type\":\"machine\",\"loader\":\"", d.loader, "\",\"controller\":\"", d.controller,
        "\",\"virtual\":", d.is_virtual, ",\"cores\":", d.cores, ",\"cores_that_ran\":", ran,
        ",\"nodes\":", d.nodes, ",\"ticks_per_us\":", machine::ticks_per_us(), "}");
  for (u32 i = 0; i < d.cores; ++i)
    print("{\"type\":\"core\",\"core\":", i, ",\"hardware_id\":", d.hardware_id[i],
          ",\"node\":", d.node_of_core[i], "}");
  bool is_right = ran == d.cores;
  for (u32 n = 0; n < d.nodes; ++n) {
    print("{\"type\":\"node\",\"node\":", n, ",\"free_mib\":", free_bytes(n) >> 20, "}");
    // The cores of a node without memory use that of others.
    if (free_bytes(n) == 0) continue;
    void* block = allocate_near(n, 64, 4096);
    is_right = is_right && node_of_block(block) == n;
    give_back(block);
  }
  return is_right;
}

bool provoke_panic(const char* line) {
  if (text::is_value(line, "how", "fault")) write_to_nowhere();
  if (text::is_value(line, "how", "opcode")) asm volatile("ud2");
  if (text::is_value(line, "how", "stack"))
    join(create(cores() - 1, overflow, nullptr, "overflow", 16384));
  if (text::is_value(line, "how", "hang"))
    for (;;) machine::pause();
  panic("this was asked for");
}

}  // namespace tutti::kernel
