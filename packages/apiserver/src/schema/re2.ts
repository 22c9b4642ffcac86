/**
 * Go regular expressions (RE2 syntax) as JavaScript ones.
 *
 * Both sides mean the same by most of the syntax. Translated are: escapes that the `u` flag forbids, `\z`, `\Q..\E`, POSIX classes,
 * named groups, `\s` (ASCII in Go) and leading flags. Refused as Go refuses them: look-around and back-references.
 * What remains different: RE2 runs in linear time, JavaScript backtracks.
 */
export function compileRe2(pattern: string): RegExp {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const { source, flags } = translate(pattern);
  let compiled: RegExp;
  try {
    compiled = new RegExp(source, flags);
  } catch (error) {
    throw new SyntaxError(inGoWords(error, pattern), { cause: error });
  }
  if (cache.size > 2_000) cache.clear();
  cache.set(pattern, compiled);
  return compiled;
}

/** The engine's complaint in the words of Go's regexp package, as far as both have a word for it. */
function inGoWords(error: unknown, pattern: string): string {
  const message = error instanceof Error ? error.message : String(error);
  if (message.endsWith("Unterminated group")) return `missing closing ): \`${pattern}\``;
  if (message.endsWith("Unmatched ')'")) return `unexpected ): \`${pattern}\``;
  if (message.endsWith("Nothing to repeat")) return `missing argument to repetition operator: \`${pattern.slice(0, 1)}\``;
  return message;
}

/** Go's limit of `{n}`. */
const mostRepeats = 1_000;

const cache = new Map<string, RegExp>();

const posix: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  cntrl: "\\x00-\\x1F\\x7F",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

function translate(pattern: string): { source: string; flags: string } {
  let flags = "u";
  let rest = pattern;
  const leading = /^\(\?([imsU]+)\)/u.exec(rest);
  if (leading !== null) {
    const letters = leading[1] ?? "";
    if (letters.includes("U")) throw new SyntaxError("invalid or unsupported Perl syntax: the flag U is not supported");
    for (const letter of letters) if (!flags.includes(letter)) flags += letter;
    rest = rest.slice(leading[0].length);
  }
  let out = "";
  let inClass = false;
  let classStart = 0;
  for (let i = 0; i < rest.length;) {
    const char = rest[i] ?? "";
    if (char === "\\") {
      const [text, used] = escape(rest, i, inClass);
      out += text;
      i += used;
    } else if (inClass) {
      if (char === "[" && rest[i + 1] === ":") {
        const end = rest.indexOf(":]", i);
        const negated = rest[i + 2] === "^";
        const set = posix[rest.slice(i + (negated ? 3 : 2), end)];
        if (end < 0 || set === undefined || negated) throw new SyntaxError("invalid character class range");
        out += set;
        i = end + 2;
      } else {
        out += char === "[" ? "\\[" : char;
        if (char === "]") inClass = false;
        i++;
      }
    } else if (char === "[") {
      inClass = true;
      classStart = i;
      out += "[";
      i++;
      if (rest[i] === "^") {
        out += "^";
        i++;
      }
      if (rest[i] === "]") {
        out += "\\]";
        i++;
      }
    } else if (char === "(" && rest[i + 1] === "?") {
      const group = /^\(\?(?:P?<[A-Za-z_]\w*>|:|[ims]+:)/u.exec(rest.slice(i));
      if (group === null) throw new SyntaxError(`invalid or unsupported Perl syntax: \`${rest.slice(i, i + 3)}\``);
      out += group[0].replace("(?P<", "(?<");
      i += group[0].length;
    } else if (char === "{" && !/^\{\d+(?:,\d*)?\}/u.test(rest.slice(i))) {
      out += "\\{";
      i++;
    } else if (char === "{") {
      const end = rest.indexOf("}", i);
      const count = rest.slice(i, end + 1);
      const [least = 0, most = least] = (count.match(/\d+/gu) ?? []).map(Number);
      if (Math.max(least, most) > mostRepeats || most < least) throw new SyntaxError(`invalid repeat count: \`${count}\``);
      out += count;
      i = end + 1;
    } else {
      out += char === "}" || char === "]" ? `\\${char}` : char;
      i++;
    }
  }
  if (inClass) throw new SyntaxError(`missing closing ]: \`${rest.slice(classStart)}\``);
  return { source: out, flags };
}

/** One escape at `at`: its translation and how many characters it takes. */
function escape(text: string, at: number, inClass: boolean): [string, number] {
  const next = text[at + 1];
  if (next === undefined) throw new SyntaxError("trailing backslash at end of expression");
  if (/[1-9]/u.test(next)) throw new SyntaxError(`invalid escape sequence: \`\\${next}\``);
  if (next === "s") return [inClass ? "\\t\\n\\f\\r " : "[\\t\\n\\f\\r ]", 2];
  if (next === "S" && !inClass) return ["[^\\t\\n\\f\\r ]", 2];
  if (next === "z") return ["$(?![\\s\\S])", 2];
  if (next === "A") return ["(?<![\\s\\S])", 2];
  if (next === "a") return ["\\x07", 2];
  if (next === "Q") {
    const end = text.indexOf("\\E", at);
    const literal = text.slice(at + 2, end < 0 ? undefined : end);
    return [literal.replaceAll(/[\\^$.*+?()[\]{}|/-]/gu, "\\$&"), literal.length + (end < 0 ? 2 : 4)];
  }
  if (next === "p" || next === "P") {
    const named = /^\{(\^?)(\w+)\}/u.exec(text.slice(at + 2));
    const name = named === null ? (text[at + 2] ?? "") : (named[2] ?? "");
    const property = name.length <= 2 ? `General_Category=${name}` : `Script=${name}`;
    const negated = (next === "P") !== (named?.[1] === "^");
    return [`\\${negated ? "P" : "p"}{${property}}`, 2 + (named === null ? 1 : named[0].length)];
  }
  if (next === "x") {
    const long = /^\{([0-9A-Fa-f]+)\}/u.exec(text.slice(at + 2));
    if (long !== null) return [`\\u{${long[1] ?? ""}}`, 2 + long[0].length];
    return [text.slice(at, at + 4), 4];
  }
  if (/[dDwWbBntrfv]/u.test(next)) return [`\\${next}`, 2];
  if (next === "0") return ["\\0", 2];
  if (/[A-Za-z_]/u.test(next)) throw new SyntaxError(`invalid escape sequence: \`\\${next}\``);
  // Go allows any punctuation to be escaped; with the u flag JavaScript only allows syntax characters (and `-` inside a class).
  if (/[\^$\\.*+?()[\]{}|/]/u.test(next) || (inClass && next === "-")) return [`\\${next}`, 2];
  return [next, 2];
}
