// SPDX-License-Identifier: Apache-2.0
// The one locale, "C", with the tables of the classes of characters, and wide characters, which are
// bytes here.
#include <bits/types/__locale_t.h>
#include <ctype.h>
#include <langinfo.h>
#include <locale.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace {

// The tables begin at -128.
constexpr int first = -128, entries = 384;

constexpr bool within(int c, int low, int high) { return low <= c && c <= high; }

constexpr unsigned short classes_of(int c) {
  const bool upper = within(c, 'A', 'Z'), lower = within(c, 'a', 'z'), digit = within(c, '0', '9');
  const bool hex = digit || within(c, 'A', 'F') || within(c, 'a', 'f');
  const bool blank = c == ' ' || c == '\t', space = c == ' ' || within(c, '\t', '\r');
  const bool printed = within(c, ' ', '~'), alpha = upper || lower;
  int bits = 0;
  if (upper) bits |= _ISupper;
  if (lower) bits |= _ISlower;
  if (alpha) bits |= _ISalpha;
  if (digit) bits |= _ISdigit;
  if (hex) bits |= _ISxdigit;
  if (space) bits |= _ISspace;
  if (printed) bits |= _ISprint;
  if (printed && c != ' ') bits |= _ISgraph;
  if (blank) bits |= _ISblank;
  if (within(c, 0, 31) || c == 127) bits |= _IScntrl;
  if (printed && c != ' ' && !alpha && !digit) bits |= _ISpunct;
  if (alpha || digit) bits |= _ISalnum;
  return static_cast<unsigned short>(bits);
}
constexpr int to_lower(int c) { return within(c, 'A', 'Z') ? c + 32 : c; }
constexpr int to_upper(int c) { return within(c, 'a', 'z') ? c - 32 : c; }

template <class T, class Of>
constexpr std::array<T, entries> table(Of of) {
  std::array<T, entries> made{};
  for (int i = 0; i < entries; ++i)
    made[static_cast<std::size_t>(i)] = static_cast<T>(of(first + i));
  return made;
}
constexpr auto classes = table<unsigned short>(classes_of);
constexpr auto lower = table<int>(to_lower), upper = table<int>(to_upper);

__locale_struct the_locale{
    {}, classes.data() - first, lower.data() - first, upper.data() - first, {}};

// A class's number is its bit.
struct {
  const char* name;
  unsigned bit;
} constexpr names[] = {{"upper", _ISupper}, {"lower", _ISlower},   {"alpha", _ISalpha},
                       {"digit", _ISdigit}, {"xdigit", _ISxdigit}, {"space", _ISspace},
                       {"print", _ISprint}, {"graph", _ISgraph},   {"blank", _ISblank},
                       {"cntrl", _IScntrl}, {"punct", _ISpunct},   {"alnum", _ISalnum}};

}  // namespace

