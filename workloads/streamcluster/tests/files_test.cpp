// SPDX-License-Identifier: Apache-2.0
// Tests files of points, right and wrong, and the file of the centres.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "tests/support/scratch.hpp"
#include "workloads/streamcluster/output.hpp"
#include "workloads/streamcluster/streamcluster.hpp"

namespace tutti::streamcluster {
namespace {

using namespace std::literals;

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

std::string npy(const std::string& dictionary, const std::string& data, char version = 1) {
  std::string header = dictionary + "\n";
  const auto length = static_cast<std::uint32_t>(header.size());
  return "\x93NUMPY"s + version + '\0' +
         std::string(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4) + header + data;
}

std::string npy_of(const std::string& type, const std::string& shape, const std::string& data) {
  return npy("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }", data);
}

std::vector<std::vector<float>> read_all(source& points) {
  std::vector<std::vector<float>> all;
  std::vector<float> row(points.dimensions());
  while (points.next(row)) all.push_back(row);
  return all;
}

const std::vector<std::vector<float>> expected{{1, -2.5F}, {0.125F, 3e10F}, {4, 0}};
const std::vector<float> flat{1, -2.5F, 0.125F, 3e10F, 4, 0};

struct right_file {
  const char* name;
  const char* file;
  std::string content;
  file_format format = file_format::automatic;
  std::size_t dimensions = 0;
};

class RightFile : public testing::TestWithParam<right_file> {};

TEST_P(RightFile, GivesItsPoints) {
  const right_file& f = GetParam();
  const test::scratch here;
  const auto points = open_points(here.write(f.file, f.content), f.format, f.dimensions);
  EXPECT_EQ(points->dimensions(), 2U);
  EXPECT_EQ(read_all(*points), expected);
  std::vector<float> row(2);
  EXPECT_FALSE(points->next(row)) << "the end is the end";
}

const std::string f4 = bytes_of(flat);
const std::string f8 = bytes_of(std::vector<double>(flat.begin(), flat.end()));

INSTANTIATE_TEST_SUITE_P(
    Files, RightFile,
    testing::Values(
        right_file{"Blanks", "p.txt", "1 -2.5\n0.125  3e10\n\t4\t0\n"},
        right_file{"Commas", "p.csv", "1,-2.5\n0.125 , 3e10\n4, 0\n"},
        right_file{"NoLastNewline", "p", "1 -2.5\n0.125 3e10\n4 0"},
        right_file{"WindowsLines", "p.txt", "1 -2.5\r\n0.125 3e10\r\n4 0\r\n"},
        right_file{"CommentsAndEmptyLines", "p", "# x y\n\n1 -2.5\n  # z\n0.125 3e10\n \n4 0\n\n"},
        right_file{"TooSmallForAFloatIsZero", "p", "1 -2.5\n0.125 3e10\n4 -1e-60\n"},
        right_file{"DimensionsThatFit", "p", "1 -2.5\n0.125 3e10\n4 0\n", file_format::text, 2},
        right_file{"NumpyFloat32", "p.npy", npy_of("<f4", "(3, 2)", f4)},
        right_file{"NumpyFloat64", "p.npy", npy_of("<f8", "(3, 2)", f8)},
        right_file{"NumpyByItsFirstBytes", "p.txt", npy_of("<f4", "(3,2)", f4)},
        right_file{"NumpyVersion2", "p.npy",
                   npy("{'shape': (3, 2), 'fortran_order': False, 'descr': '<f4'}", f4, 2)},
        right_file{"Raw", "p.bin", f4, file_format::automatic, 2},
        right_file{"RawByOption", "p.dat", f4, file_format::raw, 2}),
    [](const auto& each) { return each.param.name; });

constexpr float infinite = std::numeric_limits<float>::infinity();
const std::string with_nan = bytes_of(std::vector<float>{1, 2, 3, std::nanf("")});
const std::string with_infinity = bytes_of(std::vector<float>{1, infinite, 3, 4});

struct wrong_file {
  const char* name;
  const char* file;
  std::string content;
  // The text after the name of the file.
  const char* sentence;
  file_format format = file_format::automatic;
  std::size_t dimensions = 0;
};

class WrongFile : public testing::TestWithParam<wrong_file> {};

// The error comes when the file is opened or, if only a later point is wrong, during clustering.
TEST_P(WrongFile, IsToldInOneSentenceThatSaysWhere) {
  const wrong_file& f = GetParam();
  const test::scratch here;
  const std::string path = here.write(f.file, f.content);
  try {
    const auto points = open_points(path, f.format, f.dimensions);
    team ranks(2);
    options how;
    how.k_min = how.k_max = 1;
    cluster(ranks, *points, how);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(e.what(), path + f.sentence);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, WrongFile,
    testing::Values(
        wrong_file{"Empty", "p.txt", "", ": the file has no points"},
        wrong_file{"OnlyComments", "p.txt", "# a\n\n", ": the file has no points"},
        wrong_file{"NotANumber", "p.txt", "1 2\n3 four\n", ":2: column 2: 'four' is not a number"},
        wrong_file{"NumberAndMore", "p.txt", "1 2\n\n3 4x\n", ":3: column 2: '4x' is not a number"},
        wrong_file{"Nan", "p.txt", "1 2\nnan 4\n", ":2: column 1: 'nan' is not finite"},
        wrong_file{"Infinite", "p.txt", "# c\n1 -inf\n", ":2: column 2: '-inf' is not finite"},
        wrong_file{"BeyondAFloat", "p.txt", "1 1e39\n",
                   ":1: column 2: '1e39' is beyond the range of a float"},
        wrong_file{"BeyondADouble", "p.txt", "-1e999\n",
                   ":1: column 1: '-1e999' is beyond the range of a float"},
        wrong_file{"ShortRow", "p.txt", "1 2\n3\n",
                   ":2: a point of 1 coordinates, where 2 are expected"},
        wrong_file{"LongRow", "p.txt", "1 2\n3 4 5\n",
                   ":2: a point of 3 coordinates, where 2 are expected"},
        wrong_file{"OtherDimensions", "p.txt", "1 2\n",
                   ":1: a point of 2 coordinates, where 3 are expected", file_format::text, 3},
        wrong_file{"EmptyColumn", "p.csv", "1,,2\n", ":1: column 2 is empty"},
        wrong_file{"FirstColumnEmpty", "p.csv", ",2\n", ":1: column 1 is empty"},
        wrong_file{"LastColumnEmpty", "p.csv", "1,2,\n", ":1: column 3 is empty"},
        wrong_file{"Binary", "p.txt", "\x01\x02\x03\n",
                   ":1: column 1: '\x01\x02\x03' is not a number"},
        wrong_file{"NumpyCutInItsMagic", "p.npy", "\x93NUM",
                   ": this is not a .npy file: it does not begin with \\x93NUMPY and a version"},
        wrong_file{"NumpyByNameOnly", "p.npy", "1 2 3 4 5\n",
                   ": this is not a .npy file: it does not begin with \\x93NUMPY and a version"},
        wrong_file{"NumpyCutInItsLength", "p.npy", "\x93NUMPY\x01\x00\x10"s,
                   ": the file ends within the header"},
        wrong_file{"NumpyCutInItsHeader", "p.npy", npy_of("<f4", "(2, 2)", "").substr(0, 30),
                   ": the file ends within the header"},
        wrong_file{"NumpyOfAnotherVersion", "p.npy", npy("{}", "", 9),
                   ": version 9 of .npy is not known"},
        wrong_file{"NumpyWithoutShape", "p.npy",
                   npy("{'descr': '<f4', 'fortran_order': False}", ""),
                   ": the header has no 'shape'"},
        wrong_file{"NumpyOfIntegers", "p.npy", npy_of("<i8", "(2, 2)", with_nan),
                   ": the numbers are of type '<i8', 'fo, not '<f4' or '<f8' (float32, float64)"},
        wrong_file{"NumpyInFortranOrder", "p.npy",
                   npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", with_nan),
                   ": the matrix is in Fortran order; save numpy.ascontiguousarray(it)"},
        wrong_file{"NumpyVector", "p.npy", npy_of("<f4", "(4,)", with_nan),
                   ": the shape (4,) is not the shape of a matrix of points"},
        wrong_file{"NumpyCube", "p.npy", npy_of("<f4", "(2, 1, 2)", with_nan),
                   ": the shape (2, 1, 2) is not the shape of a matrix of points"},
        wrong_file{"NumpyWithoutPoints", "p.npy", npy_of("<f4", "(0, 2)", ""),
                   ": the shape (0, 2) is not the shape of a matrix of points"},
        wrong_file{
            "NumpyCutInItsPoints", "p.npy", npy_of("<f4", "(2, 2)", with_nan.substr(0, 12)),
            ": 12 bytes after the header do not match the 2 x 2 numbers of 4 bytes that it names"},
        wrong_file{"NumpyShapeThatOverflows", "p.npy",
                   npy_of("<f4", "(4611686018427387905, 4)", with_nan),
                   ": 16 bytes after the header do not match the 4611686018427387905 x 4 numbers "
                   "of 4 bytes that it names"},
        wrong_file{"NumpyWithNan", "p.npy", npy_of("<f4", "(2, 2)", with_nan),
                   ": point 2, column 2: nan is not finite"},
        wrong_file{"NumpyBeyondAFloat", "p.npy",
                   npy_of("<f8", "(1, 2)", bytes_of(std::vector<double>{1, 1e300})),
                   ": point 1, column 2: 1e+300 is beyond the range of a float"},
        wrong_file{"NumpyOfOtherDimensions", "p.npy", npy_of("<f4", "(2, 2)", with_nan),
                   ": the points have 2 coordinates, where 3 are expected", file_format::npy, 3},
        wrong_file{
            "RawWithoutDimensions", "p.bin", with_nan,
            ": a raw file does not say how many coordinates a point has; give the dimensions"},
        wrong_file{"RawEmpty", "p.bin", "", ": the file has no points", file_format::raw, 2},
        wrong_file{"RawCut", "p.bin", with_nan.substr(0, 15),
                   ": 15 bytes are not a whole number of points of 2 float32", file_format::raw, 2},
        wrong_file{"RawOfOtherDimensions", "p.bin", with_nan,
                   ": 16 bytes are not a whole number of points of 3 float32", file_format::raw, 3},
        wrong_file{"RawInfinite", "p.bin", with_infinity, ": point 1, column 2: inf is not finite",
                   file_format::raw, 2}),
    [](const auto& each) { return each.param.name; });

TEST(Files, ThatAreNotThereOrFoldersAreTold) {
  const test::scratch here;
  for (const auto& [path, sentence] :
       {std::pair{here.path("none"), ": cannot be read: No such file or directory"},
        std::pair{here.path(""), ": this is a directory"}}) {
    try {
      open_points(path);
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), path + sentence);
    }
  }
}

TEST(Files, OfAllKindsGiveTheSameClustering) {
  const test::scratch here;
  const auto generated = generate(400, 3, 5);
  std::string text;
  std::vector<float> numbers;
  for (const auto& row : read_all(*generated)) {
    for (const float x : row) {
      char digits[64];
      std::snprintf(digits, sizeof digits, "%.9g ", static_cast<double>(x));
      text += digits;
      numbers.push_back(x);
    }
    text += '\n';
  }
  options how;
  how.k_min = 4;
  how.k_max = 6;
  team ranks(2);
  const auto in_memory = rows(numbers, 3);
  const std::uint64_t right = fingerprint(cluster(ranks, *in_memory, how));
  const std::vector<double> wide(numbers.begin(), numbers.end());
  for (const std::string& path :
       {here.write("p.txt", text), here.write("p.bin", bytes_of(numbers)),
        here.write("p4.npy", npy_of("<f4", "(400, 3)", bytes_of(numbers))),
        here.write("p8.npy", npy_of("<f8", "(400, 3)", bytes_of(wide)))}) {
    const auto points = open_points(path, file_format::automatic, 3);
    EXPECT_EQ(fingerprint(cluster(ranks, *points, how)), right) << path;
  }
}

clustering some_centres() {
  team ranks(2);
  const auto points = generate(300, 3, 5);
  return cluster(ranks, *points);
}

TEST(Centres, ReadBackAsWhatWasWritten) {
  const test::scratch here;
  const clustering found = some_centres();
  const auto lines = read_all(*open_points(here.write("centres", to_text(found))));
  ASSERT_EQ(lines.size(), found.size());
  for (std::size_t c = 0; c < lines.size(); ++c) {
    EXPECT_EQ(lines[c][0], static_cast<float>(found.positions[c]));
    EXPECT_EQ(lines[c][1], static_cast<float>(found.weights[c]));
    for (std::size_t j = 0; j < found.dimensions; ++j) {
      EXPECT_EQ(lines[c][2 + j], found.centre(c)[j]);
    }
  }
}

}  // namespace
}  // namespace tutti::streamcluster
