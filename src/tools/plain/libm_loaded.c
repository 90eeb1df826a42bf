#include "plain_impl.h"
#include <dlfcn.h>

static const struct {
    const char *name;
    size_t at;
} symbols[] = {
    { "sqrt", offsetof(struct libm, sqrt) }, { "sin", offsetof(struct libm, sin) },
    { "cos", offsetof(struct libm, cos) },   { "tan", offsetof(struct libm, tan) },
    { "log", offsetof(struct libm, log) },   { "log10", offsetof(struct libm, log10) },
    { "exp", offsetof(struct libm, exp) },   { "pow", offsetof(struct libm, pow) },
    { "fmod", offsetof(struct libm, fmod) },
};
_Static_assert(ARRAY_LEN(symbols) * sizeof(void *) == sizeof(struct libm),
               "every function has a row");

/* Where there is no such file the C library has them itself. It stays loaded. */
int libm_find(struct libm *out, struct pb_error *err)
{
    void *lib = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *f = dlsym(lib ? lib : RTLD_DEFAULT, symbols[i].name);

        if (!f)
            return fail(err, PB_E_UNSUPPORTED, "libm.so.6 has no %s; install the C library anew",
                        symbols[i].name);
        memcpy((char *)out + symbols[i].at, &f, sizeof f);
    }
    return 0;
}
