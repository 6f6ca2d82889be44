// SPDX-License-Identifier: Apache-2.0
// Writes a file beside its place and renames it at the end.
#include "src/graph/write/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "tutti/graph/load.hpp"

namespace tutti::graph {

namespace {

[[noreturn]] void fail(const std::string& path, const char* doing, int error) {
  throw file_error(path, 0, std::string(doing) + ": " + std::generic_category().message(error));
}

}  // namespace

descriptor_buffer::descriptor_buffer(int file, const std::string& path)
    : file_(file), path_(path), buffer_(std::size_t{1} << 16) {
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

void descriptor_buffer::write_out(const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t n = write(file_, bytes, count);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path_, "cannot be written", errno);
    bytes += n;
    count -= static_cast<std::size_t>(n);
  }
}

void descriptor_buffer::drain() {
  write_out(pbase(), static_cast<std::size_t>(pptr() - pbase()));
  setp(buffer_.data(), buffer_.data() + buffer_.size());
}

descriptor_buffer::int_type descriptor_buffer::overflow(int_type c) {
  drain();
  if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
  return traits_type::not_eof(c);
}

std::streamsize descriptor_buffer::xsputn(const char* bytes, std::streamsize count) {
  if (count <= epptr() - pptr()) return std::streambuf::xsputn(bytes, count);
  drain();
  write_out(bytes, static_cast<std::size_t>(count));
  return count;
}

int descriptor_buffer::sync() {
  drain();
  return 0;
}

int atomic_file::open_file() {
  struct stat status;
  if (stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    const int file = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) fail(path_, "cannot be written", errno);
    return file;
  }
  // A symbolic link stays one: the file to which it leads is replaced.
  if (char* const real = realpath(path_.c_str(), nullptr)) {
    target_ = real;
    std::free(real);
  } else {
    target_ = path_;
  }
  // The file is created with the mode that the umask leaves, as the final file would be. A
  // temporary file of another writer is not touched.
  for (unsigned attempt = 0;; ++attempt) {
    const std::string name =
        target_ + "." + std::to_string(getpid()) + "-" + std::to_string(attempt);
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) {
      temporary_ = name;
      return file;
    }
    if (errno != EEXIST || attempt == 1000) fail(path_, "cannot be written", errno);
  }
}

atomic_file::atomic_file(std::string path)
    : path_(std::move(path)), file_(open_file()), buffer_(file_, path_), stream_(&buffer_) {
  // Lets the buffer's own exceptions through.
  stream_.exceptions(std::ios::badbit);
}

atomic_file::~atomic_file() {
  if (file_ >= 0) close(file_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void atomic_file::commit() {
  buffer_.drain();
  if (temporary_.empty()) return;
  // Some file systems report a full disk only here.
  if (close(std::exchange(file_, -1)) != 0) fail(path_, "cannot be written", errno);
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0)
    fail(path_, "cannot be written", errno);
  temporary_.clear();
}

}  // namespace tutti::graph
