/* fuzz_patch.c - patches that anybody may have written, and texts that they are applied to: what
 * comes before the first NUL is the patch, the rest the text. A patch that fits nowhere says why;
 * one that was applied to nothing gives what its lines say. */
#include "base/base.h"
#include "tools/file/patch.h"
#include <stdint.h>

static void check(const struct patch *p)
{
    for (size_t i = 0; i < p->n_files; i++) {
        const struct patch_file *f = &p->files[i];

        if (!f->from || !*f->from || !f->to || !*f->to || f->first + f->n > p->n_hunks)
            __builtin_trap();
        for (size_t k = 0; k < f->n; k++) {
            const struct patch_hunk *h = &p->hunks[f->first + k];
            size_t old_lines = 0, new_lines = 0;

            if (h->first + h->n > p->n_lines)
                __builtin_trap();
            for (size_t l = 0; l < h->n; l++) {
                old_lines += p->lines[h->first + l].kind != '+';
                new_lines += p->lines[h->first + l].kind != '-';
            }
            if (old_lines != h->old_lines || new_lines != h->new_lines)
                __builtin_trap();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span all = span_make((const char *)data, size);
    const char *nul = size ? memchr(data, '\0', size) : NULL;
    struct span text = nul ? span_from(all, (size_t)(nul - all.p) + 1) : SPAN("");
    struct patch p;
    struct pb_error err;

    if (nul)
        all.n = (size_t)(nul - all.p);
    if (patch_parse(&p, all, &err) < 0)
        return 0;
    check(&p);
    for (size_t i = 0; i < p.n_files; i++) {
        AUTO_BUF struct buf out = { 0 }, report = { 0 }, why = { 0 };
        size_t plus, minus;
        int rc = patch_fit(&p, &p.files[i], text, &out, &report, &why);

        patch_file_count(&p, &p.files[i], &plus, &minus);
        if ((rc < 0) != (why.n > 0) || (rc == 0 && !plus && out.n > text.n + 2))
            __builtin_trap();
    }
    patch_done(&p);
    return 0;
}
