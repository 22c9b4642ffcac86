import type { TroubleKind } from "../simulate/troubles.ts";
import type { Mutant } from "./mutant.ts";

/**
 * Reads planted faults from text, an empty line between two of them. The first line is `name: what it does`; then, in any order before the edits:
 *
 *     for W3, guard T4            what it stands for
 *     test FILE FILE              test files that fail with it; without `test` and `life` it is the one beside the first edited file
 *     life WORKLOAD TROUBLE RUNS  simulated lives that notice it, instead of tests; trouble and runs only where it needs them
 *     # a remark
 *
 * and for each edit `@ FILE`, lines `- ` of what stands exactly once in that file, and lines `+ ` of what comes in its place, if anything does. Files are below
 * `packages/`.
 */
export function parseFaults(text: string): readonly Mutant[] {
  return text
    .split(/\n{2,}/)
    .map((block) => block.split("\n").filter((line) => line !== "" && !line.startsWith("#")))
    .filter((lines) => lines.length > 0)
    .map(parseFault);
}

function parseFault([head = "", ...lines]: readonly string[]): Mutant {
  const [, name, about] = /^([a-z0-9-]+): (.+)$/.exec(head) ?? [];
  if (name === undefined || about === undefined) throw new Error(`no fault begins with "${head}"`);
  const edits: { readonly file: string; readonly find: string[]; readonly replace: string[] }[] = [];
  let stands: Pick<Mutant, "stands"> = {};
  let notice: Pick<Mutant, "tests" | "workload" | "trouble" | "runs"> | undefined;
  for (const line of lines) {
    const [, word = "", rest = ""] = /^(\S+) ?(.*)$/.exec(line) ?? [];
    const edit = edits.at(-1);
    if (word === "@") edits.push({ file: rest, find: [], replace: [] });
    else if (word === "-" && edit !== undefined) edit.find.push(rest);
    else if (word === "+" && edit !== undefined) edit.replace.push(rest);
    else if (word === "for") stands = { stands: rest.split(", ") };
    else if (word === "test") notice = { tests: rest.split(" ") };
    else if (word === "life") notice = lifeOf(rest);
    else throw new Error(`${name}: what is "${line}"?`);
  }
  const [first] = edits;
  if (first === undefined) throw new Error(`${name} edits nothing`);
  return {
    name,
    about,
    ...stands,
    ...(notice ?? { tests: [first.file.replace(/\.ts$/, ".test.ts")] }),
    edits: edits.map(({ file, find, replace }) => ({ file, find: find.join("\n"), replace: replace.join("\n") })),
  };
}

function lifeOf(words: string): Pick<Mutant, "workload" | "trouble" | "runs"> {
  const [workload = "", ...more] = words.split(" ");
  const trouble = more.find((word) => !/^\d+$/.test(word)) as TroubleKind | undefined;
  const runs = more.find((word) => /^\d+$/.test(word));
  return { workload, ...(trouble === undefined ? {} : { trouble }), ...(runs === undefined ? {} : { runs: Number(runs) }) };
}
