import type { CommandSpec } from "../command.ts";
import { forceFlag } from "./shared-flags.ts";

export const secretsFromConfigCommand: CommandSpec = {
  name: "secrets from-config",
  summary:
    "Takes the secrets bundle of a cluster out of the config of one of its control planes, as `talosctl gen secrets --from-controlplane-config` does.",
  operands: [{ name: "controlplane-config", summary: "config of a control plane, - for standard input" }],
  flags: [
    {
      name: "output-file",
      short: "o",
      kind: "string",
      value: "file",
      summary: "where the bundle goes, - for standard output",
      default: "secrets.yaml",
    },
    forceFlag,
  ],
  run: async (flags, context) => (await import("./run-secrets.ts")).runSecretsFromConfig(flags, context),
};
