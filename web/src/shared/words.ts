// A command line as its words, and back: quotes as a shell has them, and nothing else of a shell.

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;
const PLAIN_HERE = /^[^\s'"\\;|&<>()`]+$/;

const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/** The word as a shell takes it. */
export const shellWord = (word: string) => (PLAIN.test(word) ? word : quote(word));

/** What splitWords() splits again. "${NAME}" stays without quotes: it is filled in, with or without. */
export function joinWords(words: readonly string[]): string {
  return words.map((word) => (PLAIN_HERE.test(word) ? word : quote(word))).join(" ");
}

/** null: a quote is still open. */
export function splitWords(line: string): string[] | null {
  const words: string[] = [];
  let word = "";
  let inside = false; // of a word, though it may still be empty
  let open = "";
  for (let i = 0; i < line.length; i++) {
    const c = line[i]!;
    if (open) {
      if (c === open) open = "";
      else if (c === "\\" && open === '"' && /["\\]/.test(line[i + 1] ?? "")) word += line[++i];
      else word += c;
    } else if (c === "'" || c === '"') {
      open = c;
      inside = true;
    } else if (c === "\\" && i + 1 < line.length) {
      // A line that goes on below is one line.
      if (line[++i] === "\n") continue;
      word += line[i];
      inside = true;
    } else if (/\s/.test(c)) {
      if (inside) words.push(word);
      word = "";
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (open) return null;
  if (inside) words.push(word);
  return words;
}
