// SPDX-License-Identifier: Apache-2.0
// The program `tutti-phylo`: its subcommands, and how it reports errors.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "tutti/version.h"
#include "workloads/phylo/program/commands.hpp"

namespace {

// A file or the machine prevented it.
constexpr int failed = 1;
// An option or a value is wrong.
constexpr int wrong_usage = 2;

int complain(std::string sentence, int status) {
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  fmt::print(stderr, "tutti-phylo: {}\n", sentence);
  return status;
}

// CLI11 reports a missing subcommand before it looks at the word that it was given instead.
std::string sentence_of(const CLI::ParseError& e, const CLI::App& app) {
  const std::vector<std::string> rest = app.remaining(true);
  const bool misses = dynamic_cast<const CLI::RequiredError*>(&e) != nullptr;
  if (misses && !rest.empty()) return fmt::format("'{}' is not known here", rest.front());
  return e.what();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tutti::phylo::program;
  CLI::App app(
      "Phylogenetic likelihood: a program of thousands of small parallel regions per second",
      "tutti-phylo");
  app.set_version_flag("--version", "tutti-phylo " TUTTI_VERSION_STRING);
  app.require_subcommand(1);
  action chosen;
  add_evaluate(app, chosen);
  add_optimize(app, chosen);
  add_rates(app, chosen);
  add_simulate(app, chosen);
  try {
    app.parse(argc, argv);
    chosen();
    return 0;
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& e) {
    return complain(fmt::format("{}; see `tutti-phylo --help`", sentence_of(e, app)), wrong_usage);
  } catch (const std::invalid_argument& e) {
    return complain(e.what(), wrong_usage);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory for these data", failed);
  } catch (const std::exception& e) {
    return complain(e.what(), failed);
  }
}
