// SPDX-License-Identifier: Apache-2.0
// The program tutti_model: checks all subjects, or some, and prints the results as text, JSON lines
// or Markdown.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/json.hpp"
#include "cli/options.hpp"
#include "tests/model/verdict.hpp"

namespace tutti::model {
namespace {

enum class format { text, json, markdown };

struct options {
  effort how;
  std::vector<std::string> only;
  std::size_t share = 1, shares = 1;
  format as = format::text;
  // The page whose tables must have every row; empty: none is compared.
  std::string compare;
};

struct catches {
  std::map<std::string, std::size_t> errors;
  std::size_t caught = 0, excused = 0;
  std::uint64_t latest = 0;

  explicit catches(const report& r) {
    for (const trial& t : r.trials) {
      caught += t.is_caught;
      excused += t.excuse != nullptr;
      if (t.is_caught) ++errors[t.error];
      latest = std::max(latest, t.execution);
    }
  }
  std::string kinds() const {
    std::string text;
    for (const auto& [error, count] : errors)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + error;
    return text;
  }
};

std::string text_of(const mutant& m) {
  return std::string(m.original.name) + ": " + std::string(name_of(m.original.order)) + " -> " +
         std::string(name_of(m.weakened));
}

void print_text(const report& r) {
  const catches c(r);
  std::printf("%-18s %zu executions of %zu programs: %s\n", r.subject.c_str(),
              static_cast<std::size_t>(r.executions), static_cast<std::size_t>(r.programs),
              r.failure.empty() ? "no error" : r.failure.c_str());
  std::printf("%-18s %zu orders, %zu weakened, %zu caught (%s), %zu excused\n", "", r.sites.size(),
              r.trials.size(), c.caught, c.kinds().c_str(), c.excused);
  for (const trial& t : r.trials) {
    if (t.is_caught && t.excuse == nullptr) continue;
    const char* what = !t.is_caught && t.excuse == nullptr ? "NOT CAUGHT"
                       : t.is_caught                       ? "EXCUSED BUT CAUGHT"
                                                           : "excused";
    std::printf("%-18s   %s: %s%s%s\n", "", what, text_of(t.what).c_str(),
                t.excuse == nullptr ? "" : ": ",
                t.excuse == nullptr ? "" : std::string(t.excuse->reason).c_str());
  }
}

void print_json(const report& r) {
  cli::json line{{"type", "model"},          {"subject", r.subject},
                 {"programs", r.programs},   {"executions", r.executions},
                 {"exhausted", r.exhausted}, {"orders", r.sites.size()},
                 {"failure", r.failure},     {"ok", r.is_right()}};
  for (const trial& t : r.trials) {
    cli::json entry{{"site", t.what.original.name},
                    {"order", name_of(t.what.original.order)},
                    {"weakened", name_of(t.what.weakened)},
                    {"caught", t.is_caught}};
    if (t.is_caught)
      entry.update({{"error", t.error}, {"program", t.program}, {"execution", t.execution}});
    if (t.excuse != nullptr) entry["reason"] = t.excuse->reason;
    line["mutants"].push_back(std::move(entry));
  }
  std::printf("%s\n", line.dump().c_str());
}

// The rows of docs/model-checking.md.
std::string row_of(const report& r) {
  const catches c(r);
  return "| " + r.subject + " | " + std::to_string(r.executions) + " | " +
         std::to_string(r.sites.size()) + " | " + std::to_string(r.trials.size()) + " | " +
         std::to_string(c.caught) + " | " + c.kinds() + " | " + std::to_string(c.latest) + " |" +
         (r.is_right() ? "" : " FAILED");
}

std::string row_of(const control_report& c) {
  return "| " + c.name + " | " + (c.error.empty() ? "not seen" : c.error) + " | " +
         std::to_string(c.execution) + " |";
}

void print(const report& r, format as) {
  switch (as) {
    case format::text: print_text(r); break;
    case format::json: print_json(r); break;
    case format::markdown: std::printf("%s\n", row_of(r).c_str()); break;
  }
  std::fflush(stdout);
}

void print(const control_report& c, format as) {
  const char* seen = c.error.empty() ? "not seen" : c.error.c_str();
  switch (as) {
    case format::text:
      std::printf("control: %s: %s in execution %zu; without the mistake: %s\n", c.name.c_str(),
                  seen, static_cast<std::size_t>(c.execution),
                  c.is_sound_passed ? "no error" : "AN ERROR");
      break;
    case format::json: {
      const cli::json line{{"type", "control"},
                           {"mistake", c.name},
                           {"error", c.error},
                           {"execution", c.execution},
                           {"ok", c.is_right()}};
      std::printf("%s\n", line.dump().c_str());
      break;
    }
    case format::markdown: std::printf("%s\n", row_of(c).c_str()); break;
  }
}

std::vector<subject> every_subject() {
  std::vector<subject> every = algorithm_subjects();
  for (auto more : {barrier_subjects, reduction_subjects, region_subjects, message_subjects,
                    event_subjects, eventcount_subjects, shared_subjects, task_barrier_subjects})
    for (subject& s : more()) every.push_back(std::move(s));
  return every;
}

// The subjects of this run.
std::vector<subject> chosen(const options& o) {
  std::vector<subject> mine, every = every_subject();
  for (std::size_t i = 0; i < every.size(); ++i) {
    const bool is_named =
        o.only.empty() || std::find(o.only.begin(), o.only.end(), every[i].name) != o.only.end();
    if (is_named && i % o.shares == o.share - 1) mine.push_back(std::move(every[i]));
  }
  return mine;
}

std::string why_no_subject(const std::string& name) {
  std::string names;
  for (const subject& s : every_subject()) {
    if (s.name == name) return {};
    names += " " + s.name;
  }
  return "'" + name + "' is none of" + names;
}

std::vector<control> every_control() {
  std::vector<control> every = litmus_tests();
  for (auto more : {controls, bugs_of_others})
    for (control& c : more()) every.push_back(std::move(c));
  return every;
}

void print_excuses(format as) {
  if (as == format::markdown && !exceptions().empty())
    std::printf("\n| order that may be weaker | to | why it stands |\n|---|---|---|\n");
  for (const exception& e : exceptions()) {
    const std::string site(e.site), weakened(e.weakened), reason(e.reason);
    if (as == format::markdown)
      std::printf("| `%s` | %s | %s |\n", site.c_str(), weakened.c_str(), reason.c_str());
    if (as == format::json)
      std::printf(
          "%s\n",
          cli::json{
              {"type", "exception"}, {"site", site}, {"weakened", weakened}, {"reason", reason}}
              .dump()
              .c_str());
  }
}

// The lines of the page that `--compare` names.
class page {
 public:
  explicit page(const std::string& path) : path_(path) {
    if (path.empty()) return;
    std::ifstream file(path);
    if (!file) throw std::runtime_error(path + " cannot be read");
    for (std::string line; std::getline(file, line);) lines_.insert(line);
  }

