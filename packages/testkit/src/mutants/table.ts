import { checksOf, effects } from "@talos-operator/operator/testing";
import type { EffectKind } from "@talos-operator/operator/testing";
import type { Mutant } from "./mutant.ts";
import { required } from "./required.ts";

const HEAD = `# Planted faults

Written by \`npm run mutants -- --write\`. Each fault is planted into the product's source while it loads, and what must notice it is played: simulated lives
with crashes, or tests. They stand in \`packages/testkit/src/mutants/faults/\`. \`npm run mutants -- NAME\` plays one; CI plays a tenth that changes with the
commit.
`;

/** Incidents and faults that cannot be planted, with the reason. */
export type Unplantable = Readonly<Record<string, string>>;

/** The page with every mutant, what noticed it when it was last played, and what has none yet. */
export function tableOf(
  mutants: readonly Mutant[],
  outcomes: ReadonlyMap<string, string>,
  effort: string | undefined,
  unplantable: Unplantable,
): string {
  const ids = Object.keys(required);
  const standing = (id: string): readonly Mutant[] => mutants.filter(({ stands = [] }) => stands.includes(id));
  const checked = (id: string): readonly string[] =>
    kinds.filter((kind) => `guard ${effects[kind].inventory}` === id && checksOf(kind).length > 0);
  const covered = ids.filter((id) => standing(id).length + checked(id).length > 0);
  const lines = [
    HEAD,
    `${mutants.length} faults; of ${ids.length} incidents, known faults and guards, ${covered.length} have at least one.`,
    ...(effort === undefined ? [] : [effort]),
    "",
    "| fault | what it does | stands for | noticed by |",
    "| --- | --- | --- | --- |",
    ...mutants.map(
      ({ name, about, stands = [] }) =>
        `| \`${name}\` | ${cell(about)} | ${stands.join(", ")} | ${cell(outcomes.get(name) ?? "not played yet")} |`,
    ),
    "",
    ...checksSection(),
    "## Incidents, faults of other operators, guards",
    "",
    "| id | what it was | planted as |",
    "| --- | --- | --- |",
    ...ids.map(
      (id) =>
        `| ${id} | ${cell(required[id] ?? "")} | ${
          [...standing(id).map(({ name }) => `\`${name}\``), ...checked(id).map((kind) => `checks of ${kind}`)].join(", ") ||
          (unplantable[id] ?? "not yet")
        } |`,
    ),
    "",
  ];
  return lines.join("\n");
}

const kinds = Object.keys(effects) as EffectKind[];

/** Every check that an effect makes, from its definition: each is taken out of the registry by the table of its effect, and has to be missed. */
export function checksSection(): readonly string[] {
  const rows = kinds.map((kind) => [kind, checksOf(kind)] as const).filter(([, checks]) => checks.length > 0);
  const count = rows.reduce((sum, [, checks]) => sum + checks.length, 0);
  return [
    "## Checks of effects",
    "",
    `${count} checks of ${rows.length} effects, from their definitions. The tests in \`packages/testkit/src/effects/\` and \`tend-nodes.test.ts\` take out each by itself: the effect that was held back has to be sent then.`,
    "",
    "| effect | row of the inventory | checks |",
    "| --- | --- | --- |",
    ...rows.map(([kind, checks]) => `| ${kind} | ${effects[kind].inventory} | ${checks.join(", ")} |`),
    "",
  ];
}

/** The line about how long it takes to play them all. */
export function effortLine(processorMinutes: number): string {
  return `Playing all of them takes ${processorMinutes.toFixed(1)} minutes of processor time, half as long on two quiet cores.`;
}

/** The same from the page. */
export function readEffort(text: string): string | undefined {
  return /^Playing all of them .*$/m.exec(text)?.[0];
}

/** What the page says of each mutant. */
export function readTable(text: string): Map<string, string> {
  const rows = [...text.matchAll(/^\| `([a-z0-9-]+)` +\|.*\| *([^|]*?) *\|$/gm)];
  return new Map(rows.map(([, name = "", said = ""]) => [name, said]));
}

function cell(text: string): string {
  return text.replaceAll("|", "/").replaceAll("\n", " ");
}
