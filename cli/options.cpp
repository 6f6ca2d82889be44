// SPDX-License-Identifier: Apache-2.0
// Options by CLI11, and its errors in the words of a user.
#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>

#include "cli/errors.hpp"
#include "tutti/version.h"

namespace tutti::cli {
namespace {

CLI::Option& of(void* handle) { return *static_cast<CLI::Option*>(handle); }
CLI::App& app_of(void* handle) { return *static_cast<CLI::App*>(handle); }

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string sentence_of(const CLI::ParseError& e, const CLI::App& app) {
  const std::string text = e.what();
  const std::string item = text.substr(text.rfind(": ") + 2);
  if (dynamic_cast<const CLI::RequiredError*>(&e) != nullptr) {
    // CLI11 misses a subcommand before it looks at what it was given instead.
    const std::vector<std::string> rest = app.remaining(true);
    if (!rest.empty()) return quoted(rest.front()) + " is not known here";
    // "files is required", or what it says of subcommands.
    constexpr std::string_view required = " is required";
    if (!text.ends_with(required) || text.starts_with("A subcommand"))
      return "a subcommand is missing";
    return "nothing is given for " + text.substr(0, text.size() - required.size());
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr)
    return quoted(item) + " is not known here";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&e) != nullptr)
    return text.substr(0, text.find(':')) + " needs a value";
  if (dynamic_cast<const CLI::ConversionError*>(&e) != nullptr)
    return "an option has a value that it does not take: " + item;
  return text;
}

// The subcommand that was being read when an error was found.
std::string path_of(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* sub : app.get_subcommands()) path += " " + path_of(*sub);
  return path;
}

}  // namespace

option& option::required() {
  of(handle_).required();
  return *this;
}
option& option::value_name(const std::string& name) {
  of(handle_).type_name(name);
  return *this;
}
option& option::show_default() {
  of(handle_).capture_default_str();
  return *this;
}
option& option::excludes(const option& other) {
  of(handle_).excludes(&of(other.handle_));
  return *this;
}
option& option::between_numbers(double least, double most) {
  of(handle_).check(CLI::Range(least, most));
  return *this;
}
option& option::between_counts(std::uint64_t least, std::uint64_t most) {
  of(handle_).check(CLI::Range(least, most));
  return *this;
}
option& option::one_of(const std::vector<std::string>& names) {
  of(handle_).check(CLI::IsMember(names));
  return *this;
}
option& option::check(const std::function<std::string(const std::string&)>& complaint) {
  of(handle_).check(complaint);
  return *this;
}

option command::add_option(const std::string& names, std::string& value, const std::string& help) {
  return option(app_of(handle_).add_option(names, value, help));
}
option command::add_option(const std::string& names, std::optional<std::string>& value,
                           const std::string& help) {
  return option(app_of(handle_).add_option(names, value, help));
}
option command::add_option(const std::string& names, std::vector<std::string>& value,
                           const std::string& help) {
  return option(app_of(handle_).add_option(names, value, help));
}
option command::add_option(const std::string& names, std::uint32_t& value,
                           const std::string& help) {
  return option(app_of(handle_).add_option(names, value, help));
}
option command::add_option(const std::string& names, std::uint64_t& value,
                           const std::string& help) {
  return option(app_of(handle_).add_option(names, value, help));
}
option command::add_option(const std::string& names, double& value, const std::string& help) {
  return option(app_of(handle_).add_option(names, value, help));
}
option command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return option(app_of(handle_).add_flag(names, value, help));
}

command command::add_subcommand(const std::string& name, const std::string& description) {
  return command(app_of(handle_).add_subcommand(name, description));
}
void command::require_subcommand() { app_of(handle_).require_subcommand(1); }
void command::when_used(const std::function<void()>& use) { app_of(handle_).callback(use); }

bool command::is_given(const std::string& name) const { return app_of(handle_).count(name) != 0; }
std::vector<std::string> command::given() const {
  std::vector<std::string> names;
  for (const CLI::Option* each : app_of(handle_).get_options())
    if (each->count() > 0) names.push_back(each->get_name());
  return names;
}

struct program::owned {
  CLI::App app;
};

program::program(const std::string& description, const std::string& name)
    : command(nullptr), owned_(new owned{CLI::App(description, name)}) {
  handle_ = &owned_->app;
  owned_->app.set_version_flag("--version", name + " " TUTTI_VERSION_STRING);
}
program::~program() = default;

int program::run(int argc, char** argv, const std::function<int()>& action) {
  CLI::App& app = owned_->app;
  const std::string name = app.get_name();
  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& e) {
    return complain(name, sentence_of(e, app) + "; see `" + path_of(app) + " --help`", wrong_usage);
  } catch (const std::invalid_argument& e) {
    return complain(name, e.what(), wrong_usage);
  } catch (const std::bad_alloc&) {
    return complain(name, "not enough memory for these data", failed);
  } catch (const std::exception& e) {
    return complain(name, e.what(), failed);
  }
}

int complain(const std::string& name, std::string sentence, int status) {
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  std::fprintf(stderr, "%s: %s\n", name.c_str(), sentence.c_str());
  return status;
}

}  // namespace tutti::cli
