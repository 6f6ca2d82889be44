// SPDX-License-Identifier: Apache-2.0
// The program `tutti`: its options, and how its errors are told.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "cli/errors.hpp"
#include "command/subcommands.hpp"
#include "tutti/version.h"

namespace {

using namespace tutti::command;
namespace cli = tutti::cli;

int complain(std::string sentence, int status) {
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  fmt::print(stderr, "tutti: {}\n", sentence);
  return status;
}

// The parser's errors in the words of a user.
std::string sentence_of(const CLI::ParseError& e) {
  const std::string text = e.what();
  const std::string item = text.substr(text.rfind(": ") + 2);
  if (dynamic_cast<const CLI::RequiredError*>(&e) != nullptr) {
    // "files is required", or what it says of subcommands.
    constexpr std::string_view rest = " is required";
    if (!text.ends_with(rest) || text.starts_with("A subcommand")) return "a subcommand is missing";
    return fmt::format("nothing is given for {}", text.substr(0, text.size() - rest.size()));
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr) {
    return fmt::format("'{}' is not known here", item);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&e) != nullptr) {
    return fmt::format("{} needs a value", text.substr(0, text.find(':')));
  }
  if (dynamic_cast<const CLI::ConversionError*>(&e) != nullptr) {
    return fmt::format("a flag has a value that it does not take: {}", item);
  }
  return text;
}

// The subcommand that was being read when an error was found.
std::string path_of(const CLI::App* app) {
  std::string path = app->get_name();
  for (const auto* sub : app->get_subcommands()) path += " " + path_of(sub);
  return path;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Synchronization from core to cluster", "tutti");
  program.set_version_flag("--version", "tutti " TUTTI_VERSION_STRING);
  program.require_subcommand(1);
  action chosen;
  add_info(program, chosen);
  add_vcode(program, chosen);
  add_graph(program, chosen);
  CLI::App* bench = program.add_subcommand("bench", "Measure tutti and its peers side by side");
  bench->require_subcommand(1);
  add_bench_barrier(*bench, chosen);
  add_bench_team(*bench, chosen);
  add_bench_reduce(*bench, chosen);
  add_bench_instruction(*bench, chosen);
  add_bench_vcode(*bench, chosen);
  add_bench_idle(*bench, chosen);
  add_bench_message(*bench, chosen);

  try {
    program.parse(argc, argv);
    return chosen();
  } catch (const CLI::Success& success_request) {  // --help, --version
    return program.exit(success_request);
  } catch (const CLI::ParseError& e) {
    return complain(fmt::format("{}; see `{} --help`", sentence_of(e), path_of(&program)),
                    cli::wrong_usage);
  } catch (const std::invalid_argument& e) {
    return complain(e.what(), cli::wrong_usage);
  } catch (const std::exception& e) {
    return complain(e.what(), cli::failed);
  }
}
