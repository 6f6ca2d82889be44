// SPDX-License-Identifier: Apache-2.0
// Options by CLI11, and its errors in the words of a user.
#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "cli/errors.hpp"
#include "tutti/version.h"

namespace tutti::cli {
namespace {

CLI::Option& of(void* handle) { return *static_cast<CLI::Option*>(handle); }
CLI::App& app_of(void* handle) { return *static_cast<CLI::App*>(handle); }

std::string quoted(const std::string& text) { return "'" + text + "'"; }

// CLI11 takes a word in brackets for a list, and drops the brackets. A mark before them hides them.
constexpr char mark = '\1';

std::string with_marks(std::string word, bool may_be_option) {
  const std::size_t equals = may_be_option && word.starts_with('-') ? word.find('=') : word.npos;
  const std::size_t value = equals == word.npos ? 0 : equals + 1;
  if (value < word.size() && (word[value] == '[' || word[value] == mark))
    word.insert(value, 1, mark);
  return word;
}

// The words of a command line, the last one first, as CLI11 takes them.
std::vector<std::string> marked(int argc, char** argv) {
  std::vector<std::string> words;
  bool may_be_option = true;
  for (int i = 1; i < argc; ++i) {
    words.push_back(with_marks(argv[i], may_be_option));
    may_be_option = may_be_option && words.back() != "--";
  }
  std::reverse(words.begin(), words.end());
  return words;
}

std::string without_mark(std::string word) {
  if (word.starts_with(mark)) word.erase(0, 1);
  return word;
}

// How many letters must change, come or go to make one word of the other.
std::size_t distance(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// The subcommand that was being read when an error was found.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

// ": did you mean 'barrier'?" if an option or a subcommand has nearly this name.
std::string suggestion(const std::string& word, const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(sub->get_name());
  for (const CLI::Option* each : app.get_options()) known.push_back(each->get_name());
  const std::string name = word.substr(0, word.find('='));
  const auto nearest = std::min_element(known.begin(), known.end(),
                                        [&](const std::string& one, const std::string& other) {
                                          return distance(name, one) < distance(name, other);
                                        });
  if (nearest == known.end() || distance(name, *nearest) > 1 + name.size() / 4) return {};
  return ": did you mean " + quoted(std::as_const(*nearest)) + "?";
}

std::string unknown(const std::string& word, const CLI::App& app) {
  return quoted(word) + " is not known here" + suggestion(word, innermost(app));
}

// The words that nothing has read. The mark of positional arguments is none of them.
std::vector<std::string> unread(const CLI::App& app) {
  std::vector<std::string> rest = app.remaining(true);
  std::erase(rest, "--");
  return rest;
}

std::string sentence_of(const CLI::ParseError& e, const CLI::App& app) {
  const std::string text = e.what();
  const std::string item = text.substr(text.rfind(": ") + 2);
  if (dynamic_cast<const CLI::RequiredError*>(&e) != nullptr) {
    // CLI11 misses a subcommand before it looks at what it was given instead.
    const std::vector<std::string> rest = unread(app);
    if (!rest.empty()) return unknown(rest.front(), app);
    // "files is required", or what it says of subcommands.
    constexpr std::string_view required = " is required";
    if (!text.ends_with(required) || text.starts_with("A subcommand"))
      return "a subcommand is missing";
    return "nothing is given for " + text.substr(0, text.size() - required.size());
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr) {
    const std::vector<std::string> rest = unread(app);
    return unknown(rest.empty() ? item : rest.front(), app);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&e) != nullptr) {
    const std::string name = text.substr(0, text.find(':'));
    const CLI::Option* const given = innermost(app).get_option_no_throw(name);
    const bool is_repeated = given != nullptr && given->results().size() > 1;
    return name + (is_repeated ? " is given more than once" : " needs a value");
  }
  if (dynamic_cast<const CLI::ConversionError*>(&e) != nullptr)
    return "an option has a value that it does not take: " + item;
  return text;
}

// The names of the program and of the subcommands that were read.
std::string path_of(const CLI::App& app) {
  std::string path = app.get_name();
  for (const CLI::App* sub : app.get_subcommands()) path += " " + path_of(*sub);
  return path;
}

// The status. What a full disk has not taken must not look like all there was.
int unless_output_is_lost(const std::string& program, int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return complain(program, std::string("the output could not be written: ") + std::strerror(errno),
                  failed);
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
  // Neither less nor greater than any number.
  of(handle_).check([](const std::string& text) {
    return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is no number" : std::string();
  });
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
  return option(app_of(handle_).add_option(names, value, help)->transform(without_mark));
}
option command::add_option(const std::string& names, std::optional<std::string>& value,
                           const std::string& help) {
  return option(app_of(handle_).add_option(names, value, help)->transform(without_mark));
}
option command::add_option(const std::string& names, std::vector<std::string>& value,
                           const std::string& help) {
  return option(app_of(handle_).add_option(names, value, help)->transform(without_mark));
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
  return command(app_of(handle_).add_subcommand(name, description), chosen_);
}
void command::require_subcommand() { app_of(handle_).require_subcommand(1); }
void command::runs(const std::function<int()>& action) {
  app_of(handle_).callback([action, chosen = chosen_] { *chosen = action; });
}

bool command::is_given(const std::string& name) const { return app_of(handle_).count(name) != 0; }
std::vector<std::string> command::given() const {
  std::vector<std::string> names;
  for (const CLI::Option* each : app_of(handle_).get_options())
    if (each->count() > 0) names.push_back(each->get_name());
  return names;
}

struct program::owned {
  CLI::App app;
  std::function<int()> chosen;
};

program::program(const std::string& description, const std::string& name)
    : command(nullptr, nullptr), owned_(new owned{CLI::App(description, name), {}}) {
  handle_ = &owned_->app;
  chosen_ = &owned_->chosen;
  owned_->app.set_version_flag("--version", name + " " TUTTI_VERSION_STRING);
}
program::~program() = default;

int program::run(int argc, char** argv, const std::function<int()>& action) {
  CLI::App& app = owned_->app;
  const std::string name = app.get_name();
  try {
    owned_->chosen = action;
    app.parse(marked(argc, argv));
    return unless_output_is_lost(name, owned_->chosen());
  } catch (const CLI::Success& help_or_version) {
    return unless_output_is_lost(name, app.exit(help_or_version));
  } catch (const CLI::ParseError& e) {
    std::string sentence = sentence_of(e, app);
    std::erase(sentence, mark);
    return complain(name, sentence + "; see `" + path_of(app) + " --help`", wrong_usage);
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
