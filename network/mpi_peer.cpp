// SPDX-License-Identifier: Apache-2.0
#include "network/mpi_peer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "cli/end_with_parent.hpp"

namespace tutti::network {
namespace {

// How an MPI is started so that its ranks talk over the hosts' devices alone.
struct way {
  const char* rank_variable;
  std::vector<const char*> options;
  std::vector<std::array<const char*, 2>> settings;
  // Ranks of Open MPI reach their launcher over the network, so it runs on a host. MPICH's have a
  // pipe to it.
  bool starts_on_a_host;
};

way way_of(const std::string& family) {
  if (family == "openmpi")
    return {"OMPI_COMM_WORLD_RANK",
            {"--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl",
             "tcp,self", "--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include",
             "eth0", "--mca", "mpi_yield_when_idle", "1"},
            {{"PMIX_MCA_ptl_tcp_remote_connections", "1"}, {"PMIX_MCA_ptl_tcp_if_include", "eth0"}},
            true};
  return {"PMI_RANK",
          {},
          {{"UCX_TLS", "tcp,self"}, {"UCX_NET_DEVICES", "eth0"}, {"MPIR_CVAR_NOLOCAL", "1"}},
          false};
}

// The text as one word of a shell.
std::string quoted(const std::string& text) {
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// How the launcher has ended, of what waitpid() gives.
std::string end_of(int status) {
  return WIFSIGNALED(status) ? "by signal " + std::to_string(WTERMSIG(status))
                             : "with exit status " + std::to_string(WEXITSTATUS(status));
}

// Becomes the launcher, whose output goes to `out`; returns only if there is none.
void become_launcher(const testbed& bed, const mpi_peer& peer, const mpi_command& command,
                     int out) {
  const way how = way_of(peer.family);
  for (rank_t r = 0; r < bed.nodes(); ++r) {
    const std::string place =
        "/proc/" + std::to_string(::getppid()) + "/fd/" + std::to_string(bed.host(r).fd());
    ::setenv(("TUTTI_HOST_" + std::to_string(r)).c_str(), place.c_str(), 1);
  }
  for (const auto& [name, value] : how.settings) ::setenv(name, value, 1);
  if (how.starts_on_a_host) bed.enter_host(0);
  ::dup2(out, STDOUT_FILENO);
  if (command.with_errors) ::dup2(out, STDERR_FILENO);
  // Each rank enters the namespace of its host. The kernel ends it with its launcher, also when
  // that has been killed and can end nobody.
  std::string script = std::string("node=$(($") + how.rank_variable + " % " +
                       std::to_string(bed.nodes()) +
                       ")); eval host=\\$TUTTI_HOST_$node; exec setpriv --pdeathsig KILL nsenter "
                       "--net=\"$host\" env "
                       "TUTTI_MPI_NODE=\"$node\"";
  for (const std::string& one : command.variables) script += " " + quoted(one);
  script += " \"$0\" \"$@\"";
  const std::string launcher = "mpirun." + peer.family,
                    ranks = std::to_string(command.ranks != 0 ? command.ranks : bed.nodes());
  std::vector<const char*> words{launcher.c_str(), "-n", ranks.c_str()};
  words.insert(words.end(), how.options.begin(), how.options.end());
  for (const char* word : {"/bin/sh", "-c", script.c_str()}) words.push_back(word);
  for (const std::string& word : command.words) words.push_back(word.c_str());
  words.push_back(nullptr);
  ::execvp(words[0], const_cast<char* const*>(words.data()));
  ::_exit(127);
}

// All that comes out of the pipe until the time is up.
std::string read_until(int pipe, clock::time_point end) {
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
    pollfd ready{pipe, POLLIN, 0};
    if (left.count() <= 0) return text;
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    std::array<char, 4096> part;
    const ssize_t got = ::read(pipe, part.data(), part.size());
    if (got == 0 || (got < 0 && errno != EINTR)) return text;
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
  }
}

// Ends the launcher if it has not ended, and returns its status. MPICH's launcher ends with status
// 0 if it is told to end while its ranks are in MPI_Finalize; it counts as killed by that signal.
int end_launcher(pid_t launcher, clock::time_point end) {
  int status = 0;
  for (const int signal : {0, SIGTERM, SIGKILL}) {
    if (signal != 0) ::kill(launcher, signal);
    bool has_ended = false;
    while (!(has_ended = ::waitpid(launcher, &status, WNOHANG) == launcher)) {
      if (clock::now() >= end) break;
      ::usleep(2000);
    }
    // Its number may be another process's by now.
    if (has_ended) return status != 0 ? status : signal;
    end = clock::now() + std::chrono::seconds(2);
  }
  ::waitpid(launcher, &status, 0);
  return status;
}

}  // namespace

std::vector<mpi_peer> mpi_peers(const std::vector<std::string>& folders) {
  std::vector<mpi_peer> found;
  for (const char* family : {"openmpi", "mpich"}) {
    for (const std::string& folder : folders) {
      const std::string program = folder + "/tutti-network-mpi-" + family;
      if (::access(program.c_str(), X_OK) != 0) continue;
      found.push_back({family, program, family == std::string("openmpi")});
      break;
    }
  }
  return found;
}

mpi_output run_mpi(testbed& bed, const mpi_peer& peer, const mpi_command& command,
                   std::chrono::seconds at_most) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error("there is no pipe to an MPI");
  const pid_t parent = ::getpid(), launcher = ::fork();
  if (launcher < 0) throw std::runtime_error("there is no process for an MPI");
  if (launcher == 0) {
    // A launcher that is asked to end ends its ranks.
    cli::end_with_parent(parent, SIGTERM);
    become_launcher(bed, peer, command, pipe[1]);
  }
  ::close(pipe[1]);
  const auto end = clock::now() + at_most;
  mpi_output output;
  output.text = read_until(pipe[0], end);
  ::close(pipe[0]);
  output.status = end_launcher(launcher, end);
  return output;
}

std::vector<std::string> served_by_preload(const std::vector<std::string>& folders,
                                           const std::string& topology,
                                           const std::string& network) {
  for (const std::string& folder : folders) {
    if (::access((folder + "/libtutti-mpi-network.so").c_str(), R_OK) != 0) continue;
    return {"LD_PRELOAD=" + folder + "/libtutti-mpi.so",
            "TUTTI_MPI_NETWORK=" + network + (topology.empty() ? "" : ":" + topology)};
  }
  return {};
}

mpi_samples measure_mpi(testbed& bed, const mpi_peer& peer, const mpi_plan& plan,
                        std::chrono::seconds at_most, const std::vector<std::string>& variables) {
  const mpi_command command{
      {peer.program, std::to_string(plan.calls), std::to_string(plan.imbalance.count())},
      variables};
  const auto [text, status] = run_mpi(bed, peer, command, at_most);
  std::istringstream lines(text);
  std::vector<std::uint32_t> times(std::istream_iterator<std::uint32_t>(lines), {});
  const std::size_t calls = std::size_t{bed.nodes()} * plan.calls;
  if (times.size() != calls + plan.calls)
    throw std::runtime_error("mpirun." + peer.family + " did not give all times, and ended " +
                             end_of(status));
  const auto end_of_calls = times.begin() + static_cast<std::ptrdiff_t>(calls);
  return {summary({times.begin(), end_of_calls}), summary({end_of_calls, times.end()})};
}

}  // namespace tutti::network
