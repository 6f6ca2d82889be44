// SPDX-License-Identifier: Apache-2.0
// `tutti kernel run`: boots the kernel of kernel/ under QEMU, always with a time limit.
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/end_with_parent.hpp"
#include "cli/errors.hpp"
#include "cli/json.hpp"
#include "cli/options.hpp"
#include "command/subcommands.hpp"

namespace tutti::command {
namespace {

namespace fs = std::filesystem;
// Exit statuses of this subcommand besides those of cli/errors.hpp.
constexpr int panicked = 3, took_too_long = 4;
// What QEMU's device makes of the statuses of kernel/core/panic.hpp.
constexpr int qemu_all_is_well = 2 * 0x10 + 1, qemu_check_failed = 2 * 0x11 + 1,
              qemu_panicked = 2 * 0x12 + 1;

struct kernel_options {
  std::uint32_t cpus = 2;
  std::uint32_t nodes = 1;
  std::uint32_t memory = 256;
  std::uint32_t limit = 60;
  std::string accel = "tcg";
  std::string program = "describe";
  std::string arguments;
  std::string image;
  std::string file;
  bool bench = false;
  bool json = false;
};

// --- what is wrong before QEMU starts

fs::path find_image(const kernel_options& o) {
  if (!o.image.empty()) return o.image;
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  // Nested KVM cannot run the C++ library's instructions in ring 0.
  const char* name = o.accel == "kvm" ? "kernel-pvh.elf" : "kernel.elf";
  return (here / "../../kernel" / name).lexically_normal();
}

// Whether the file is a whole ELF image for x86-64 with the note by which PVH loaders find the
// entry.
bool is_kernel(const fs::path& image) {
  std::ifstream file(image, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != EM_X86_64)
    return false;
  constexpr std::uint32_t pvh_entry_note = 18;
  bool has_entry = false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof part));
    if (!file.read(reinterpret_cast<char*>(&part), sizeof part)) return false;
    if (part.p_offset + part.p_filesz > fs::file_size(image)) return false;
    if (part.p_type != PT_NOTE) continue;
    Elf64_Nhdr note{};
    file.seekg(static_cast<std::streamoff>(part.p_offset));
    if (!file.read(reinterpret_cast<char*>(&note), sizeof note)) return false;
    has_entry = has_entry || note.n_type == pvh_entry_note;
  }
  return has_entry;
}

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

void refuse_what_cannot_run(const kernel_options& o, const fs::path& image) {
  if (!is_word(o.program))
    throw std::invalid_argument("--program: '" + o.program + "' is not the name of a program");
  if (o.nodes > o.cpus)
    throw std::invalid_argument(
        fmt::format("--nodes: {} nodes need as many CPUs, and there are {}", o.nodes, o.cpus));
  if (!o.image.empty() && !fs::is_regular_file(image))
    throw std::invalid_argument("--image: there is no file " + o.image);
  if (!fs::is_regular_file(image))
    throw std::runtime_error("there is no image " + image.string() +
                             "; `make build` builds the kernel");
  if (!is_kernel(image))
    throw std::runtime_error(image.string() +
                             " is no kernel: it is no whole image with a PVH entry for x86-64");
  if (!o.file.empty() && !fs::is_regular_file(o.file))
    throw std::invalid_argument("--file: there is no file " + o.file);
  if (o.accel == "kvm" && access("/dev/kvm", R_OK | W_OK) != 0)
    throw std::runtime_error(
        "/dev/kvm cannot be opened, so there is no KVM; --accel tcg and icount need none");
}

// --- QEMU

