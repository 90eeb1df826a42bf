#include "libs.h"

static const struct libs linked = {
    .version = sqlite3_libversion_number,
    .config = sqlite3_config,
    .open = sqlite3_open_v2,
    .close = sqlite3_close_v2,
    .extended = sqlite3_extended_result_codes,
    .busy_timeout = sqlite3_busy_timeout,
    .progress = sqlite3_progress_handler,
    .exec = sqlite3_exec,
    .prepare = sqlite3_prepare_v3,
    .finalize = sqlite3_finalize,
    .reset = sqlite3_reset,
    .step = sqlite3_step,
    .bind_int = sqlite3_bind_int64,
    .bind_text = sqlite3_bind_text,
    .bind_blob = sqlite3_bind_blob,
    .bind_null = sqlite3_bind_null,
    .column_int = sqlite3_column_int64,
    .column_blob = sqlite3_column_blob,
    .column_bytes = sqlite3_column_bytes,
    .column_type = sqlite3_column_type,
    .errmsg = sqlite3_errmsg,
    .errcode = sqlite3_extended_errcode,
    .system_errno = sqlite3_system_errno,
    .autocommit = sqlite3_get_autocommit,
    .zstd_new = ZSTD_createCCtx,
    .zstd_free = ZSTD_freeCCtx,
    .zstd_bound = ZSTD_compressBound,
    .zstd_compress = ZSTD_compressCCtx,
    .zstd_decompress = ZSTD_decompress,
    .zstd_is_error = ZSTD_isError,
};

int libs_find(struct libs *out, struct pb_error *err)
{
    (void)err;
    *out = linked;
    return 0;
}

void libs_rest(void) {}
