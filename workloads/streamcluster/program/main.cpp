// SPDX-License-Identifier: Apache-2.0
// The program tutti-streamcluster: its options, and how it reports errors.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "bench/harness/placement.hpp"
#include "cli/errors.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "src/graph/write/atomic_file.hpp"
#include "workloads/streamcluster/output.hpp"
#include "workloads/streamcluster/program/sweep.hpp"

namespace {

using namespace tutti::streamcluster;
namespace cli = tutti::cli;

struct outputs {
  std::string file;
  bool json = false;
};

int run(const request& r, const outputs& to) {
  const plan p = make_plan(r);
  // A place where nothing can be written is reported before the long computation.
  std::optional<tutti::graph::atomic_file> file;
  if (!to.file.empty()) file.emplace(to.file);
  sweep s;
  {
    cli::progress_line line;
    s = run_plan(p, [&](const std::string& what, double part) { line.update(what, part); });
  }
  fmt::print("{}", to.json ? json_lines(p, s) : table(p, s));
  // A failure to write the file does not lose the result.
  std::fflush(stdout);
  if (file) {
    file->stream() << to_text(s.found);
    file->commit();
  }
  return cli::success;
}

void add_options(cli::command& app, request& r, outputs& to) {
  const auto add = [&app](const char* name, std::string& value, const char* kind,
                          const char* help) {
    app.add_option(name, value, help).value_name(kind).show_default();
  };
  add("--input", r.input, "NAME|FILE",
      "simsmall, simmedium, simlarge, native: generated, as in PARSEC; or a file of points");
  add("--format", r.format, "NAME", "Format of the file: text, npy, raw (float32), or auto");
  add("--threads", r.threads, "LIST", "Numbers of threads, e.g. 1,2,4");
  add("--ranks", r.ranks, "N", "Number of ranks on these threads (default: one per thread)");
  add("--barrier", r.barriers, "LIST",
      "Barriers: names that `tutti info` lists, pthread, std, or all");
  add("--wait", r.wait, "NAME", "Wait policy of tutti's barriers");
  add("--seed", r.seed, "N", "Seed of the generated points and of the search");
  add("--repeat", r.repeat, "N",
      "Number of runs of each barrier and number of threads, interleaved");
  add("--output", to.file, "FILE", "Write the centres to this file: position, weight, coordinates");
  add("--points", r.points, "N", "Number of points, instead of the generated input's");
  add("--dimensions", r.dimensions, "N",
      "Coordinates of a point, instead of the generated input's; or those of the file");
  add("--k-min", r.k_min, "N", "Least number of centres (default: the input's, or 10)");
  add("--k-max", r.k_max, "N", "Largest number of centres (default: the input's, or 20)");
  add("--chunk", r.chunk, "N", "Points in memory at a time (default: the input's, or 16384)");
  add("--limit", r.limit, "N", "Centres to keep of earlier chunks (default: the input's, or 1000)");
  app.add_flag("--json", to.json, "Print one JSON object per line instead of the table");
}

}  // namespace

int main(int argc, char** argv) {
  cli::program program(
      "Clusters a stream of points. There is a barrier between any two decisions, so this measures "
      "the barrier too",
      "tutti-streamcluster");
  request r;
  r.threads = std::to_string(tutti::bench::allowed_cores().size());
  outputs to;
  add_options(program, r, to);
  return program.run(argc, argv, [&] { return run(r, to); });
}