std::vector<std::string> qemu_command(const kernel_options& o, const fs::path& image) {
  std::vector<std::string> c = {
      "qemu-system-x86_64", "-nodefaults", "-no-reboot", "-display", "none", "-serial", "stdio"};
  const auto add = [&c](std::initializer_list<std::string> words) {
    c.insert(c.end(), words.begin(), words.end());
  };
  add({"-m", std::to_string(o.memory), "-smp", std::to_string(o.cpus)});
  add({"-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-kernel", image.string()});
  add({"-append",
       fmt::format("program={} unit={} {}", o.program,
                   o.accel == "icount" ? "instructions" : "emulated_ticks", o.arguments)});
  if (!o.file.empty()) add({"-initrd", o.file});
  for (std::uint32_t n = 0; o.nodes > 1 && n < o.nodes; ++n) {
    const std::uint32_t first = n * o.cpus / o.nodes, last = (n + 1) * o.cpus / o.nodes - 1;
    add({"-object", fmt::format("memory-backend-ram,size={}M,id=m{}",
                                o.memory / o.nodes + (n == 0 ? o.memory % o.nodes : 0), n)});
    add({"-numa", fmt::format("node,nodeid={},cpus={}-{},memdev=m{}", n, first, last, n)});
  }
  if (o.accel == "tcg") add({"-accel", "tcg,thread=multi", "-cpu", "max"});
  if (o.accel == "icount")
    add({"-accel", "tcg,thread=single", "-cpu", "max", "-icount", "shift=0,sleep=off", "-rtc",
         "base=2020-01-01,clock=vm"});
  if (o.accel == "kvm") add({"-accel", "kvm", "-cpu", "max,-arch-capabilities"});
  return c;
}

