#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Links the kernel twice: the second time with a table of the symbols that the first link found, so
# that a panic can name addresses.
#   link.sh COMPILER OUTPUT LINKER_SCRIPT OBJECT...
set -euo pipefail
compiler=$1 output=$2 script=$3
shift 3
link() {
  "$compiler" -nostdlib -nostartfiles -static -no-pie -Wl,-T,"$script" -Wl,--build-id=none -Wl,--gc-sections \
    -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments -Wl,--eh-frame-hdr -o "$1" "${@:2}" -lgcc
}
link "$output.first" "$@"
{
  printf '.section .symbols, "aw"\n'
  nm -C --defined-only "$output.first" | sort | awk '
    $2 ~ /^[tTwW]$/ && $1 >= "0000000000100000" {
      name = substr($0, index($0, $3)); gsub(/[\\"]/, "", name)
      if (length(name) > 100) name = substr(name, 1, 97) "..."
      printf ".quad 0x%s, 9f\n.section .symbol_names, \"a\"\n9: .asciz \"%s\"\n.section .symbols, \"aw\"\n", $1, name
    }'
  printf '.section .note.GNU-stack, "", @progbits\n'
} > "$output.symbols.s"
"$compiler" -c -o "$output.symbols.o" "$output.symbols.s"
link "$output" "$output.symbols.o" "$@"
rm -f "$output.first" "$output.symbols.s" "$output.symbols.o"
