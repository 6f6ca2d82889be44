/* SPDX-License-Identifier: Apache-2.0
 * The command `tutti` that a Python package installs among the environment's programs: it becomes
 * the command in the package. A script of Python would ignore SIGPIPE and SIGXFSZ, whatever its
 * parent did, and may set LC_CTYPE, and the programs that `tutti run` starts would inherit both. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char command[] = "tutti_sync/bin/tutti";

/* The environment's folder, with '/' at its end. */
static char root[PATH_MAX];
/* The command that was installed last: it has this script. */
static char found[PATH_MAX];
static struct timespec installed;

static void consider(const char* folder) {
  char path[PATH_MAX];
  struct stat file;
  if (snprintf(path, sizeof path, "%s%s/%s", root, folder, command) >= (int)sizeof path) return;
  if (stat(path, &file) != 0) return;
  const struct timespec at = file.st_ctim;
  if (found[0] != '\0' && (at.tv_sec < installed.tv_sec ||
                           (at.tv_sec == installed.tv_sec && at.tv_nsec <= installed.tv_nsec)))
    return;
  installed = at;
  strcpy(found, path);
}

/* Looks into the packages of each version of Python, such as lib/python3.11/site-packages. */
static void look_into(const char* library) {
  static const char* const packages[] = {"site-packages", "dist-packages"};
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s%s", root, library) >= (int)sizeof path) return;
  DIR* const folder = opendir(path);
  if (folder == NULL) return;
  for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    if (strncmp(entry->d_name, "python", 6) != 0 && strncmp(entry->d_name, "pypy", 4) != 0)
      continue;
    for (size_t i = 0; i < sizeof packages / sizeof *packages; ++i)
      if (snprintf(path, sizeof path, "%s/%s/%s", library, entry->d_name, packages[i]) <
          (int)sizeof path)
        consider(path);
  }
  closedir(folder);
}

int main(int argc, char** argv) {
  (void)argc;
  const ssize_t length = readlink("/proc/self/exe", root, sizeof root);
  if (length <= 0 || length == (ssize_t)sizeof root) {
    fprintf(stderr, "tutti: error: cannot find the folder of this program\n");
    return 1;
  }
  root[length] = '\0';
  /* The name of this program, and that of its folder, bin. */
  for (int i = 0; i < 2; ++i) {
    char* const slash = strrchr(root, '/');
    if (slash != NULL) *slash = '\0';
  }
  strcat(root, "/");
  look_into("lib");
  look_into("lib64");
  /* `pip install --target` puts the packages here. */
  consider(".");
  if (found[0] == '\0') {
    fprintf(stderr,
            "tutti: error: the Python packages below %s have no %s; python -m tutti_sync also "
            "starts it\n",
            root, command);
    return 1;
  }
  execv(found, argv);
  fprintf(stderr, "tutti: error: cannot start %s: %s\n", found, strerror(errno));
  return 1;
}