// A child process whose output comes here. It is killed when this object goes, and when this
// process is killed.
class child {
 public:
  // `with_errors`: what it writes on standard error comes here too.
  child(const std::vector<std::string>& command, bool with_errors) {
    int ends[2], failure[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("there is no pipe for QEMU");
    output_ = ends[0];
    if (pipe2(failure, O_CLOEXEC) != 0) {
      close(ends[0]);
      close(ends[1]);
      throw std::runtime_error("there is no pipe for QEMU");
    }
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const pid_t parent = getpid();
    int error = 0;
    process_ = fork();
    if (process_ < 0) error = errno;
    if (process_ == 0) {
      error = become(arguments, parent, ends[1], with_errors);
      if (write(failure[1], &error, sizeof error) < 0) _exit(126);
      _exit(127);
    }
    close(ends[1]);
    close(failure[1]);
    // Its end, without a number, is the start of QEMU.
    const bool is_told = read(failure[0], &error, sizeof error) == sizeof error;
    close(failure[0]);
    if (error == 0) return;
    close(output_);
    if (is_told) wait();
    throw std::runtime_error(command[0] + " cannot be started (" + std::strerror(error) +
                             "); Debian has it in the package qemu-system-x86");
  }
  ~child() {
    close(output_);
    if (process_ == 0) return;
    kill(process_, SIGKILL);
    wait();
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  // Waits for output, and appends it. Returns false at the end of the output.
  bool read_into(std::string& text, int timeout_ms) const {
    pollfd ready{output_, POLLIN, 0};
    if (poll(&ready, 1, timeout_ms) <= 0) return true;
    char bytes[4096];
    const ssize_t count = read(output_, bytes, sizeof bytes);
    if (count <= 0) return false;
    text.append(bytes, static_cast<std::size_t>(count));
    return true;
  }

  // Returns the exit status, or 128 and the signal.
  int wait() {
    int status = 0;
    waitpid(process_, &status, 0);
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  // Runs in the child. Returns why it could not start the command.
  static int become(const std::vector<char*>& arguments, pid_t parent, int output,
                    bool with_errors) {
    cli::end_with_parent(parent);
    const auto put = [](int file, int place) {
      return (file == place ? fcntl(file, F_SETFD, 0) : dup2(file, place)) >= 0;
    };
    if (!put(open("/dev/null", O_RDONLY | O_CLOEXEC), 0) || !put(output, 1)) return errno;
    if (with_errors && !put(output, 2)) return errno;
    execvp(arguments[0], arguments.data());
    return errno;
  }

  pid_t process_ = 0;
  int output_ = -1;
};

// --- output

// Prints the lines that are JSON objects as they are, or for people; what else the kernel writes
// (a panic, failed checks) goes to standard error.
class printer {
 public:
  explicit printer(bool json) : json_(json) {}

  void take(std::string& text) {
    for (std::size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
      std::string line = text.substr(0, end);
      std::erase(line, '\r');
      if (line.empty()) continue;
      if (line[0] != '{')
        fmt::print(stderr, "{}\n", line);
      else if (json_)
        fmt::print("{}\n", line);
      else
        print_for_people(line);
    }
    std::fflush(stdout);
  }

 private:
  static void print_for_people(const std::string& line) {
    const auto keys = cli::json::parsed_if_valid(line);
    if (!keys) return fmt::print("{}\n", line);
    std::string text;
    for (const auto& [key, value] : keys->items()) {
      if (key == "type")
        text += fmt::format("{:<10}", value.get<std::string>());
      else
        text += fmt::format("  {} {}", key,
                            value.is_string() ? value.get<std::string>() : value.dump());
    }
    fmt::print("{}\n", text);
  }

  bool json_;
};

int run_kernel(kernel_options o) {
  if (o.bench) o.program = "bench";
  const fs::path image = find_image(o);
  refuse_what_cannot_run(o, image);
  const std::string name = "tutti kernel run";
  const bool is_kvm = o.accel == "kvm";
  child qemu(qemu_command(o, image), is_kvm);
  printer out(o.json);
  std::string text = cli::json{{"type", "kernel"},
                               {"program", o.program},
                               {"cpus", o.cpus},
                               {"accel", o.accel},
                               {"arguments", o.arguments}}
                         .dump() +
                     "\n";
  const std::string_view why =
      is_kvm ? "; nested KVM is slow and cannot emulate SSE in ring 0 (--accel tcg)" : "";
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + std::chrono::seconds(o.limit);
  bool goes_on = true;
  while (goes_on) {
    // QEMU says so, writes the registers, and stands still.
    if (is_kvm && text.find("KVM internal error") != std::string::npos)
      return cli::complain(name, fmt::format("KVM cannot go on{}", why), cli::failed);
    out.take(text);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now());
    if (left.count() <= 0)
      return cli::complain(
          name, fmt::format("the kernel did not end within {} s (--time-limit){}", o.limit, why),
          took_too_long);
    goes_on = qemu.read_into(text, static_cast<int>(left.count()) + 1);
  }
  if (!text.empty()) text += '\n';
  out.take(text);
  const int status = qemu.wait();
  if (status == qemu_all_is_well) return cli::success;
  if (status == qemu_check_failed)
    return cli::complain(name, "a check of the program " + o.program + " failed", cli::failed);
  if (status == qemu_panicked) return cli::complain(name, "the kernel panicked", panicked);
  return cli::complain(name, fmt::format("QEMU ended with status {}{}", status, why), cli::failed);
}

}  // namespace

void add_kernel(cli::command& program) {
  cli::command kernel = program.add_subcommand("kernel", "tutti's own small kernel");
  kernel.require_subcommand();
  cli::subcommand<kernel_options> run(
      kernel, "run", "Boot the kernel under QEMU; exit status 3 is a panic, 4 the time limit",
      run_kernel);
  run.add_option("--cpus", run->cpus, "CPUs of the virtual machine")
      .between(1u, 64u)
      .value_name("N")
      .show_default();
  run.add_option("--accel", run->accel,
                 "tcg (emulated, threads of the host), icount (emulated, deterministic, counts "
                 "instructions), kvm (a smoke test)")
      .one_of({"tcg", "icount", "kvm"})
      .show_default();
  auto named = run.add_option("--program", run->program, "A program of the kernel's image")
                   .value_name("NAME")
                   .show_default();
  run.add_flag("--bench", run->bench, "The same as --program bench").excludes(named);
  run.add_option("--arguments", run->arguments, "Words for the program, such as 'posts=1000'")
      .value_name("WORDS");
  run.add_option("--file", run->file, "A file that the program reads").value_name("FILE");
  run.add_option("--image", run->image, "Another image than the one beside this program")
      .value_name("FILE");
  run.add_option("--memory", run->memory, "MiB of memory").between(64u, 65536u).show_default();
  run.add_option("--nodes", run->nodes, "NUMA nodes").between(1u, 16u).show_default();
  run.add_option("--time-limit", run->limit, "Seconds until QEMU is ended")
      .between(1u, 86400u)
      .show_default();
  run.add_flag("--json", run->json, "The kernel's lines as they are, one JSON object a line");
}

}  // namespace tutti::command
