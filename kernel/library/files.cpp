// SPDX-License-Identifier: Apache-2.0
// Files: the image that the loader put into memory, an archive in the format of tar, whose files
// programs can read; files that programs write themselves, which stay in memory; and the standard
// output and error, which are the kernel's output.
#include "kernel/library/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernel/core/lock.hpp"
#include "kernel/core/print.hpp"
#include "kernel/library/output.hpp"

namespace tutti::kernel {

namespace {

// --- the image

struct tar_header {
  char name[100], mode[8], owner[8], group[8], size[12], time[12], sum[8], type, link[100];
  char magic[6], version[2], owner_name[32], group_name[32], device[16], prefix[155], rest[12];
};
constexpr u64 block = sizeof(tar_header);
static_assert(block == 512);

u64 octal(const char* digits, u64 count) noexcept {
  u64 value = 0;
  for (u64 i = 0; i < count && digits[i] >= '0' && digits[i] <= '7'; ++i)
    value = 8 * value + static_cast<u64>(digits[i] - '0');
  return value;
}

// Appends a text that ends at `most` bytes if not before, and returns the end.
char* append(char* to, const char* text, u64 most) noexcept {
  for (u64 i = 0; i < most && text[i] != '\0'; ++i) *to++ = text[i];
  return to;
}

file_in_image file_of(const tar_header& header, const char* bytes, u64 count) noexcept {
  file_in_image made;
  made.bytes = bytes;
  made.count = count;
  char* end = made.name;
  // Only ustar itself has a prefix: GNU's format has a blank behind its name.
  if (header.magic[5] == '\0' && header.prefix[0] != '\0') {
    end = append(end, header.prefix, sizeof header.prefix);
    *end++ = '/';
  }
  append(end, header.name, sizeof header.name);
  return made;
}

}  // namespace

bool for_image_files(void (*visit)(const file_in_image&, void*), void* argument) noexcept {
  const machine::description& d = machine::described();
  for (u64 at = 0; at < d.file_bytes;) {
    if (d.file_bytes - at < block) return false;
    const auto& header = *reinterpret_cast<const tar_header*>(d.file + at);
    // An empty block is the end.
    if (header.name[0] == '\0') return true;
    const u64 bytes = octal(header.size, sizeof header.size);
    at += block;
    if (std::memcmp(header.magic, "ustar", 5) != 0 || bytes > d.file_bytes - at) return false;
    constexpr char file = '0', folder = '5';
    if (header.type == file)
      visit(file_of(header, d.file + at, bytes), argument);
    else if (header.type != folder)
      return false;
    at += (bytes + block - 1) / block * block;
  }
  return true;
}

namespace {

struct search {
  const char* name;
  file_in_image found{};
};

file_in_image find_in_image(const char* name) noexcept {
  search s{name, {}};
  for_image_files(
      [](const file_in_image& each, void* argument) {
        search& wanted = *static_cast<search*>(argument);
        if (std::strcmp(each.name, wanted.name) == 0) wanted.found = each;
      },
      &s);
  return s.found;
}

// --- files of programs

struct written_file {
  char* name = nullptr;
  char* bytes = nullptr;
  u64 size = 0, room = 0;
  written_file* next = nullptr;

  void append(const char* text, u64 count) noexcept {
    if (size + count > room) {
      room = 2 * (size + count);
      bytes = static_cast<char*>(std::realloc(bytes, room));
    }
    std::memcpy(bytes + size, text, count);
    size += count;
  }
};
written_file* written_files = nullptr;
constinit spin_lock files_lock;

written_file* find_written(const char* name) noexcept {
  for (written_file* f = written_files; f != nullptr; f = f->next)
    if (std::strcmp(f->name, name) == 0) return f;
  return nullptr;
}

// What a FILE is here.
struct stream {
  enum class kind { console, reads, writes, memory };
  kind what = kind::console;
  // What it reads, and where; a character that was given back comes first.
  const char* bytes = nullptr;
  u64 size = 0, at = 0;
  int given_back = EOF;
  // What it writes.
  written_file* file = nullptr;
  // Where open_memstream() tells the text.
  char** text = nullptr;
  std::size_t* text_bytes = nullptr;
  written_file own{};

  int get() noexcept {
    if (given_back != EOF) {
      const int c = given_back;
      given_back = EOF;
      return c;
    }
    return what == kind::reads && at < size ? static_cast<unsigned char>(bytes[at++]) : EOF;
  }
  void put(const char* from, u64 count) noexcept {
    if (what == kind::console) return write_whole(from, count);
    if (file != nullptr) file->append(from, count);
  }
  void tell() noexcept {
    if (what != kind::memory) return;
    // A zero behind the text, which is no part of it.
    own.append("", 1);
    --own.size;
    *text = own.bytes;
    *text_bytes = own.size;
  }
};

stream& of(FILE* f) noexcept { return *reinterpret_cast<stream*>(f); }
FILE* as_file(stream* s) noexcept { return reinterpret_cast<FILE*>(s); }
stream* make_stream(stream::kind what) noexcept {
  auto* s = static_cast<stream*>(std::malloc(sizeof(stream)));
  if (s != nullptr) {
    *s = stream{};
    s->what = what;
  }
  return s;
}

stream empty_input{.what = stream::kind::reads};
stream console_output, console_error;

class stream_sink final : public sink {
 public:
  explicit stream_sink(stream& to) noexcept : to_(to) {}
  void add(const char* text, std::size_t bytes) noexcept override { to_.put(text, bytes); }

