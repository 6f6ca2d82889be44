// SPDX-License-Identifier: Apache-2.0
// Parses functions and instructions by recursive descent, and resolves the targets of IF and CALL.
#include "vcode/language/parser.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <unordered_map>

#include "vcode/language/lexer.hpp"
#include "vcode/language/real_number.hpp"
#include "vcode/vcode.hpp"

namespace tutti::vcode {
namespace {

constexpr std::size_t longest_name = 49;
constexpr std::int32_t deepest_reach = 65535;

struct stream_name {
  std::string_view name;
  std::int32_t value;
};
constexpr stream_name streams[] = {{"STDIN", 0}, {"STDOUT", 1}, {"STDERR", 2}, {"NULL_STREAM", -1}};

constexpr kind type_words[] = {kind::integer, kind::real, kind::boolean, kind::segdes,
                               kind::character};

kind type_word(std::string_view text) {
  for (const kind each : type_words) {
    if (text == name_of(each)) return each;
  }
  return kind::none;
}

// Returns the letter of a type word in the instruction table.
char letter_of(kind type) {
  constexpr std::string_view letters = "ifbspc";
  return letters[static_cast<std::size_t>(type)];
}

bool is_reserved(std::string_view text) {
  if (text == "FUNC" || text == "I" || text == "O" || text == "T" || text == "F") return true;
  for (const auto& each : streams) {
    if (text == each.name) return true;
  }
  return find_instruction(text) != nullptr || type_word(text) != kind::none;
}

class parser {
 public:
  parser(std::string_view text, std::string file) : lexer_(text, file, data_.warnings) {
    data_.file = std::move(file);
    take();
  }

  program_data parse() {
    if (at_.kind == token_kind::end) fail(at_, "the program is empty: expected FUNC");
    while (at_.kind != token_kind::end) parse_function();
    resolve_calls();
    return std::move(data_);
  }

 private:
  [[noreturn]] void fail(const token& where, const std::string& sentence) const {
    throw source_error(data_.file, where.where.line, where.where.column, sentence);
  }
  [[noreturn]] void expected(std::string_view what) const {
    fail(at_, fmt::format("expected {}, found {}", what, shown(at_)));
  }
  static std::string shown(const token& t) {
    switch (t.kind) {
      case token_kind::end: return "the end of the file";
      case token_kind::string: return "a string";
      default: return fmt::format("'{}'", t.text);
    }
  }
  void warn(const token& where, const std::string& sentence) {
    data_.warnings.push_back(
        fmt::format("{}:{}:{}: {}", data_.file, where.where.line, where.where.column, sentence));
  }

  token take() {
    const token taken = at_;
    at_ = lexer_.next();
    return taken;
  }
  bool at_word(std::string_view text) const {
    return at_.kind == token_kind::word && at_.text == text;
  }

  std::string function_name() {
    if (at_.kind != token_kind::word) expected("the name of a function");
    if (is_reserved(at_.text)) {
      fail(at_, fmt::format("expected the name of a function; '{}' is reserved", at_.text));
    }
    const token name = take();
    if (name.text.size() > longest_name) {
      warn(name, fmt::format("the name is cut to its first {} characters", longest_name));
    }
    return std::string(name.text.substr(0, longest_name));
  }

  void parse_function() {
    if (!at_word("FUNC")) expected("FUNC");
    const token start = take();
    const token named = at_;
    function made{function_name(), start.where, size(), 0, {}, 0};
    skip_declaration("I");
    skip_declaration("O");
    parse_body();
    made.end = size();

    const auto index = static_cast<std::uint32_t>(data_.functions.size());
    const auto [found, is_new] = by_name_.try_emplace(made.name, index);
    if (!is_new) {
      if (made.name == "MAIN") fail(named, "function MAIN is defined twice");
      warn(named,
           fmt::format("function {} is defined again; the later definition counts", made.name));
      if (data_.entry == found->second) data_.entry = index;
      found->second = index;
    }
    if (made.name == "MAIN") data_.entry = index;
    data_.functions.push_back(std::move(made));
  }

  // Skips the types in a declaration: the verifier infers them.
  void skip_declaration(std::string_view letter) {
    if (!at_word(letter)) return;
    take();
    while (at_.kind == token_kind::word && type_word(at_.text) != kind::none) take();
  }

  void parse_body() {
    open_.clear();
    while (true) {
      if (at_.kind != token_kind::word) expected("an instruction");
      const instruction_info* found = find_instruction(at_.text);
      if (found == nullptr) expected("an instruction or RET");
      const token name = take();
      instruction made;
      made.code = found->code;
      made.where = name.where;
      parse_operands(*found, name, made);
      if (found->code == opcode::branch_else || found->code == opcode::end_if) {
        close_branch(found->code, name);
      }
      if (found->code == opcode::branch_if || found->code == opcode::branch_else) {
        open_.push_back(size());
      }
      data_.code.push_back(made);
      if (found->code == opcode::ret) break;
    }
    if (!open_.empty()) {
      const instruction& unclosed = data_.code[open_.back()];
      throw source_error(data_.file, unclosed.where.line, unclosed.where.column,
                         fmt::format("this {} has no ENDIF before RET", info(unclosed.code).name));
    }
  }

  // Sets the target of the open IF or ELSE to the instruction after this one.
  void close_branch(opcode code, const token& name) {
    if (open_.empty()) fail(name, fmt::format("this {} has no IF", name.text));
    instruction& opener = data_.code[open_.back()];
    if (code == opcode::branch_else && opener.code == opcode::branch_else) {
      fail(name, "this IF already has an ELSE");
    }
    opener.first = static_cast<std::int32_t>(size() + 1);
    open_.pop_back();
  }

