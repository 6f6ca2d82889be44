#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build.sh OUT NAME SOURCE...: compiles a program for the machine and writes OUT/NAME.elf and
# OUT/NAME.bin.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
isa=$root/hardware/isa/software
out=$1 name=$2
shift 2
prefix=${RISCV_PREFIX:-riscv64-unknown-elf-}
flags="-march=rv32ima -misa-spec=2.2 -mabi=ilp32 -O2 -g -ffreestanding -fno-builtin -nostdlib --param=min-pagesize=0 -mno-relax -Wall -Wextra -Werror"
mkdir -p "$out/$name"
objects=""
for source in "$here/start.S" "$here/kernel.c" "$here/runtime.cpp" "$isa/support.c" "$@"; do
  object=$out/$name/$(basename "$source").o
  case $source in
    *.cpp)
      "${prefix}g++" $flags -std=c++20 -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit \
        -DNDEBUG -isystem "$isa/std" -I "$here/graph" -I "$root/include" -I "$root" -c "$source" -o "$object" ;;
    *) "${prefix}gcc" $flags -std=gnu17 -I "$root" -c "$source" -o "$object" ;;
  esac
  objects="$objects $object"
done
"${prefix}gcc" $flags -T "$here/link.ld" $objects -lgcc -o "$out/$name.elf"
"${prefix}objcopy" -O binary "$out/$name.elf" "$out/$name.bin"
