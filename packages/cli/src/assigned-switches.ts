import type { CommandSpec, FlagSpec } from "./command.ts";

const yes: ReadonlySet<string> = new Set(["1", "t", "T", "true", "TRUE", "True"]);
const no: ReadonlySet<string> = new Set(["0", "f", "F", "false", "FALSE", "False"]);

/**
 * Rewrites what talosctl's flag library takes and ours does not, so that its command lines can be used as they are: `--switch=false` becomes
 * `--no-switch`, `--switch=true` becomes `--switch`, `-o=value` becomes `-ovalue`. Values of other flags are left alone.
 *
 * @param words the words after the name of the program
 */
export function withAssignedSwitches(words: readonly string[], commands: readonly CommandSpec[]): readonly string[] {
  const command = commands.find(({ name }) => name.split(" ").every((part, index) => words[index] === part));
  if (command === undefined) return words;
  const out: string[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string;
    if (word === "--") return [...out, ...words.slice(index)];
    const flag = command.flags.find((spec) => isFlag(spec, word));
    out.push(flag === undefined ? word : rewritten(flag, word));
    const takesNext = flag !== undefined && flag.kind !== "boolean" && (word === `--${flag.name}` || word === `-${flag.short ?? ""}`);
    if (takesNext && index + 1 < words.length) out.push(words[++index] as string);
  }
  return out;
}

function isFlag({ name, short }: FlagSpec, word: string): boolean {
  return word === `--${name}` || word.startsWith(`--${name}=`) || (short !== undefined && /^-[^-]/.test(word) && word[1] === short);
}

function rewritten(flag: FlagSpec, word: string): string {
  const value = /^(?:--[^=]+|-[^-])=(.*)$/s.exec(word)?.[1];
  if (value === undefined) return word;
  if (flag.kind === "boolean") return yes.has(value) ? `--${flag.name}` : no.has(value) ? `--no-${flag.name}` : word;
  return word.startsWith("--") ? word : `${word.slice(0, 2)}${value}`;
}
