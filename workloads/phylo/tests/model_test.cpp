// SPDX-License-Identifier: Apache-2.0
// Compares transition probabilities with another way to compute them, and Gamma with published
// values; tests texts of models.
#include "workloads/phylo/model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "tests/support/refusal.hpp"
#include "workloads/phylo/input.hpp"
#include "workloads/phylo/tests/reference.hpp"

namespace tutti::phylo {
namespace {

void expect_rates(double alpha, std::vector<double> expected, double tolerance) {
  const std::vector<double> rates = gamma_rates(alpha, static_cast<unsigned>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(rates[i], expected[i], tolerance) << "alpha " << alpha << ", category " << i;
  }
}

// The values are PAML's (Yang 1994, table of the means of four categories).
TEST(Gamma, PublishedMeans) {
  expect_rates(0.5, {0.03338775, 0.25191592, 0.82026848, 2.89442785}, 1e-8);
  expect_rates(1.0, {0.13695378, 0.47675186, 1.0, 2.38629436}, 1e-8);
}

// With alpha 1 this is the exponential distribution: the mean above a quantile is 1 - log of the
// share above it.
TEST(Gamma, ExponentialInClosedForm) {
  constexpr unsigned categories = 7;
  const auto above = [](double share) { return share * (1 - (share > 0 ? std::log(share) : 0)); };
  const std::vector<double> rates = gamma_rates(1.0, categories);
  for (unsigned i = 0; i < categories; ++i) {
    const double from = 1 - double(i) / categories, to = 1 - double(i + 1) / categories;
    EXPECT_NEAR(rates[i], (above(from) - (i + 1 == categories ? 0 : above(to))) * categories,
                1e-12);
  }
}

TEST(Gamma, MeanIsOneAndRatesRise) {
  for (const double alpha : {0.01, 0.05, 0.3, 2.0, 50.0, 1e4}) {
    for (const unsigned categories : {1u, 2u, 4u, 25u, 64u}) {
      const std::vector<double> rates = gamma_rates(alpha, categories);
      EXPECT_NEAR(std::accumulate(rates.begin(), rates.end(), 0.0) / categories, 1, 1e-12);
      EXPECT_TRUE(std::is_sorted(rates.begin(), rates.end())) << alpha;
      EXPECT_GE(rates.front(), 0);
    }
  }
}

TEST(Gamma, RefusesWhatIsNone) {
  for (const double alpha : {0.0, -1.0, 1e5, std::nan("")}) {
    EXPECT_THROW(gamma_rates(alpha, 4), std::invalid_argument) << alpha;
  }
  EXPECT_THROW(gamma_rates(1, 0), std::invalid_argument);
  EXPECT_THROW(gamma_rates(1, 65), std::invalid_argument);
}

TEST(Model, TransitionsAreTheMatrixExponential) {
  const substitution s = test::uneven();
  const model m(s, {0.3, 1.0, 2.5});
  std::vector<double> p(3 * 16);
  for (const double length : {1e-6, 1e-3, 0.1, 1.0, 34.0}) {
    m.transitions(length, p);
    for (std::size_t rate = 0; rate < 3; ++rate) {
      const auto expected = test::transition(s, test::big(length) * m.rates()[rate]);
      for (std::size_t i = 0; i < 4; ++i) {
        for (std::size_t j = 0; j < 4; ++j) {
          const auto value = static_cast<double>(expected[i][j]);
          // The tolerance is relative, also for the probabilities of about 1e-7 of a short branch.
          EXPECT_NEAR(p[rate * 16 + i * 4 + j], value, 1e-12 * value) << length << i << j;
        }
      }
    }
  }
}

TEST(Model, RowsSumToOneAndFrequenciesAreStationary) {
  const model m(test::uneven());
  std::vector<double> p(16);
  m.transitions(0.37, p);
  const vector4& f = m.parameters().frequencies;
  for (std::size_t i = 0; i < 4; ++i) {
    double row = 0, column = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      row += p[i * 4 + j];
      column += f[j] * p[j * 4 + i];
      EXPECT_NEAR(f[i] * p[i * 4 + j], f[j] * p[j * 4 + i], 1e-15);
    }
    EXPECT_NEAR(row, 1, 1e-14);
    EXPECT_NEAR(column, f[i], 1e-14);
  }
}

TEST(Model, RefusesWhatIsNoModel) {
  substitution s;
  s.exchange[3] = 0;
  EXPECT_THROW(model{s}, std::invalid_argument);
  s = {};
  s.frequencies[0] = -0.25;
  EXPECT_THROW(model{s}, std::invalid_argument);
  s = {};
  EXPECT_THROW(model(s, {}), std::invalid_argument);
  EXPECT_THROW(model(s, {-1.0}), std::invalid_argument);
  EXPECT_THROW(model(s, {std::numeric_limits<double>::infinity()}), std::invalid_argument);
}

TEST(ModelText, ReadsWhatItDocuments) {
  EXPECT_EQ(parse_model("JC").rates, std::vector<double>{1.0});
  EXPECT_EQ(parse_model("K80{2.5}").parameters.exchange,
            (std::array<double, 6>{1, 2.5, 1, 1, 2.5, 1}));
  const model_text m = parse_model("GTR{1,2,3,4,5,6e+0}+F{0.1,0.2,0.3,0.4}+G5{0.5}");
  EXPECT_EQ(m.parameters.exchange, (std::array<double, 6>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(m.parameters.frequencies, (vector4{0.1, 0.2, 0.3, 0.4}));
  EXPECT_EQ(m.rates, gamma_rates(0.5, 5));
  EXPECT_EQ(parse_model("HKY{2}+G{1}").rates, gamma_rates(1, 4));
}

TEST(ModelText, RefusesTheRestInASentence) {
  for (const char* text : {"",
                           "+",
                           "JC+",
                           "jc",
                           "GTR",
                           "GTR{}",
                           "GTR{1,2,3,4,5}",
                           "GTR{1,2,3,4,5,6,7}",
                           "GTR{1,2,3,4,5,x}",
                           "GTR{1,2,3,4,5,-6}",
                           "GTR{1,2,3,4,5,6",
                           "GTR{1,2,3,4,5,nan}",
                           "GTR{1,,3,4,5,6}",
                           "JC{1}",
                           "JC+F{0.25,0.25,0.5}",
                           "JC+F{0.5,0.5,0.5,0.5}",
                           "JC+F",
                           "JC+G4",
                           "JC+G4{0.5,1}",
                           "JC+G0{0.5}",
                           "JC+G65{1}",
                           "JC+G4.5{1}",
                           "JC+G4x{1}",
                           "JC+G4{0.001}",
                           "JC+G4{1}+G4{1}",
                           "JC+G4{1}+G2{1}",
                           "G4{1}",
                           "F{0.25,0.25,0.25,0.25}",
                           "JC+JC",
                           "JC G4{1}"}) {
    try {
      parse_model(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const std::invalid_argument& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with("'" + std::string(text) + "': ")) << e.what();
    }
  }
}

TEST(SiteRates, EqualNumbersAreOneCategory) {
  const site_rates r = parse_site_rates("0.5 2\n0.5\n\n1e0", "f", 4);
  EXPECT_EQ(r.rates, (std::vector<double>{0.5, 2, 1}));
  EXPECT_EQ(r.rate_of_site, (std::vector<std::uint16_t>{0, 1, 0, 2}));
}

TEST(SiteRates, RefusedWithThePlace) {
  const auto error = [](const std::string& text, std::size_t sites) {
    return tutti::test::refusal_of<input_error>([&] { parse_site_rates(text, "f", sites); });
  };
  EXPECT_EQ(error("1\n2\n", 3), "f:3: 2 rates for 3 sites");
  EXPECT_EQ(error("1\n2\n3 4", 3), "f:3: there are more rates than the 3 sites");
  EXPECT_EQ(error("1\nx\n", 2), "f:2: 'x' is not a rate, which is a number of at least 0");
  EXPECT_EQ(error("1\n-1\n", 2), "f:2: '-1' is not a rate, which is a number of at least 0");
  std::string many;
  for (std::size_t i = 0; i <= most_site_rates; ++i) many += std::to_string(i) + " ";
  EXPECT_EQ(error(many, most_site_rates + 1), "f:1: more than 256 different rates");
}

}  // namespace
}  // namespace tutti::phylo
