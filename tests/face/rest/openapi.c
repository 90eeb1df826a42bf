/* openapi.c - prints /openapi.json, for tools/api-types. */
#include "face/rest/rest_impl.h"
#include <stdio.h>

int main(void)
{
    AUTO_BUF struct buf text = { 0 };

    rest_write_openapi(&text);
    return fwrite(text.p, 1, text.n, stdout) == text.n && fflush(stdout) == 0 ? 0 : 1;
}
