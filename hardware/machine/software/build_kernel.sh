#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build_kernel.sh OUT: compiles the kernel of kernel/ for the machine, whose threads and handlers
# all run in machine mode, and writes OUT/kernel.elf and OUT/kernel.bin.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
isa=$root/hardware/isa/software
out=$1
prefix=${RISCV_PREFIX:-riscv64-unknown-elf-}
flags="-march=rv32ima -misa-spec=2.2 -mabi=ilp32 -O2 -g -ffreestanding -fno-builtin -nostdlib --param=min-pagesize=0 -mno-relax -fno-omit-frame-pointer -Wall -Wextra -Werror"
mkdir -p "$out/kernel"
objects=""
cd "$root"
for source in kernel/arch/rv32/entry.S kernel/arch/rv32/machine.cpp kernel/arch/rv32/program_list.cpp \
  kernel/core/memory.cpp kernel/core/mutex.cpp kernel/core/new.cpp kernel/core/panic.cpp kernel/core/park.cpp \
  kernel/core/text.cpp kernel/core/thread.cpp kernel/event/events.cpp kernel/main.cpp kernel/platform/policy.cpp \
  kernel/programs/bare.cpp kernel/programs/bench.cpp kernel/programs/check_events.cpp \
  kernel/programs/check_threads.cpp kernel/programs/programs.cpp "$isa/support.c"; do
  object=$out/kernel/$(basename "$source").o
  case $source in
    *.cpp)
      "${prefix}g++" $flags -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit \
        -DNDEBUG -isystem "$isa/std" -I "$root/include" -I "$root" -c "$source" -o "$object" ;;
    *) "${prefix}gcc" $flags -std=gnu17 -I "$root" -c "$source" -o "$object" ;;
  esac
  objects="$objects $object"
done
"${prefix}gcc" $flags -T kernel/arch/rv32/link.ld $objects -lgcc -o "$out/kernel.elf"
"${prefix}objcopy" -O binary "$out/kernel.elf" "$out/kernel.bin"
