// SPDX-License-Identifier: Apache-2.0
// Texts: converting from and to numbers, and the formats of printf that programs use.
// Conversions of floating-point numbers are those of the C++ library, which round correctly.
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "kernel/library/output.hpp"

using tutti::kernel::sink;

namespace {

bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// --- printf

struct conversion {
  bool left = false, zeros = false, plus = false, blank = false, other_form = false;
  int width = 0;
  int precision = -1;
  // The length: 'H' is hh, 'q' is ll, j, z and t; 'l', 'h', 'L' or 0.
  char length = 0;
  char type = 0;
};

int number_in(const char*& at, va_list_holder& values) noexcept {
  if (*at == '*') {
    ++at;
    return va_arg(values.list, int);
  }
  int number = 0;
  for (; is_digit(*at); ++at) number = 10 * number + (*at - '0');
  return number;
}

conversion read_conversion(const char*& at, va_list_holder& values) noexcept {
  conversion c;
  for (;; ++at) {
    if (*at == '-')
      c.left = true;
    else if (*at == '0')
      c.zeros = true;
    else if (*at == '+')
      c.plus = true;
    else if (*at == ' ')
      c.blank = true;
    else if (*at == '#')
      c.other_form = true;
    else
      break;
  }
  c.width = number_in(at, values);
  if (c.width < 0) {
    c.left = true;
    c.width = -c.width;
  }
  if (*at == '.') c.precision = number_in(++at, values);
  for (; std::strchr("hljztqL", *at) != nullptr && *at != '\0'; ++at)
    c.length = *at == 'h'   ? (c.length == 'h' ? 'H' : 'h')
               : *at == 'l' ? (c.length == 'l' ? 'q' : 'l')
               : *at == 'L' ? 'L'
                            : 'q';
  c.type = *at;
  return c;
}

// Writes a sign or prefix, and digits or text, in the field.
void put_field(sink& to, const conversion& c, const char* sign, const char* body, std::size_t bytes,
               bool may_have_zeros) noexcept {
  const std::size_t all = std::strlen(sign) + bytes;
  const std::size_t width = static_cast<std::size_t>(c.width);
  const std::size_t rest = width > all ? width - all : 0;
  const bool zeros = c.zeros && !c.left && may_have_zeros;
  if (!c.left && !zeros) to.repeat(' ', rest);
  to.add(sign, std::strlen(sign));
  if (zeros) to.repeat('0', rest);
  to.add(body, bytes);
  if (c.left) to.repeat(' ', rest);
}

const char* sign_of(const conversion& c, bool is_negative) noexcept {
  return is_negative ? "-" : c.plus ? "+" : c.blank ? " " : "";
}

void put_integer(sink& to, const conversion& c, unsigned long long value, const char* sign,
                 unsigned base) noexcept {
  char digits[80];
  char* const end = digits + sizeof digits;
  char* at = end;
  const char* const figures = c.type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
  for (; value != 0; value /= base) *--at = figures[value % base];
  const int least = c.precision < 0 ? 1 : c.precision < 64 ? c.precision : 64;
  while (end - at < least) *--at = '0';
  put_field(to, c, sign, at, static_cast<std::size_t>(end - at), c.precision < 0);
}

void put_real(sink& to, const conversion& c, double value) noexcept {
  const bool is_negative = std::signbit(value);
  const double size = is_negative ? -value : value;
  const char kind = static_cast<char>(c.type | 0x20);
  const int precision = c.precision < 0 ? 6 : c.precision == 0 && kind == 'g' ? 1 : c.precision;
  // The longest finite number has 309 digits before the point.
  static constexpr int most = 1200;
  char digits[most];
  const auto form = kind == 'f'   ? std::chars_format::fixed
                    : kind == 'e' ? std::chars_format::scientific
                                  : std::chars_format::general;
  const auto [end, error] = std::to_chars(digits, digits + most, size, form, precision);
  if (error != std::errc()) return;
  if (c.type != kind)
    for (char* at = digits; at < end; ++at)
      if (*at >= 'a' && *at <= 'z') *at = static_cast<char>(*at - 0x20);
  put_field(to, c, sign_of(c, is_negative), digits, static_cast<std::size_t>(end - digits),
            std::isfinite(size));
}

long long signed_argument(const conversion& c, va_list_holder& values) noexcept {
  if (c.length == 'q' || c.length == 'l') return va_arg(values.list, long long);
  const int value = va_arg(values.list, int);
  return c.length == 'H'   ? static_cast<signed char>(value)
         : c.length == 'h' ? static_cast<short>(value)
                           : value;
}

unsigned long long unsigned_argument(const conversion& c, va_list_holder& values) noexcept {
  if (c.length == 'q' || c.length == 'l') return va_arg(values.list, unsigned long long);
  const unsigned value = va_arg(values.list, unsigned);
  return c.length == 'H'   ? static_cast<unsigned char>(value)
         : c.length == 'h' ? static_cast<unsigned short>(value)
                           : value;
}

void put_conversion(sink& to, const conversion& c, va_list_holder& values) noexcept {
  switch (c.type) {
    case 'd':
    case 'i': {
      const long long value = signed_argument(c, values);
      const auto size = value < 0 ? 0ull - static_cast<unsigned long long>(value)
                                  : static_cast<unsigned long long>(value);
      return put_integer(to, c, size, sign_of(c, value < 0), 10);
    }
    case 'u': return put_integer(to, c, unsigned_argument(c, values), "", 10);
    case 'o': return put_integer(to, c, unsigned_argument(c, values), "", 8);
    case 'x':
    case 'X': {
      const auto value = unsigned_argument(c, values);
      const char* const prefix = !c.other_form || value == 0 ? "" : c.type == 'x' ? "0x" : "0X";
      return put_integer(to, c, value, prefix, 16);
    }
    case 'p':
      return put_integer(to, c, reinterpret_cast<std::uintptr_t>(va_arg(values.list, void*)), "0x",
                         16);
    case 'c': {
      const char letter = static_cast<char>(va_arg(values.list, int));
      return put_field(to, c, "", &letter, 1, false);
    }
    case 's': {
      const char* text = va_arg(values.list, const char*);
      if (text == nullptr) text = "(null)";
      std::size_t bytes = 0;
      while ((c.precision < 0 || bytes < static_cast<std::size_t>(c.precision)) &&
             text[bytes] != '\0')
        ++bytes;
      return put_field(to, c, "", text, bytes, false);
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
      return put_real(to, c,
                      c.length == 'L' ? static_cast<double>(va_arg(values.list, long double))
                                      : va_arg(values.list, double));
    case '%': return to.add("%", 1);
    default: return;
  }
}

// --- numbers

bool is_hex_digit(char c) noexcept {
  return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

// Whether a number beyond the range of its type, which ends at `end`, is too small and not too
// large: the power of its first digit that is not 0 tells.
bool is_too_small(const char* at, const char* end, bool is_hex) noexcept {
  long power = 0;
  bool has_begun = false, is_fraction = false;
  for (; at < end && (*at | 0x20) != (is_hex ? 'p' : 'e'); ++at) {
    if (*at == '.') {
      is_fraction = true;
    } else if (has_begun || *at != '0') {
      has_begun = true;
      if (!is_fraction) ++power;
    } else if (is_fraction) {
      --power;
    }
  }
  if (is_hex) power *= 4;
  const long exponent = at < end ? std::strtol(at + 1, nullptr, 10) : 0;
  long sum = 0;
  return __builtin_add_overflow(power, exponent, &sum) ? exponent < 0 : sum < 0;
}

// What strtod() and its like do.
template <class Real>
Real read_real(const char* text, char** end) noexcept {
  const char* at = text;
  while (is_blank(*at)) ++at;
  const bool is_negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  const bool is_hex = at[0] == '0' && (at[1] | 0x20) == 'x';
  const char* const digits = is_hex ? at + 2 : at;
  // from_chars() would take a second sign, and a name such as "inf" after "0x".
  const bool may_begin = is_hex ? is_hex_digit(*digits) || *digits == '.' : *digits != '-';
  Real value = 0;
  const auto [stopped, error] =
      std::from_chars(digits, may_begin ? digits + std::strlen(digits) : digits, value,
                      is_hex ? std::chars_format::hex : std::chars_format::general);
  if (error == std::errc::invalid_argument) {
    if (end != nullptr) *end = const_cast<char*>(is_hex ? at + 1 : text);
    return is_hex && is_negative ? -value : value;
  }
  if (error == std::errc::result_out_of_range) {
    value = is_too_small(digits, stopped, is_hex) ? 0 : std::numeric_limits<Real>::infinity();
    errno = ERANGE;
  }
  if (end != nullptr) *end = const_cast<char*>(stopped);
  return is_negative ? -value : value;
}

}  // namespace

namespace tutti::kernel {

void print_formatted(sink& to, const char* format, va_list given) noexcept {
  va_list_holder values;
  va_copy(values.list, given);
  for (const char* at = format; *at != '\0';) {
    const char* const begin = at;
    while (*at != '\0' && *at != '%') ++at;
    to.add(begin, static_cast<std::size_t>(at - begin));
    if (*at == '\0') break;
    put_conversion(to, read_conversion(++at, values), values);
    if (*at != '\0') ++at;
  }
  va_end(values.list);
}

}  // namespace tutti::kernel

extern "C" {

int vsnprintf(char* to, std::size_t room, const char* format, va_list values) noexcept {
  tutti::kernel::bounded_text text(to, room);
  tutti::kernel::print_formatted(text, format, values);
  return static_cast<int>(text.end());
}
int snprintf(char* to, std::size_t room, const char* format, ...) noexcept {
  va_list values;
  va_start(values, format);
  const int bytes = vsnprintf(to, room, format, values);
  va_end(values);
  return bytes;
}
int sprintf(char* to, const char* format, ...) noexcept {
  va_list values;
  va_start(values, format);
  const int bytes = vsnprintf(to, ~std::size_t{0} / 2, format, values);
  va_end(values);
  return bytes;
}

double strtod(const char* text, char** end) noexcept { return read_real<double>(text, end); }
double __strtod_l(const char* text, char** end, locale_t) noexcept {
  return read_real<double>(text, end);
}
float __strtof_l(const char* text, char** end, locale_t) noexcept {
  return read_real<float>(text, end);
}
// The precision of double is enough for the programs here.
long double strtold_l(const char* text, char** end, locale_t) noexcept {
  return read_real<double>(text, end);
}

long strtol(const char* text, char** end, int base) noexcept {
  const char* at = text;
  while (is_blank(*at)) ++at;
  const bool is_negative = *at == '-';
  if (*at == '-' || *at == '+') ++at;
  if ((base == 0 || base == 16) && at[0] == '0' && (at[1] | 0x20) == 'x' && is_hex_digit(at[2])) {
    at += 2;
    base = 16;
  } else if (base == 0) {
    base = *at == '0' ? 8 : 10;
  }
  unsigned long size = 0;
  const auto [stopped, error] = std::from_chars(at, at + std::strlen(at), size, base);
  if (end != nullptr)
    *end = const_cast<char*>(error == std::errc::invalid_argument ? text : stopped);
  const unsigned long most =
      static_cast<unsigned long>(std::numeric_limits<long>::max()) + (is_negative ? 1 : 0);
  if (error == std::errc::result_out_of_range || size > most) {
    errno = ERANGE;
    size = most;
  }
  return static_cast<long>(is_negative ? 0 - size : size);
}

char* strdup(const char* text) noexcept {
  const std::size_t bytes = std::strlen(text) + 1;
  void* made = std::malloc(bytes);
  return made == nullptr ? nullptr : static_cast<char*>(std::memcpy(made, text, bytes));
}

char* strerror(int number) noexcept {
  struct {
    int number;
    const char* text;
  } static constexpr known[] = {{ENOENT, "No such file or directory"},
                                {EBADF, "Bad file descriptor"},
                                {ENOMEM, "Cannot allocate memory"},
                                {EINVAL, "Invalid argument"},
                                {ENOSYS, "Function not implemented"}};
  for (const auto& each : known)
    if (each.number == number) return const_cast<char*>(each.text);
  return const_cast<char*>("Unknown error");
}

}  // extern "C"