  // Whether the row stands in the page; true without a page.
  bool has(const std::string& row) const {
    if (path_.empty() || lines_.count(row) != 0) return true;
    std::fprintf(stderr, "tutti_model: %s does not have this row: %s\n", path_.c_str(),
                 row.c_str());
    return false;
  }

 private:
  std::string path_;
  std::set<std::string> lines_;
};

int run(const options& o) {
  const bool is_markdown = o.as == format::markdown;
  const page compared(o.compare);
  bool is_right = true;
  if (is_markdown)
    std::printf(
        "| subject | executions | orders | weakened | caught | as | latest catch |\n"
        "|---|--:|--:|--:|--:|---|--:|\n");
  for (const subject& s : chosen(o)) {
    const report r = judge(s, o.how);
    print(r, o.as);
    is_right = compared.has(row_of(r)) && r.is_right() && is_right;
  }
  print_excuses(o.as);
  if (!o.only.empty() || o.share != 1) return is_right ? 0 : 1;

  if (is_markdown)
    std::printf("\n| mistake put in on purpose | seen as | in execution |\n|---|---|--:|\n");
  for (const control& c : every_control()) {
    const control_report r = judge(c, o.how);
    print(r, o.as);
    is_right = compared.has(row_of(r)) && r.is_right() && is_right;
  }
  return is_right ? 0 : 1;
}

}  // namespace
}  // namespace tutti::model

int main(int argc, char** argv) {
  using namespace tutti::model;
  options o;
  std::string share = "1/1";
  bool json = false, markdown = false;
  tutti::cli::program app(
      "Explores every barrier under a relaxed memory model, as written and with each memory "
      "order weakened in turn.",
      "tutti_model");
  app.add_option("--executions", o.how.executions, "random executions of each program as written")
      .between(std::uint64_t{1}, UINT64_MAX)
      .show_default();
  app.add_option("--mutant-executions", o.how.mutant_executions,
                 "random executions of each program with a weakened order")
      .between(std::uint64_t{1}, UINT64_MAX)
      .show_default();
  app.add_option("--bounded-executions", o.how.bounded_executions,
                 "systematic executions of each program as written")
      .show_default();
  app.add_option("--preemptions", o.how.preemptions, "preemptions in a systematic execution")
      .show_default();
  app.add_option("--only", o.only, "subjects: algorithms of the registry, tutti::barrier, sleepers")
      .check(why_no_subject);
  app.add_option("--share", share, "I/K: the I-th of K shares of the subjects")
      .check([](const std::string& text) {
        std::size_t i = 0, k = 0;
        const bool is_good = std::sscanf(text.c_str(), "%zu/%zu", &i, &k) == 2 && 1 <= i && i <= k;
        return is_good ? std::string() : "'" + text + "' is not I/K with 1 <= I <= K";
      });
  app.add_option("--compare", o.compare,
                 "a page: fail if its tables lack a row that --markdown would print");
  const tutti::cli::option as_json = app.add_flag("--json", json, "print one JSON object per line");
  app.add_flag("--markdown", markdown, "print the tables of docs/model-checking.md")
      .excludes(as_json);
  return app.run(argc, argv, [&] {
    std::sscanf(share.c_str(), "%zu/%zu", &o.share, &o.shares);
    o.as = json ? format::json : markdown ? format::markdown : format::text;
    return run(o);
  });
}
