// SPDX-License-Identifier: Apache-2.0
// Writes the file of the centres completely or not at all.
#include "workloads/streamcluster/output.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace tutti::streamcluster {

centre_file::centre_file(const std::filesystem::path& file)
    : file_(file), temporary_(file.string() + ".XXXXXX") {
  if (std::filesystem::exists(file) && !std::filesystem::is_regular_file(file)) {
    throw std::runtime_error(file.string() + ": cannot be written: it is not a regular file");
  }
  const int descriptor = mkstemp(temporary_.data());
  if (descriptor < 0) {
    throw std::runtime_error(file.string() + ": cannot be written: " + std::strerror(errno));
  }
  // mkstemp makes files that only their user may access; this file gets the mode of any new file.
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor, 0666 & ~mask);
  stream_ = fdopen(descriptor, "w");
  if (stream_ != nullptr) return;
  const int reason = errno;
  close(descriptor);
  unlink(temporary_.c_str());
  throw std::runtime_error(file.string() + ": cannot be written: " + std::strerror(reason));
}

centre_file::~centre_file() {
  if (stream_ != nullptr) std::fclose(stream_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void centre_file::fail(const std::string& what) const {
  throw std::runtime_error(fmt::format("{}: {}: {}", file_.string(), what, std::strerror(errno)));
}

void centre_file::write(const clustering& found) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "# {} centres of {} points of {} coordinates: position weight coordinates\n",
                 found.size(), found.counts.points, found.dimensions);
  for (std::size_t c = 0; c < found.size(); ++c) {
    fmt::format_to(out, "{} {}", found.positions[c], found.weights[c]);
    for (const float x : found.centre(c)) fmt::format_to(out, " {}", x);
    text.push_back('\n');
  }
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stream_) == text.size() &&
                       std::fflush(stream_) == 0 && fsync(fileno(stream_)) == 0;
  if (!written) fail("writing fails");
  if (std::fclose(std::exchange(stream_, nullptr)) != 0) fail("writing fails");
  if (std::rename(temporary_.c_str(), file_.c_str()) != 0) fail("cannot be written");
  temporary_.clear();
}

}  // namespace tutti::streamcluster
