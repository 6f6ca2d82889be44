// SPDX-License-Identifier: Apache-2.0
// `vcode`: runs each program NAME.vcode of the file image on a team of the kernel's threads, and
// compares what it prints with the file NAME.out, byte for byte. `engine=lazy`, `workers` or
// `spmd`; `threads=T`.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/library/files.hpp"
#include "kernel/platform/hosted.hpp"
#include "kernel/programs/group.hpp"
#include "kernel/programs/programs.hpp"
#include "vcode/io/written_text.hpp"
#include "vcode/on_platform.hpp"

namespace tutti::kernel {

namespace {

using file_list = std::vector<file_in_image>;

// Appends the files of the image to the list. Returns false if something in it cannot be read.
bool read_image(file_list& files) {
  return for_image_files(
      [](const file_in_image& each, void* list) { static_cast<file_list*>(list)->push_back(each); },
      &files);
}

std::string_view text_of(const file_in_image& file) { return {file.bytes, file.count}; }

// Returns what the program prints, and the error with which it ends, if any.
std::string run_program_text(basic_team<hosted_memory>& ranks, vcode::engine engine,
                             const std::string& name, std::string_view program) {
  const vcode::written_text output, error;
  vcode::run_options how;
  how.engine = engine;
  how.strict = how.zero_timers = true;
  how.memory = std::size_t{1} << 24;
  how.output = output.stream();
  how.error = error.stream();
  std::string rest;
  try {
    const vcode::program code = vcode::compile(program, name);
    vcode::require_no_inputs(code);
    const vcode::run_result result = vcode::run_on(ranks, code, {}, how);
    for (const auto& each : result.stack) rest += vcode::to_text(each);
  } catch (const std::exception& e) {
    rest = std::string(e.what()) + "\n";
  }
  return output.text() + rest;
}

const file_in_image* find(const file_list& files, const std::string& name) {
  for (const auto& each : files)
    if (name == each.name) return &each;
  return nullptr;
}

}  // namespace

bool run_vcode(const char* line) {
  const vcode::engine engine = text::is_value(line, "engine", "spmd")      ? vcode::engine::spmd
                               : text::is_value(line, "engine", "workers") ? vcode::engine::workers
                                                                           : vcode::engine::lazy;
  const auto threads = static_cast<rank_t>(text::number_of(line, "threads", cores()));
  basic_team<hosted_memory> ranks(threads);
  checks all;
  u64 programs = 0, bytes = 0;
  const u64 begin = machine::ticks();
  file_list files;
  all.expect(read_image(files), "the file image (--file) has an entry that cannot be read");
  constexpr std::string_view ending = ".vcode";
  for (const auto& each : files) {
    const std::string name = each.name;
    if (!name.ends_with(ending)) continue;
    const std::string base = name.substr(0, name.size() - ending.size());
    const file_in_image* wanted = find(files, base + ".out");
    const std::string printed = run_program_text(ranks, engine, name, text_of(each));
    const bool is_same = wanted != nullptr && printed == text_of(*wanted);
    all.expect(is_same, base.c_str(), " prints something else: ", printed.substr(0, 200).c_str());
    ++programs;
    bytes += printed.size();
  }
  all.expect(programs > 0, "the file image (--file) has no programs");
  print("{\"type\":\"vcode\",\"threads\":", threads, ",\"programs\":", programs,
        ",\"bytes\":", bytes, ",\"", unit_of(line), "\":", machine::ticks() - begin, "}");
  return all.report("vcode");
}

}  // namespace tutti::kernel