 private:
  stream& to_;
};

int refuse_with(int error) noexcept {
  errno = error;
  return -1;
}

}  // namespace
}  // namespace tutti::kernel

using namespace tutti::kernel;

extern "C" {

FILE* stdin = as_file(&empty_input);
FILE* stdout = as_file(&console_output);
FILE* stderr = as_file(&console_error);

FILE* fopen(const char* name, const char* mode) {
  const locked hold(files_lock);
  written_file* written = find_written(name);
  if (mode[0] == 'r') {
    const file_in_image found = find_in_image(name);
    if (written == nullptr && found.bytes == nullptr) {
      errno = ENOENT;
      return nullptr;
    }
    stream* s = make_stream(stream::kind::reads);
    s->bytes = written != nullptr ? written->bytes : found.bytes;
    s->size = written != nullptr ? written->size : found.count;
    return as_file(s);
  }
  if (written == nullptr) {
    written = static_cast<written_file*>(std::malloc(sizeof(written_file)));
    *written = {};
    written->name = strdup(name);
    written->next = written_files;
    written_files = written;
  }
  if (mode[0] == 'w') written->size = 0;
  stream* s = make_stream(stream::kind::writes);
  s->file = written;
  return as_file(s);
}
FILE* open_memstream(char** text, std::size_t* bytes) noexcept {
  stream* s = make_stream(stream::kind::memory);
  if (s == nullptr) return nullptr;
  s->file = &s->own;
  s->text = text;
  s->text_bytes = bytes;
  s->tell();
  return as_file(s);
}
int fclose(FILE* f) {
  stream& s = of(f);
  s.tell();
  if (&s != &empty_input && &s != &console_output && &s != &console_error) std::free(&s);
  return 0;
}
int fflush(FILE* f) {
  if (f != nullptr) of(f).tell();
  return 0;
}

int getc(FILE* f) { return of(f).get(); }
int ungetc(int c, FILE* f) {
  of(f).given_back = c;
  return c;
}
std::size_t fwrite(const void* from, std::size_t bytes, std::size_t count, FILE* f) {
  of(f).put(static_cast<const char*>(from), bytes * count);
  return count;
}
int fputs(const char* text, FILE* f) {
  of(f).put(text, std::strlen(text));
  return 0;
}
int fputc(int c, FILE* f) {
  const char letter = static_cast<char>(c);
  of(f).put(&letter, 1);
  return c;
}
int fprintf(FILE* f, const char* format, ...) {
  stream_sink to(of(f));
  va_list values;
  va_start(values, format);
  print_formatted(to, format, values);
  va_end(values);
  return 0;
}
int setvbuf(FILE*, char*, int, std::size_t) noexcept { return 0; }

// --- there are no file descriptors, except those of the kernel's output

ssize_t write(int descriptor, const void* from, std::size_t bytes) {
  if (descriptor != 1 && descriptor != 2) return refuse_with(EBADF);
  write_whole(static_cast<const char*>(from), bytes);
  return static_cast<ssize_t>(bytes);
}
ssize_t writev(int descriptor, const iovec* parts, int count) {
  ssize_t all = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t bytes = write(descriptor, parts[i].iov_base, parts[i].iov_len);
    if (bytes < 0) return bytes;
    all += bytes;
  }
  return all;
}
FILE* fopen64(const char* name, const char* mode) { return fopen(name, mode); }
FILE* fdopen(int, const char*) noexcept {
  errno = EBADF;
  return nullptr;
}
int fileno(FILE*) noexcept { return refuse_with(EBADF); }
// No file has a descriptor.
ssize_t read(int, void*, std::size_t) { return refuse_with(EBADF); }
int close(int) { return refuse_with(EBADF); }
off64_t lseek64(int, off64_t, int) noexcept { return refuse_with(EBADF); }
int fstat64(int, struct stat64*) noexcept { return refuse_with(EBADF); }
int fcntl(int, int, ...) { return refuse_with(EBADF); }
int ioctl(int, unsigned long, ...) noexcept { return refuse_with(EBADF); }
int poll(pollfd*, nfds_t, int) { return refuse_with(ENOSYS); }
int pipe2(int*, int) noexcept { return refuse_with(ENOSYS); }
DIR* opendir(const char*) {
  errno = ENOENT;
  return nullptr;
}
dirent* readdir(DIR*) { return nullptr; }
int closedir(DIR*) { return 0; }

}  // extern "C"
