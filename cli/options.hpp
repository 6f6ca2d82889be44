// SPDX-License-Identifier: Apache-2.0
// The options of a program and its subcommands, and how a program reads them and fails.
//
//   std::string threads = "2";
//   cli::program program("Measures barriers", "tutti-example");
//   program.add_option("--threads", threads, "Participants").value_name("LIST").show_default();
//   return program.run(argc, argv, [&] { return measure(threads); });
//
// The parser, CLI11, stands in options.cpp alone: its header takes four seconds to compile, in each
// source that includes it, with a precompiled header or without.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tutti::cli {

// One option of a command; it is valid as long as its program lives. The functions return the
// option itself, so that calls can be chained.
class option {
 public:
  option& required();
  // The word that --help prints for the value.
  option& value_name(const std::string& name);
  // Lets --help print the value that the variable has now.
  option& show_default();
  // Only one of both may be given.
  option& excludes(const option& other);
  // It may only be given with the other one.
  option& needs(const option& other);
  // The value must be in [least, most].
  template <class Number>
  option& between(Number least, Number most) {
    if constexpr (std::is_floating_point_v<Number>)
      return between_numbers(least, most);
    else
      return between_counts(static_cast<std::uint64_t>(least), static_cast<std::uint64_t>(most));
  }
  // The value must be one of these.
  option& one_of(const std::vector<std::string>& names);
  // `complaint` returns what is wrong with a value, or an empty string.
  option& check(const std::function<std::string(const std::string&)>& complaint);

 private:
  friend class command;
  explicit option(void* handle) noexcept : handle_(handle) {}
  option& between_numbers(double least, double most);
  option& between_counts(std::uint64_t least, std::uint64_t most);
  void* handle_;
};

// A program, or one of its subcommands. It is a handle: copies mean the same command, and it is
// valid as long as its program lives.
class command {
 public:
  // Adds an option. `names` are separated by commas, such as "--time,-t"; a name without dashes is
  // a positional argument. Parsing writes to `value`, which must live until then.
  option add_option(const std::string& names, std::string& value, const std::string& help);
  option add_option(const std::string& names, std::optional<std::string>& value,
                    const std::string& help);
  option add_option(const std::string& names, std::vector<std::string>& value,
                    const std::string& help);
  option add_option(const std::string& names, std::uint32_t& value, const std::string& help);
  option add_option(const std::string& names, std::uint64_t& value, const std::string& help);
  option add_option(const std::string& names, double& value, const std::string& help);
  // Adds an option without a value.
  option add_flag(const std::string& names, bool& value, const std::string& help);

  command add_subcommand(const std::string& name, const std::string& description);
  // One of the subcommands must be given.
  void require_subcommand();
  // Sets what the program runs if the command line names this command.
  void runs(const std::function<int()>& action);

  // After parsing: whether the command line has this option, and the names of all that it has.
  bool is_given(const std::string& name) const;
  std::vector<std::string> given() const;

 protected:
  command(void* handle, std::function<int()>* chosen) noexcept : handle_(handle), chosen_(chosen) {}
  void* handle_;
  // The action that the program runs; parsing sets it.
  std::function<int()>* chosen_;
};

// A subcommand with its options, which live as long as the program, and with the function that runs
// with them.
//
//   cli::subcommand<options> app(program, "measure", "Measures barriers", run);
//   app.add_option("--threads", app->threads, "Participants");
template <class Options>
class subcommand : public command {
 public:
  template <class Run>
  subcommand(command& parent, const std::string& name, const std::string& description, Run run)
      : command(parent.add_subcommand(name, description)), options_(std::make_shared<Options>()) {
    runs([run, o = options_] { return run(*o); });
  }
  Options* operator->() const noexcept { return options_.get(); }
  Options& options() const noexcept { return *options_; }

 private:
  std::shared_ptr<Options> options_;
};

class program : public command {
 public:
  program(const std::string& description, const std::string& name);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  // Reads the command line, then runs the action of the subcommand that it names, or `action`, and
  // returns the exit status: that of the action, success after --help and --version, wrong_usage
  // for a command line that cannot be understood or a std::invalid_argument of the action, failed
  // for another exception. It prints errors on standard error, as one sentence that begins with the
  // program's name.
  int run(int argc, char** argv, const std::function<int()>& action = {});

 private:
  struct owned;
  std::unique_ptr<owned> owned_;
};

// Prints "NAME: SENTENCE" on standard error, on one line, and returns `status`. Control characters
// are printed as \x1b, and a sentence of the library loses the name that it begins with.
int complain(const std::string& name, const std::string& sentence, int status);

}  // namespace tutti::cli
