// SPDX-License-Identifier: Apache-2.0
// Real programs of Debian, built for Open MPI and unchanged: with the preload they have the results
// that they have without it, and it serves their small collective calls.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/mpi/launched.hpp"

namespace tutti::test {
namespace {

const std::string preload = TUTTI_MPI_PRELOAD;
const std::string inputs = TUTTI_MPI_INPUTS "/";

output run_program(int ranks, const std::string& program, bool is_preloaded) {
  const std::string environment =
      is_preloaded ? "env LD_PRELOAD=" + preload + " TUTTI_MPI_VERBOSE=1 " : "env ";
  return run_launched({open_mpi, ranks, "", "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1", 60},
                      environment + program);
}

// The lines of the text that begin with one of these, behind blanks, and tell no share of the time.
std::string lines_of(const std::string& text, const std::string& allowed_first) {
  std::istringstream in(text);
  std::string found;
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find_first_not_of(' ');
    if (at != std::string::npos && line.find('%') == std::string::npos &&
        allowed_first.find(line[at]) != std::string::npos)
      found += line + "\n";
  }
  return found;
}

// How many MPI_Allreduce the largest communicator was served.
unsigned served_sums(const std::string& text) {
  unsigned most = 0;
  for (std::size_t at = 0; (at = text.find("MPI_Bcast, ", at)) != std::string::npos; ++at)
    most = std::max(most, static_cast<unsigned>(std::strtoul(&text[at + 11], nullptr, 10)));
  return most;
}

void expect_same(int ranks, const std::string& program, const std::string& first,
                 unsigned least_sums) {
  const output own = run_program(ranks, program, false);
  ASSERT_EQ(own.status, 0) << own.text;
  const output preloaded = run_program(ranks, program, true);
  ASSERT_EQ(preloaded.status, 0) << preloaded.text;
  const std::string expected = lines_of(own.text, first);
  EXPECT_FALSE(expected.empty()) << own.text;
  EXPECT_EQ(lines_of(preloaded.text, first), expected);
  EXPECT_GE(served_sums(preloaded.text), least_sums) << preloaded.text;
}

// The table of energies and pressures.
TEST(preload_mpi_programs, lammps_has_the_same_trajectory) {
  TUTTI_SKIP_WITHOUT(open_mpi);
  if (run_shell("command -v lmp").status != 0) GTEST_SKIP() << "Debian's lammps is not installed";
  expect_same(4, "lmp -log none -in " + inputs + "melt.lammps", "S0123456789", 100);
}

// The residuals of each iteration, all digits.
TEST(preload_mpi_programs, petsc_has_the_same_residuals) {
  TUTTI_SKIP_WITHOUT(open_mpi);
  const std::string python =
      "env PYTHONPATH=$(echo /usr/lib/petscdir/*/*-real/lib/python3/dist-packages) "
      "/usr/bin/python3 ";
  if (run_shell(python + "-c 'import petsc4py' 2>&1").status != 0)
    GTEST_SKIP() << "Debian's python3-petsc4py is not installed";
  expect_same(4, python + inputs + "cg.py", "r", 200);
}

// Norms, residuals and errors of HPC Challenge's summary: Linpack, a transposition, random accesses
// and Fourier transforms. It reads and writes files of fixed names in its folder.
TEST(preload_mpi_programs, hpcc_has_the_same_norms_and_errors) {
  TUTTI_SKIP_WITHOUT(open_mpi);
  if (run_shell("command -v hpcc").status != 0) GTEST_SKIP() << "Debian's hpcc is not installed";
  std::string folder = std::filesystem::temp_directory_path() / "tutti-hpcc-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto run = [&](bool is_preloaded, std::string& said) {
    std::filesystem::remove(folder + "/hpccoutf.txt");
    std::filesystem::copy_file(inputs + "hpccinf.txt", folder + "/hpccinf.txt",
                               std::filesystem::copy_options::overwrite_existing);
    const output out = run_program(2, "env -C " + folder + " hpcc", is_preloaded);
    EXPECT_EQ(out.status, 0) << out.text;
    said = out.text;
    std::ifstream file(folder + "/hpccoutf.txt");
    std::string results;
    for (std::string line; std::getline(file, line);)
      if (line.find('=') != std::string::npos &&
          (line.find("norm") != std::string::npos || line.find("residual=") != std::string::npos ||
           line.find("Err") != std::string::npos || line.starts_with("Success")))
        results += line + "\n";
    return results;
  };
  std::string said;
  const std::string own = run(false, said), preloaded = run(true, said);
  std::filesystem::remove_all(folder);
  EXPECT_NE(own.find("Success=1"), std::string::npos) << own;
  EXPECT_NE(own.find("MPIFFT_maxErr="), std::string::npos) << own;
  EXPECT_EQ(preloaded, own);
  EXPECT_GE(served_sums(said), 100u) << said;
}

}  // namespace
}  // namespace tutti::test
