// SPDX-License-Identifier: Apache-2.0
// Options by CLI11, and its errors in the words of a user.
#include "cli/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "cli/errors.hpp"
#include "cli/help.hpp"
#include "cli/lists.hpp"
#include "tutti/version.h"

namespace tutti::cli {
namespace {

CLI::Option& of(void* handle) { return *static_cast<CLI::Option*>(handle); }
CLI::App& app_of(void* handle) { return *static_cast<CLI::App*>(handle); }

constexpr const char* a_number = "a number";
constexpr const char* a_whole_number = "a whole number";

// What is wrong with the value of an option that takes a number, or an empty string.
template <class Number>
std::string complaint_about(const std::string& text, Number least, Number most, const char* kind) {
  Number number{};
  if (read_number(text, number) && number >= least && number <= most) return {};
  return fmt::format("'{}' is not {} from {} to {}", text, kind, least, most);
}

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

// The subcommand that was being read when an error was found.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

std::string unknown(const std::string& word, const CLI::App& app) {
  const CLI::App& here = innermost(app);
  std::vector<std::string> known;
  for (const CLI::App* sub : here.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(sub->get_name());
  for (const CLI::Option* each : here.get_options()) known.push_back(each->get_name());
  return quoted(word) + " is not known here" + suggestion(word.substr(0, word.find('=')), known);
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

// What --help says of an option behind its meaning. It stands where CLI11 has the text of the
// option that its own pages of help print.
void add_note(CLI::Option& option, const std::string& note) {
  const std::string& before = option.get_option_text();
  option.option_text(before.empty() ? note : before + "; " + note);
}

class help_pages final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string path,
                        CLI::AppFormatMode /*mode*/) const override {
    const std::size_t columns = help_columns();
    std::string page = wrapped(app->get_description(), columns) + "\n";
    std::vector<help_row> positional, options, subcommands;
    std::string words;
    for (const CLI::Option* each : app->get_options()) {
      if (!each->get_positional()) {
        options.push_back({with_value(*each), meaning_of(*each, *app)});
        continue;
      }
      positional.push_back({each->get_name(), meaning_of(*each, *app)});
      const std::string word =
          each->get_name() +
          (each->get_expected_max() >= CLI::detail::expected_max_vector_size ? "..." : "");
      words += each->get_required() ? " " + word : " [" + word + "]";
    }
    for (const CLI::App* each : app->get_subcommands([](const CLI::App*) { return true; }))
      subcommands.push_back({each->get_name(), each->get_description()});
    if (!subcommands.empty())
      words += app->get_require_subcommand_min() == 0 ? " [SUBCOMMAND]" : " SUBCOMMAND";
    page += wrapped("Usage: " + path + " [OPTIONS]" + words, columns, 0, 7) + "\n";
    for (const auto& [title, rows] :
         {std::pair{"Positionals", &positional}, std::pair{"Options", &options},
          std::pair{"Subcommands", &subcommands}})
      if (!rows->empty()) page += std::string("\n") + title + ":\n" + two_columns(*rows, columns);
    return page;
  }

 private:
  static std::string with_value(const CLI::Option& option) {
    const std::string name = option.get_name(false, true);
    return option.get_type_size() == 0 ? name : name + " " + option.get_type_name();
  }
  // The meaning, and in brackets what it may be and what it is unless it is given.
  static std::string meaning_of(const CLI::Option& option, const CLI::App& app) {
    std::vector<std::string> notes;
    if (!option.get_option_text().empty()) notes.push_back(option.get_option_text());
    if (!option.get_default_str().empty()) notes.push_back("default: " + option.get_default_str());
    const auto named = [&app](const std::set<CLI::Option*>& some) {
      std::string names;
      for (const CLI::Option* each : app.get_options())
        if (some.count(const_cast<CLI::Option*>(each)) > 0)
          names += (names.empty() ? "" : ", ") + each->get_name();
      return names;
    };
    if (!option.get_excludes().empty()) notes.push_back("not with " + named(option.get_excludes()));
    if (!option.get_needs().empty()) notes.push_back("only with " + named(option.get_needs()));
    std::string meaning = option.get_description();
    // What a text itself says of the default stands in the same brackets.
    const bool is_open =
        meaning.ends_with(')') && meaning.substr(meaning.rfind('(') + 1).starts_with("default");
    if (is_open && !notes.empty()) meaning.pop_back();
    for (std::size_t i = 0; i < notes.size(); ++i)
      meaning += (i > 0 || is_open ? "; " : " (") + notes[i];
    return notes.empty() ? meaning : meaning + ")";
  }
};

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
option& option::needs(const option& other) {
  of(handle_).needs(&of(other.handle_));
  return *this;
}
option& option::between_numbers(double least, double most) {
  add_note(of(handle_), fmt::format("{} to {}", least, most));
  return check(
      [=](const std::string& text) { return complaint_about(text, least, most, a_number); });
}
option& option::between_counts(std::uint64_t least, std::uint64_t most) {
  add_note(of(handle_), fmt::format("{} to {}", least, most));
  return check(
      [=](const std::string& text) { return complaint_about(text, least, most, a_whole_number); });
}
option& option::one_of(const std::vector<std::string>& names) {
  of(handle_).type_name(fmt::format("{}", fmt::join(names, "|")));
  return check([names](const std::string& text) {
    if (std::find(names.begin(), names.end(), text) != names.end()) return std::string();
    return fmt::format("'{}' is not one of {}{}", text, fmt::join(names, ", "),
                       suggestion(text, names));
  });
}
option& option::check(const std::function<std::string(const std::string&)>& complaint) {
  of(handle_).check(complaint);
  return *this;
}

namespace {

// An option that nothing is given for is not the same as one that is not given.
template <class Text>
CLI::Option* add_text(CLI::App& app, const std::string& names, Text& value,
                      const std::string& help) {
  CLI::Option* const made = app.add_option(names, value, help)->type_name("TEXT");
  made->transform(without_mark);
  if (names.starts_with('-'))
    made->check([](const std::string& text) {
      return text.empty() ? std::string("the value is empty") : std::string();
    });
  return made;
}

// CLI11 would read numbers as C does: 010 as eight, and -1 as the largest one.
template <class Number>
CLI::Option* add_number(CLI::App& app, const std::string& names, Number& value,
                        const std::string& help, const char* kind) {
  CLI::Option* const made = app.add_option(
      names, [&value](const CLI::results_t& words) { return read_number(words.front(), value); },
      help, false, [&value] { return fmt::format("{}", value); });
  made->type_name(std::is_floating_point_v<Number> ? "NUMBER" : "N");
  made->check([kind](const std::string& text) {
    Number number{};
    return read_number(text, number) ? std::string() : fmt::format("'{}' is not {}", text, kind);
  });
  return made;
}

}  // namespace

option command::add_option(const std::string& names, std::string& value, const std::string& help) {
  return option(add_text(app_of(handle_), names, value, help));
}
option command::add_option(const std::string& names, std::optional<std::string>& value,
                           const std::string& help) {
  return option(add_text(app_of(handle_), names, value, help));
}
option command::add_option(const std::string& names, std::vector<std::string>& value,
                           const std::string& help) {
  CLI::Option* const made = add_text(app_of(handle_), names, value, help);
  // An option that may be given more than once takes one word each time: the next one may be a
  // positional argument.
  if (names.starts_with('-')) made->allow_extra_args(false);
  return option(made);
}
option command::add_option(const std::string& names, std::uint32_t& value,
                           const std::string& help) {
  return option(add_number(app_of(handle_), names, value, help, a_whole_number));
}
option command::add_option(const std::string& names, std::uint64_t& value,
                           const std::string& help) {
  return option(add_number(app_of(handle_), names, value, help, a_whole_number));
}
option command::add_option(const std::string& names, double& value, const std::string& help) {
  return option(add_number(app_of(handle_), names, value, help, a_number));
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
  owned_->app.formatter(std::make_shared<help_pages>());
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

int complain(const std::string& name, const std::string& sentence, int status) {
  // The library begins its sentences with its own name.
  constexpr std::string_view own = "tutti: ";
  std::string line;
  for (const char c : sentence.starts_with(own) ? sentence.substr(own.size()) : sentence) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      line += ' ';
    else if (byte < 0x20 || byte == 0x7f)
      line += fmt::format("\\x{:02x}", byte);
    else
      line += c;
  }
  std::fprintf(stderr, "%s: %s\n", name.c_str(), line.c_str());
  return status;
}

}  // namespace tutti::cli