  void parse_operands(const instruction_info& which, const token& name, instruction& made) {
    switch (which.code) {
      case opcode::copy:
      case opcode::pop:
      case opcode::cpop:
        made.first = parse_reach("a count");
        made.second = parse_reach("a depth");
        return;
      case opcode::call: made.first = parse_callee(); return;
      case opcode::constant: made.first = parse_constant(); return;
      default: break;
    }
    if (which.types.empty()) return;
    made.type = at_.kind == token_kind::word ? type_word(at_.text) : kind::none;
    if (made.type == kind::none) {
      expected(fmt::format("a type after {}: {}", name.text, choices(which.types)));
    }
    if (which.types.find(letter_of(made.type)) == std::string_view::npos) {
      fail(at_,
           fmt::format("{} does not take {}, only {}", name.text, at_.text, choices(which.types)));
    }
    take();
  }

  static std::string choices(std::string_view letters) {
    std::string text;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (i > 0) text += i + 1 == letters.size() ? " or " : ", ";
      text += name_of(kind_of(letters[i], kind::none));
    }
    return text;
  }

  std::int32_t parse_reach(std::string_view what) {
    if (at_.kind != token_kind::integer) expected(fmt::format("{}, a whole number", what));
    const std::int64_t number = parse_long(at_);
    if (number < 0 || number > deepest_reach) {
      fail(at_, fmt::format("expected {} from 0 to {}, found {}", what, deepest_reach, at_.text));
    }
    take();
    return static_cast<std::int32_t>(number);
  }

  std::int32_t parse_callee() {
    const token where = at_;
    calls_.push_back({size(), where, function_name()});
    return 0;
  }

  std::int64_t parse_long(const token& t) const {
    // from_chars accepts no plus sign.
    const std::size_t plus = t.text[0] == '+' ? 1 : 0;
    std::int64_t number = 0;
    const auto [end, error] =
        std::from_chars(t.text.data() + plus, t.text.data() + t.text.size(), number);
    if (error != std::errc()) fail(t, fmt::format("{} has more than 64 bits", t.text));
    return number;
  }

  std::int32_t parse_constant() {
    const kind type = at_.kind == token_kind::word ? type_word(at_.text) : kind::none;
    if (type == kind::none) expected("the type of the constant");
    take();
    constant_data made;
    made.type = type;
    if (type == kind::character) {
      made.type = kind::integer;
      parse_string(made);
    } else if (at_.kind == token_kind::open) {
      // CONST SEGDES takes one length without parentheses, as in the original; MAKE_SEGDES makes
      // several segments.
      if (type == kind::segdes) {
        fail(at_, "CONST SEGDES takes one number; MAKE_SEGDES makes several segments");
      }
      take();
      while (at_.kind != token_kind::close) parse_element(made);
      take();
    } else {
      parse_element(made);
    }
    data_.constants.push_back(std::move(made));
    return static_cast<std::int32_t>(data_.constants.size() - 1);
  }

  void parse_string(constant_data& made) {
    if (at_.kind != token_kind::string) expected("a string");
    // Bytes above 127 become negative, because plain char is signed on the original's machines.
    for (const char c : take().text) made.integers.push_back(static_cast<signed char>(c));
  }

  void parse_element(constant_data& made) {
    switch (made.type) {
      case kind::real:
        if (at_.kind != token_kind::real) expected("a FLOAT such as 1.0 or -2.5e3");
        // The lexer has checked the text.
        made.reals.push_back(read_real(at_.text).value_or(0));
        break;
      case kind::boolean:
        if (!at_word("T") && !at_word("F")) expected("T or F");
        made.integers.push_back(at_.text == "T" ? 1 : 0);
        break;
      case kind::segdes:
        if (at_.kind != token_kind::integer) expected("the length of the segment");
        if (const std::int64_t length = parse_long(at_); length < 0 || length > INT32_MAX) {
          fail(at_, fmt::format("a segment cannot have the length {}", at_.text));
        }
        made.integers.push_back(static_cast<std::int32_t>(parse_long(at_)));
        break;
      default: made.integers.push_back(parse_integer());
    }
    take();
  }

  std::int32_t parse_integer() {
    if (at_.kind == token_kind::word) {
      for (const auto& each : streams) {
        if (at_.text == each.name) return each.value;
      }
    }
    if (at_.kind != token_kind::integer) expected("an INT");
    // The number wraps.
    const std::int64_t number = parse_long(at_);
    const auto kept = static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
    if (kept != number) {
      warn(at_, fmt::format("{} has more than 32 bits; the INT is {}", at_.text, kept));
    }
    return kept;
  }

  void resolve_calls() {
    for (const auto& each : calls_) {
      const auto found = by_name_.find(each.name);
      if (found == by_name_.end()) {
        fail(each.where, fmt::format("there is no function {}", each.name));
      }
      data_.code[each.at].first = static_cast<std::int32_t>(found->second);
    }
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(data_.code.size()); }

  struct unresolved {
    std::uint32_t at;
    token where;
    std::string name;
  };

  program_data data_;
  lexer lexer_;
  token at_;
  // IF and ELSE instructions whose end has not been read yet.
  std::vector<std::uint32_t> open_;
  std::vector<unresolved> calls_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
};

}  // namespace

program_data parse(std::string_view text, std::string file) {
  return parser(text, std::move(file)).parse();
}

const function& program_data::function_of(std::size_t at) const {
  std::size_t index = 0;
  while (index + 1 < functions.size() && functions[index + 1].begin <= at) ++index;
  return functions[index];
}

}  // namespace tutti::vcode
