/* SPDX-License-Identifier: Apache-2.0
 * The program `tutti`. It answers --version itself and starts the program with the subcommands for
 * everything else. That program needs some thirty shared libraries, whose loading takes several
 * milliseconds; this one needs only the C library. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tutti/version.h"

/* Where the programs with the subcommands are, from the folder of this one: in a build tree, and
 * where `cmake --install` puts them. */
static const char* const folders[] = {"libexec/tutti", TUTTI_LIBEXEC};

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "--version") == 0) {
    if (puts("tutti " TUTTI_VERSION_STRING) >= 0 && fflush(stdout) == 0) return 0;
    fprintf(stderr, "tutti: the output could not be written: %s\n", strerror(errno));
    return 1;
  }
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program);
  if (length <= 0 || length == (ssize_t)sizeof program) {
    fprintf(stderr, "tutti: error: cannot find the folder of this program\n");
    return 1;
  }
  program[length] = '\0';
  char* const name = strrchr(program, '/') + 1;
  const size_t room = (size_t)(program + sizeof program - name);
  /* `tutti vcode` has a program of its own, with still fewer libraries. */
  const int is_vcode = argc > 1 && strcmp(argv[1], "vcode") == 0;
  /* A program that is there and cannot be started is what the sentence must name. */
  errno = ENOENT;
  for (size_t i = 0; i < sizeof folders / sizeof *folders && errno == ENOENT; ++i)
    if (snprintf(name, room, "%s/%s", folders[i], is_vcode ? "tutti-vcode" : "tutti-command") <
        (int)room)
      execv(program, argv);
  fprintf(stderr, "tutti: error: cannot start %s: %s\n", program, strerror(errno));
  return 1;
}
