/* corpus.c - runs a fuzz target over files: every test run replays what fuzzing has found, without
 * a fuzzing engine. Each argument is a file or a folder of files. Prints TAP. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int count;

static void run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size;
    uint8_t *data;

    if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0) {
        printf("Bail out! cannot read %s\n", path);
        exit(1);
    }
    rewind(f);
    /* exactly as large as the input, so that a read past its end is seen */
    data = malloc((size_t)size ? (size_t)size : 1);
    if (!data || fread(data, 1, (size_t)size, f) != (size_t)size) {
        printf("Bail out! cannot read %s\n", path);
        exit(1);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    count++;
}

static void run_path(const char *path)
{
    struct stat st;
    struct dirent **names;
    int n;

    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
        run_file(path);
        return;
    }
    n = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char full[4096];

        if (names[i]->d_name[0] != '.') {
            snprintf(full, sizeof full, "%s/%s", path, names[i]->d_name);
            run_path(full);
        }
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

int main(int argc, char **argv)
{
    printf("1..1\n");
    for (int i = 1; i < argc; i++)
        run_path(argv[i]);
    printf("%s 1 - %d inputs survive\n", count ? "ok" : "not ok", count);
    return count ? 0 : 1;
}
