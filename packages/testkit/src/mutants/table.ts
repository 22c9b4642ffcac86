import type { Mutant } from "./mutant.ts";
import { required } from "./required.ts";

const HEAD = `# Planted faults

Written by \`npm run mutants -- --write\`. Each fault is planted into the product's source while it loads, and what must notice it is played: simulated lives
with crashes, or tests. \`npm run mutants -- NAME\` plays one; CI plays a tenth that changes with the commit.
`;

/** The page with every mutant, what noticed it when it was last played, and what has none yet. */
export function tableOf(mutants: readonly Mutant[], outcomes: ReadonlyMap<string, string>): string {
  const ids = Object.keys(required);
  const standing = (id: string): readonly Mutant[] => mutants.filter(({ stands = [] }) => stands.includes(id));
  const covered = ids.filter((id) => standing(id).length > 0);
  const lines = [
    HEAD,
    `${mutants.length} faults; of ${ids.length} incidents, known faults and guards, ${covered.length} have at least one.`,
    "",
    "| fault | what it does | stands for | noticed by |",
    "| --- | --- | --- | --- |",
    ...mutants.map(
      ({ name, about, stands = [] }) =>
        `| \`${name}\` | ${cell(about)} | ${stands.join(", ")} | ${cell(outcomes.get(name) ?? "not played yet")} |`,
    ),
    "",
    "## Incidents, faults of other operators, guards",
    "",
    "| id | what it was | planted as |",
    "| --- | --- | --- |",
    ...ids.map(
      (id) =>
        `| ${id} | ${cell(required[id] ?? "")} | ${
          standing(id)
            .map(({ name }) => `\`${name}\``)
            .join(", ") || "not yet"
        } |`,
    ),
    "",
  ];
  return lines.join("\n");
}

/** What the page says of each mutant. */
export function readTable(text: string): Map<string, string> {
  const rows = [...text.matchAll(/^\| `([a-z0-9-]+)` +\|.*\| *([^|]*?) *\|$/gm)];
  return new Map(rows.map(([, name = "", said = ""]) => [name, said]));
}

function cell(text: string): string {
  return text.replaceAll("|", "/").replaceAll("\n", " ");
}
