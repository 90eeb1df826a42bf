#include "candidates.h"
#include <string.h>

/* The scripts know nothing: they ask the program that is being typed what could come next. */

static const char bash[] =
    "# Words are taken from the line itself: bash would cut them at ':' and '='.\n"
    "_patchbay() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} found cur cut\n"
    "    local -a words\n"
    "    read -ra words <<< \"$line\"\n"
    "    [[ $line == *[[:space:]] ]] && words+=(\"\")\n"
    "    cur=${words[${#words[@]} - 1]}\n"
    "    cut=${cur%\"${cur##*[:=]}\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS=$'\\t' read -r found _; do\n"
    "        COMPREPLY+=(\"${found#\"$cut\"}\")\n"
    "    done < <(\"$1\" completion -- \"${words[@]:1}\" 2> /dev/null)\n"
    "    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
    "}\n"
    "complete -o default -F _patchbay patchbay\n";

static const char zsh[] =
    "#compdef patchbay\n"
    "_patchbay() {\n"
    "  local line word\n"
    "  local -a found plain\n"
    "  for line in \"${(@f)$(\"${words[1]}\" completion -- \"${(@)words[2,CURRENT]}\" 2> /dev/null)}\""
    "; do\n"
    "    [[ -n $line ]] || continue\n"
    "    word=${line%%$'\\t'*}\n"
    "    if [[ $word == *= ]]; then\n"
    "      plain+=(\"$word\")\n"
    "    else\n"
    "      found+=(\"${word//:/\\\\:}:${line#*$'\\t'}\")\n"
    "    fi\n"
    "  done\n"
    "  (( $#plain )) && compadd -S '' -- \"${plain[@]}\"\n"
    "  (( $#found )) && _describe patchbay found\n"
    "  (( $#plain + $#found )) || _files\n"
    "}\n"
    "if [[ $funcstack[1] == _patchbay ]]; then\n"
    "  _patchbay \"$@\"\n"
    "else\n"
    "  compdef _patchbay patchbay\n"
    "fi\n";

static const char fish[] = "function __patchbay\n"
                           "    set -l words (commandline -opc) (commandline -ct)\n"
                           "    set -l found ($words[1] completion -- $words[2..-1] 2>/dev/null)\n"
                           "    if test (count $found) -gt 0\n"
                           "        printf '%s\\n' $found\n"
                           "    else\n"
                           "        __fish_complete_path (commandline -ct)\n"
                           "    end\n"
                           "end\n"
                           "complete -c patchbay -f -a '(__patchbay)'\n";

static int run_completion(struct cli *cli)
{
    static const struct {
        const char *shell, *script;
    } shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

    if (cli->command) {
        candidates_print(cli->command);
        return CLI_OK;
    }
    if (!cli->n_args)
        return cli_usage(cli->verb, "for which shell? bash, zsh or fish");
    for (size_t i = 0; i < ARRAY_LEN(shells); i++)
        if (strcmp(cli->args[0], shells[i].shell) == 0) {
            fputs(shells[i].script, stdout);
            return CLI_OK;
        }
    return cli_usage(cli->verb, "no completion for '%s': bash, zsh or fish", cli->args[0]);
}

const struct verb verb_completion = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .help = "Print the completion script of a shell",
    .text = "Put one of these where your shell reads it when it starts:\n"
            "    source <(patchbay completion bash)      # ~/.bashrc\n"
            "    source <(patchbay completion zsh)       # ~/.zshrc\n"
            "    patchbay completion fish | source       # ~/.config/fish/config.fish\n"
            "Verbs, options, servers, tools and their arguments are completed. What the scripts\n"
            "ask is 'patchbay completion -- WORD...': it prints what the last word could become.",
    .max = 1,
    .takes_command = true,
    .run = run_completion,
};
