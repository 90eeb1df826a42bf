/* Bytes of an answer as files: --save. */
#include "script_rig.h"
#include <dirent.h>

#define CONF "\"conf\":" CONFORMANCE

static int files_in(const char *dir)
{
    DIR *d = opendir(in_home(dir));
    int n = 0;

    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static bool is_png(const char *name)
{
    return memcmp(file_text(name), "\x89PNG\r\n\x1a\n", 8) == 0;
}

TEST(an_embedded_resource_of_a_prompt_is_printed_as_text)
{
    rig_begin();
    rig_config(CONF);
    CHECK_INT(RUN("prompt", "conf.test_prompt_with_embedded_resource", "resourceUri=test://x"), 0);
    CHECK_HAS(out, "user: Embedded resource content for testing.");
    CHECK(strstr(out, "[resource") == NULL);
    CHECK_INT(RUN("prompt", "conf.test_prompt_with_image"), 0);
    CHECK_HAS(out, "user: [image]\n");
    rig_end();
}

TEST(images_sounds_and_bytes_are_saved_under_the_right_extension)
{
    rig_begin();
    rig_config(CONF);
    CHECK_INT(RUN("call", "conf.test_image_content", "--save", "kept"), 0);
    CHECK_HAS(out, "kept/image.png\n");
    CHECK_STR(err, "");
    CHECK(is_png("kept/image.png"));
    CHECK_INT(RUN("call", "conf.test_audio_content", "--save", "kept/"), 0);
    CHECK_HAS(out, "/audio.wav\n");
    CHECK(memcmp(file_text("kept/audio.wav"), "RIFF", 4) == 0);
    CHECK_INT(RUN("read", "test://static-binary", "--save", "kept"), 0);
    CHECK_STR(out, "kept/static-binary.png\n");
    CHECK_INT(RUN("prompt", "conf.test_prompt_with_image", "--save", "kept", "--json"), 0);
    CHECK_STR(member("messages.0.role"), "user");
    CHECK_STR(json_member(err, "saved.path"),
              "kept/image-2.png"); /* the first one stays what it was */
    CHECK_INT(files_in("kept"), 4);
    /* text is printed, not saved */
    CHECK_INT(RUN("read", "test://static-text", "--save", "kept"), 0);
    CHECK_STR(out, "This is the content of the static text resource.\n");
    CHECK_INT(files_in("kept"), 4);
    rig_end();
}

/* "aGk=" is "hi". */
#define BLOB(uri, type)                                                             \
    "{\"type\":\"resource\",\"resource\":{\"uri\":\"" uri "\",\"mimeType\":\"" type \
    "\",\"blob\":\"aGk=\"}}"

TEST(a_server_cannot_choose_a_place_outside_the_directory)
{
    static const struct {
        const char *block, *name;
    } cases[] = {
        { BLOB("file:///etc/passwd", "text/plain; charset=utf-8"), "kept/passwd.txt" },
        { BLOB("x:../../../outside.sh", "IMAGE/JPEG"), "kept/outside.jpg" },
        { BLOB("x:/a/..", "application/pdf"), "kept/resource.pdf" },
        { BLOB("x:/a/.bashrc", "what/ever"), "kept/bashrc.bin" },
        { BLOB("x:/%2e%2e%2fup", "../../sh"), "kept/2e2e2fup.bin" },
        { BLOB("x:/nul\\u0000led", "text/csv"), "kept/nulled.csv" },
        { BLOB("x:/a b;rm -rf ~?q=/../z.png", "image/png"), "kept/abrm-rf.png" },
    };

    script_begin("{\"name\":\"give\",\"inputSchema\":{\"type\":\"object\"}}", "");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char answer[512], says[128];

        snprintf(answer, sizeof answer, "{\"content\":[%s]}", cases[i].block);
        write_file(in_home("said/tools_call"), answer);
        CHECK_INT(RUN("call", "s.give", "--save", "kept"), 0);
        snprintf(says, sizeof says, "%s\n", cases[i].name);
        CHECK_HAS(out, says);
        CHECK_STR(file_text(cases[i].name), "hi");
        CHECK_INT(files_in("kept"), (int)i + 1);
    }
    /* a link that somebody laid there is not written through */
    CHECK_INT(symlink(in_home("target"), in_home("kept/trap.bin")), 0);
    write_file(in_home("said/tools_call"), "{\"content\":[" BLOB("x:/trap", "a/b") "]}");
    CHECK_INT(RUN("call", "s.give", "--save", "kept"), 0);
    CHECK_HAS(out, "kept/trap-2.bin\n");
    CHECK_INT(access(in_home("target"), F_OK), -1);

    write_file(in_home("said/tools_call"),
               "{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"!\"}]}");
    CHECK_INT(RUN("call", "s.give", "--save", "kept"), 5);
    CHECK_HAS(err, "patchbay: the server's bytes of type 'image/png' are no base64\n");
    write_file(in_home("file"), "");
    CHECK_INT(RUN("call", "s.give", "--save", "file"), 1);
    CHECK_HAS(err, "'file'");
    rig_end();
}
