// SPDX-License-Identifier: Apache-2.0
// Starts peers with posix_spawn and talks to them over pipes.
#include "bench/harness/worker.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <stdexcept>

#include "bench/harness/placement.hpp"
#include "bench/harness/protocol.hpp"

extern "C" char** environ;

namespace tutti::bench {
namespace {

using cli::json;

std::vector<std::string> merged_environment(const environment& settings) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    // The worker's name says how its OpenMP runtime waits; the caller's own settings of the runtime
    // would change that.
    if (name.starts_with("OMP_") || name.starts_with("GOMP_") || name.starts_with("KMP_")) continue;
    merged.push_back(text);
  }
  for (const auto& [name, value] : settings) merged.push_back(name + "=" + value);
  return merged;
}

struct pipe_ends {
  int read = -1, write = -1;
};

pipe_ends make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("a pipe cannot be made");
  return {ends[0], ends[1]};
}

}  // namespace

worker::worker(const std::vector<std::string>& command, const environment& settings)
    : executable_(command.at(0)) {
  signal(SIGPIPE,
         SIG_IGN);  // a peer that has ended is an error of this peer, not the end of the run
  const pipe_ends request = make_pipe();
  const pipe_ends answer = make_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, request.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, answer.write, STDOUT_FILENO);

  std::vector<std::string> variables = merged_environment(settings);
  std::vector<char*> envp;
  for (auto& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  std::vector<std::string> words = command;
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const int error =
      posix_spawn(&pid_, executable_.c_str(), &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  close(request.read);
  close(answer.write);
  to_ = fdopen(request.write, "w");
  from_ = fdopen(answer.read, "r");
  if (error != 0) {
    pid_ = -1;
    fclose(to_);
    fclose(from_);
    throw std::runtime_error(
        fmt::format("{} cannot be started ({})", executable_, strerror(error)));
  }
}

worker::~worker() {
  fclose(to_);  // the peer reads the end of its input and leaves
  fclose(from_);
  waitpid(pid_, nullptr, 0);
}

std::string worker::ask(const std::string& line) {
  std::string answer;
  const bool sent = fputs(line.c_str(), to_) >= 0 && fputc('\n', to_) != EOF && fflush(to_) == 0;
  for (int c = 0; sent && (c = fgetc(from_)) != EOF && c != '\n';) {
    answer.push_back(static_cast<char>(c));
  }
  if (answer.empty()) throw std::runtime_error(executable_ + " ended unexpectedly");
  return answer;
}

json worker::request(const json& asked) {
  json answer = json::parse(ask(asked.dump()));
  if (answer.contains("error")) throw std::runtime_error(answer["error"].get<std::string>());
  return answer;
}

round_outcome worker::run(const round_request& round) {
  return request({{"round", round}}).at("outcome").get<round_outcome>();
}

std::string worker::check(const round_request& round) {
  return request({{"check", round}}).at("fault").get<std::string>();
}

int answer_requests(const std::function<json(const json&)>& answer) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The CPUs that this process may use are read before the first round, which binds this thread.
  (void)allowed_cpus();
  std::string line;
  while (std::getline(std::cin, line)) {
    json reply;
    try {
      reply = answer(json::parse(line));
    } catch (const std::exception& e) {
      reply = {{"error", e.what()}};
    }
    std::cout << reply.dump() << std::endl;
  }
  return 0;
}

}  // namespace tutti::bench
