// SPDX-License-Identifier: Apache-2.0
// TUTTI_JSON_FIELDS(STRUCT, MEMBER, ...) writes the function visit_fields with which a struct
// becomes an object of JSON, and back (json.hpp): the object has a member of the same name for each
// of up to 64 members. It stands in the namespace of the struct.
//
//   struct shape { int width = 0, height = 0; };
//   TUTTI_JSON_FIELDS(shape, width, height)
#pragma once

#include <concepts>
#include <type_traits>

#define TUTTI_JSON_FIELDS(STRUCT, ...)                       \
  template <class Struct, class Visit>                       \
  requires std::same_as<std::remove_const_t<Struct>, STRUCT> \
  void visit_fields(Struct& of, Visit visit) {               \
    TUTTI_JSON_REPEAT(TUTTI_JSON_VISIT_FIRST(__VA_ARGS__))   \
  }

// VISIT_FIRST visits the first member and ends in a call of itself for the others. The preprocessor
// leaves that call as it is until it reads the text again, which REPEAT makes it do 64 times.
#define TUTTI_JSON_VISIT_FIRST(FIRST, ...) \
  visit(#FIRST, of.FIRST);                 \
  __VA_OPT__(TUTTI_JSON_VISIT_OTHERS TUTTI_JSON_NOTHING()()(__VA_ARGS__))
#define TUTTI_JSON_VISIT_OTHERS() TUTTI_JSON_VISIT_FIRST
#define TUTTI_JSON_NOTHING()
#define TUTTI_JSON_REPEAT(...) \
  TUTTI_JSON_REPEAT_16(        \
      TUTTI_JSON_REPEAT_16(TUTTI_JSON_REPEAT_16(TUTTI_JSON_REPEAT_16(__VA_ARGS__))))
#define TUTTI_JSON_REPEAT_16(...) \
  TUTTI_JSON_REPEAT_4(TUTTI_JSON_REPEAT_4(TUTTI_JSON_REPEAT_4(TUTTI_JSON_REPEAT_4(__VA_ARGS__))))
#define TUTTI_JSON_REPEAT_4(...) \
  TUTTI_JSON_AGAIN(TUTTI_JSON_AGAIN(TUTTI_JSON_AGAIN(TUTTI_JSON_AGAIN(__VA_ARGS__))))
#define TUTTI_JSON_AGAIN(...) __VA_ARGS__
