#include "plain_impl.h"
#include <math.h>

int libm_find(struct libm *out, struct pb_error *err)
{
    (void)err;
    *out = (struct libm){ .sqrt = sqrt,
                          .sin = sin,
                          .cos = cos,
                          .tan = tan,
                          .log = log,
                          .log10 = log10,
                          .exp = exp,
                          .pow = pow,
                          .fmod = fmod };
    return 0;
}
