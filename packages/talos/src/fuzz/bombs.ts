/** Small programs that write large or deep texts: what a reader must answer soon, within little memory. */
const MIB = 1024 * 1024;
/** As large as a text may be. */
const MOST = 4 * MIB - 64;
/** Somewhat fewer than the values that a text may hold. */
const MANY = 145_000;

const fill = (part: string, bytes = MOST): string => part.repeat(Math.floor(bytes / Buffer.byteLength(part)));

function lines(line: (index: number) => string, bytes = MOST): string {
  const parts: string[] = [];
  for (let size = 0, index = 0; ; index += 1) {
    const part = line(index);
    size += part.length;
    if (size > bytes) return parts.join("");
    parts.push(part);
  }
}

/** By what they consist of. */
export const bombs: Readonly<Record<string, () => string>> = {
  "a million empty documents": () => fill("---\n"),
  "documents with a text": () => fill("---\na\n"),
  "documents with a mapping": () => fill("---\na: b\n"),
  "documents of a known kind": () => fill("apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: a\n---\n"),
  "documents of many names": () => lines((index) => `apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: u${index}\n---\n`),
  "as many documents as are read": () => lines((index) => `apiVersion: v1alpha1\nkind: UserVolumeConfig\nname: u${index}\n---\n`, 60_000),
  "ends of documents": () => fill("...\n"),
  directives: () => fill("%YAML 1.2\n"),
  "tag directives": () => `${fill("%TAG ! x\n", MOST - 10)}---\na`,
  "empty list items": () => fill("- \n"),
  "list items": () => `machine:\n  certSANs:\n${fill("    - a\n", MOST - 30)}`,
  "as many list items as are read": () => `machine:\n  certSANs:\n${"    - a\n".repeat(MANY / 2)}`,
  "items in brackets": () => `[${fill("a,", MOST - 2)}]`,
  "as many items in brackets as are read": () => `machine:\n  certSANs: [${"a,".repeat(MANY - 10)}]\n`,
  "empty brackets": () => `[${fill("[],", MOST - 2)}]`,
  "keys in braces": () => `{${fill("a: 1,", MOST - 2)}}`,
  "different keys": () => `machine:\n  sysctls:\n${lines((index) => `    k${index}: v\n`, MOST - 30)}`,
  "as many keys as are read": () =>
    `machine:\n  sysctls:\n${lines((index) => `    k${index}: v\n`)
      .split("\n", MANY / 2 - 10)
      .join("\n")}\n`,
  "as many structures as are read": () => `machine:\n  network:\n    interfaces:\n${"      - interface: eth0\n".repeat(MANY / 3 - 10)}`,
  "equal keys": () => fill(":\n"),
  "open brackets": () => fill("["),
  "open braces": () => fill("{a: "),
  "mappings in mappings": () => lines((index) => `${" ".repeat(index)}a:\n`),
  "lists in lists": () => fill("- "),
  "keys of keys": () => fill("? "),
  colons: () => fill(": "),
  "a quote that is never closed": () => `a: "${fill("x", MOST - 4)}`,
  "lines in a quote that is never closed": () => `a: "${fill("\n", MOST - 4)}`,
  escapes: () => `a: "${fill("\\u0041", MOST - 10)}"`,
  "escaped surrogates": () => `a: "${fill("\\ud800", MOST - 10)}"`,
  comments: () => fill("#\n"),
  "empty lines": () => fill("\n"),
  blanks: () => fill(" "),
  tabs: () => fill("\t"),
  "byte order marks": () => fill("\ufeff"),
  anchors: () => `a:\n${lines((index) => `- &x${index} a\n`, MOST - 10)}`,
  aliases: () => `a: &a x\nb:\n${fill("- *a\n", MOST - 20)}`,
  "aliases of aliases": () =>
    ["a: &a0 [x, x]", ...Array.from({ length: 9 }, (_, index) => `b${index}: &a${index + 1} [${`*a${index},`.repeat(10)}]`)].join("\n"),
  tags: () => fill("- !!str a\n"),
  "lines of a text": () => `a: |\n${fill("  x\n", MOST - 5)}`,
  "lines of a manifest": () => `a: |\n${fill("  name: some-name-of-usual-length\n", MOST - 5)}`,
  "folded lines": () => `a: >\n${fill("  x\n\n", MOST - 5)}`,
  "lines of a plain text": () => `a: x\n${fill("  y\n", MOST - 5)}`,
  "signs of a block scalar in a comment": () => fill("# |\n  - a\n"),
  "a number": () => `machine:\n  install:\n    wipe: ${fill("9", MOST - 40)}`,
  "a key": () => `${fill("k", MOST - 3)}: v`,
  NUL: () => `a: ${fill("\0", MOST - 3)}`,
  "lone surrogates": () => `a: ${fill("\ud800", MOST - 3)}`,
  deletions: () => `machine:\n  sysctls:\n${lines((index) => `    k${index}:\n      $patch: delete\n`, 200_000)}`,
  "JSON operations": () => `[${fill('{"op":"add","path":"/machine/sysctls/a","value":"b"},', 200_000).slice(0, -1)}]`,
};
