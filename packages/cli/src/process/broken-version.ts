import { tryParseVersion } from "@talos-operator/talos";
import { CliError } from "../cli-error.ts";

/** The version that `--broken-version` names, as machines write it. @throws CliError for a text that is none */
export function brokenVersionOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (tryParseVersion(text) === undefined)
    throw new CliError(`${JSON.stringify(text.slice(0, 64))} is no version of Talos`, "Write it as v1.13.9.", { exitCode: 2 });
  return text.startsWith("v") ? text : `v${text}`;
}
