/* config_edit_text.h - a JSON text that is changed in place: what is not touched keeps its bytes,
 * what is put in takes on the look of its surroundings. For config_edit.c only. */
#pragma once
#include "json/json.h"

struct edit_text {
    const char *path; /* for messages */
    struct buf text;
    struct json_doc doc; /* of text, anew after each change: values do not outlive one */
    bool changed;
};

void edit_text_done(struct edit_text *e);
#define AUTO_EDIT __attribute__((cleanup(edit_text_done)))

/* Reads e->text, "{}" if there is none. -PB_E_INVALID: "FILE:LINE:COLUMN: what was expected". */
MUST_CHECK int edit_text_parse(struct edit_text *e, struct pb_error *err);
struct json edit_text_root(const struct edit_text *e);
unsigned edit_text_line(const struct edit_text *e, struct json v);

/* `value` is JSON and is laid out anew. A member of that name gets it; otherwise it becomes the
 * last. Changes nothing when the value is there already. */
MUST_CHECK int edit_text_put(struct edit_text *e, struct json object, const char *key,
                             struct span value, struct pb_error *err);
/* The same for an array: in the place of `child`, or at the end if that is JSON_NONE. */
MUST_CHECK int edit_text_put_item(struct edit_text *e, struct json array, struct json child,
                                  struct span value, struct pb_error *err);
/* The same before all others. */
MUST_CHECK int edit_text_put_first(struct edit_text *e, struct json array, struct span value,
                                   struct pb_error *err);
/* Takes out a member or an element, with the comma that is left over. */
MUST_CHECK int edit_text_drop(struct edit_text *e, struct json container, struct json child,
                              struct pb_error *err);
