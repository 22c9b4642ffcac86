import { classifyConfigEffects, referenceTalosVersion, type ConfigChange } from "@talos-operator/talos";
import { CliError } from "../cli-error.ts";
import { booleanFlag, givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { documentName } from "../files/document-name.ts";
import { readInput } from "../files/input-files.ts";

const signs = { added: "+", removed: "-", changed: "~" } as const;

export async function runConfigDiff(flags: FlagValues, { stdout }: CommandContext): Promise<void> {
  const { changes } = classifyConfigEffects(
    readInput(requiredString(flags, "old-config")),
    readInput(requiredString(flags, "new-config")),
    givenString(flags, "talos-version") ?? referenceTalosVersion,
  );
  stdout.write([...Map.groupBy(changes, ({ document }) => document)].map(([document, list]) => section(document, list)).join("\n"));
  if (changes.length > 0 && booleanFlag(flags, "exit-code"))
    throw new CliError("the configs differ", "Leave --exit-code out to succeed all the same.");
  return Promise.resolve();
}

function section(document: string, changes: readonly ConfigChange[]): string {
  const lines = changes.map((change) => {
    const values = [change.before, change.after].filter((value) => value !== undefined);
    const place = change.path === "" ? "(document)" : change.path;
    if (values.length === 0) return `${signs[change.change]} ${place}\n`;
    if (values.every((value) => !value.includes("\n"))) return `${signs[change.change]} ${place}: ${values.join(" -> ")}\n`;
    return `${signs[change.change]} ${place}:\n${block("-", change.before)}${block("+", change.after)}`;
  });
  return `${documentName(document)}\n${lines.join("")}`;
}

function block(sign: string, value: string | undefined): string {
  return value === undefined ? "" : value.replaceAll(/^/gm, `    ${sign} `) + "\n";
}
