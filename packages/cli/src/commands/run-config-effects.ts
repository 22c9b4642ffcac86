import { dump } from "js-yaml";
import { classifyConfigEffects, referenceTalosVersion, type ConfigEffects } from "@talos-operator/talos";
import { CliError } from "../cli-error.ts";
import { givenString, requiredString, type CommandContext, type FlagValues } from "../command.ts";
import { documentName } from "../files/document-name.ts";
import { readInput } from "../files/input-files.ts";

export async function runConfigEffects(flags: FlagValues, { stdout }: CommandContext): Promise<void> {
  const form = requiredString(flags, "output");
  if (form !== "table" && form !== "json" && form !== "yaml")
    throw new CliError(`"${form}" is no form of output`, "Use table, json or yaml.", { exitCode: 2 });
  const effects = classifyConfigEffects(
    readInput(requiredString(flags, "old-config")),
    readInput(requiredString(flags, "new-config")),
    givenString(flags, "talos-version") ?? referenceTalosVersion,
  );
  const plain = {
    worst: effects.worst,
    rebootsItself: effects.rebootsItself,
    services: effects.services,
    changes: effects.changes.map(({ document, path, change, effect, services, rebootsItself, reason }) => ({
      document,
      path,
      change,
      effect,
      services,
      rebootsItself,
      reason,
    })),
  };
  if (form === "json") stdout.write(`${JSON.stringify(plain, undefined, 2)}\n`);
  else if (form === "yaml") stdout.write(dump(plain, { lineWidth: -1 }));
  else stdout.write(table(effects));
  return Promise.resolve();
}

function table({ worst, changes, rebootsItself }: ConfigEffects): string {
  if (worst === "none") return "no effect: both configs mean the same\n";
  const rows = changes.map(({ document, path, change, effect, services, reason }) => [
    services.length === 0 ? effect : `${effect} ${services.join(", ")}`,
    change,
    documentName(document),
    path === "" ? "(document)" : path,
    reason,
  ]);
  const all = [["EFFECT", "CHANGE", "DOCUMENT", "PATH", "REASON"], ...rows];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const head = rebootsItself ? `${worst}; the machine reboots by itself` : worst;
  return `worst: ${head}\n\n${lines.join("\n")}\n`;
}
