/* rest_shapes.h - how shapes are written down: a table each. */
#pragma once
#include "rest_impl.h"

/* What a string may be. */
#define REST_WORDS(name, ...)                               \
    const char *name(unsigned i)                            \
    {                                                       \
        static const char *const words[] = { __VA_ARGS__ }; \
                                                            \
        return i < ARRAY_LEN(words) ? words[i] : NULL;      \
    }

typedef const char *rest_word_fn(unsigned i);
rest_word_fn rest_states, rest_transports, rest_reasons;

/* Short words for the tables. */
#define TEXT  REST_STRING
#define COUNT REST_COUNT
#define NUM   REST_NUMBER
#define BOOL  REST_BOOL
#define OBJ   REST_OBJECT
#define OPT   REST_OPTIONAL
#define NIL   REST_NULLABLE
#define LIST  REST_LIST
#define MAP   REST_MAP
#define END \
    {       \
        0   \
    }
#define FIELDS(...) ((const struct rest_field[]){ __VA_ARGS__, END })
/* The one member of an answer: a list. */
#define ALL(key, of) FIELDS({ key, REST_SHAPE, LIST, .shape = &(of) })

#define SECONDS "seconds since 1970"
