#include "loop.h"

struct pb_loop *pb_loop_new(void) { return loop_new(NULL); }

void pb_loop_free(struct pb_loop *loop) { loop_free(loop); }

void pb_loop_run(struct pb_loop *loop) { loop_run(loop); }

void pb_loop_stop(struct pb_loop *loop) { loop_stop(loop); }

int pb_loop_post(struct pb_loop *loop, pb_fn *fn, void *ctx, struct pb_error *err)
{
    return loop_post(loop, fn, ctx, err);
}

int pb_loop_after(struct pb_loop *loop, uint32_t ms, pb_fn *fn, void *ctx, struct pb_error *err)
{
    if (!fn)
        return fail(err, PB_E_INVALID, "pb_loop_after() needs a function to call");
    loop_after(loop, ms, fn, ctx);
    return 0;
}