extern "C" {

locale_t __newlocale(int, const char*, locale_t) noexcept { return &the_locale; }
locale_t __duplocale(locale_t) noexcept { return &the_locale; }
locale_t __uselocale(locale_t) noexcept { return &the_locale; }
void __freelocale(locale_t) noexcept {}
char* __nl_langinfo_l(nl_item item, locale_t) noexcept {
  const char* text = item == RADIXCHAR ? "." : item == CODESET ? "ANSI_X3.4-1968" : "";
  return const_cast<char*>(text);
}
std::size_t __ctype_get_mb_cur_max() noexcept { return 1; }

int __strcoll_l(const char* a, const char* b, locale_t) noexcept { return std::strcmp(a, b); }
std::size_t __strxfrm_l(char* to, const char* text, std::size_t room, locale_t) noexcept {
  if (room > 0) std::strncpy(to, text, room);
  return std::strlen(text);
}
// No program here prints a date.
std::size_t __strftime_l(char*, std::size_t, const char*, const tm*, locale_t) noexcept {
  return 0;
}
std::size_t __wcsftime_l(wchar_t*, std::size_t, const wchar_t*, const tm*, locale_t) noexcept {
  return 0;
}

// --- wide characters

wctype_t __wctype_l(const char* name, locale_t) noexcept {
  for (const auto& each : names)
    if (std::strcmp(each.name, name) == 0) return each.bit;
  return 0;
}
int __iswctype_l(wint_t c, wctype_t bits, locale_t) noexcept {
  return c < 128 ? classes_of(static_cast<int>(c)) & static_cast<int>(bits) : 0;
}
wint_t __towupper_l(wint_t c, locale_t) noexcept {
  return c < 128 ? static_cast<wint_t>(to_upper(static_cast<int>(c))) : c;
}
wint_t __towlower_l(wint_t c, locale_t) noexcept {
  return c < 128 ? static_cast<wint_t>(to_lower(static_cast<int>(c))) : c;
}
wint_t btowc(int c) noexcept { return within(c, 0, 127) ? static_cast<wint_t>(c) : WEOF; }
int wctob(wint_t c) noexcept { return c < 128 ? static_cast<int>(c) : EOF; }

std::size_t wcslen(const wchar_t* text) noexcept {
  std::size_t n = 0;
  while (text[n] != 0) ++n;
  return n;
}
int wcscmp(const wchar_t* a, const wchar_t* b) noexcept {
  for (; *a == *b && *a != 0; ++a) ++b;
  return *a < *b ? -1 : *a > *b ? 1 : 0;
}
int __wcscoll_l(const wchar_t* a, const wchar_t* b, locale_t) noexcept { return wcscmp(a, b); }
std::size_t __wcsxfrm_l(wchar_t* to, const wchar_t* text, std::size_t room, locale_t) noexcept {
  const std::size_t length = wcslen(text);
  for (std::size_t i = 0; i <= length && i < room; ++i) to[i] = text[i];
  return length;
}
wchar_t* wmemcpy(wchar_t* to, const wchar_t* from, std::size_t n) noexcept {
  return static_cast<wchar_t*>(std::memcpy(to, from, n * sizeof(wchar_t)));
}
wchar_t* wmemmove(wchar_t* to, const wchar_t* from, std::size_t n) noexcept {
  return static_cast<wchar_t*>(std::memmove(to, from, n * sizeof(wchar_t)));
}
wchar_t* wmemset(wchar_t* to, wchar_t value, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) to[i] = value;
  return to;
}
// A byte is a wide character.
std::size_t mbrtowc(wchar_t* to, const char* from, std::size_t room, mbstate_t*) noexcept {
  if (from == nullptr) return 0;
  if (room == 0) return static_cast<std::size_t>(-2);
  if (to != nullptr) *to = static_cast<unsigned char>(*from);
  return *from != '\0' ? 1 : 0;
}
std::size_t wcrtomb(char* to, wchar_t c, mbstate_t*) noexcept {
  if (to != nullptr) *to = static_cast<char>(c);
  return 1;
}
std::size_t mbsnrtowcs(wchar_t* to, const char** from, std::size_t most, std::size_t room,
                       mbstate_t*) noexcept {
  std::size_t n = 0;
  for (; n < most && (to == nullptr || n < room); ++n) {
    if (to != nullptr) to[n] = static_cast<unsigned char>((*from)[n]);
    if ((*from)[n] != '\0') continue;
    if (to != nullptr) *from = nullptr;
    return n;
  }
  if (to != nullptr) *from += n;
  return n;
}
std::size_t mbsrtowcs(wchar_t* to, const char** from, std::size_t room, mbstate_t* state) noexcept {
  return mbsnrtowcs(to, from, ~std::size_t{0}, room, state);
}
std::size_t wcsnrtombs(char* to, const wchar_t** from, std::size_t most, std::size_t room,
                       mbstate_t*) noexcept {
  std::size_t n = 0;
  for (; n < most && (to == nullptr || n < room); ++n) {
    if (to != nullptr) to[n] = static_cast<char>((*from)[n]);
    if ((*from)[n] != 0) continue;
    if (to != nullptr) *from = nullptr;
    return n;
  }
  if (to != nullptr) *from += n;
  return n;
}

}  // extern "C"
