import { createHash } from "node:crypto";
import { contractFor, isConfigError, validateMachineConfig } from "@talos-operator/talos";
import { noSecrets } from "./no-secrets.ts";
import { renderMachineConfig } from "./render.ts";
import type { RenderInput } from "./render.ts";

/** Answers that are kept: every pass asks the same question, and an answer costs milliseconds. */
const MAX_KEPT = 1_000;

const kept = new Map<string, string | undefined>();

/**
 * Why nobody would ever reach a machine again that gets this configuration as its first, `undefined` = nothing says so for certain. A running machine tries a
 * configuration and takes it back; one that installs with it keeps it, and can only be wiped at its console.
 *
 * Whether the subnets that a firewall lets in hold this operator nobody can know but the network: only that they never can, by their family, is certain.
 *
 * @param reachedAt the machine's address
 */
export function lockoutOf(input: Omit<RenderInput, "secrets">, reachedAt: string): string | undefined {
  const { base, configPatches = [], additionalConfig = [] } = input.machineSpec;
  if (base === undefined && configPatches.length + additionalConfig.length === 0) return undefined;
  const key = createHash("sha256")
    .update(JSON.stringify([input, reachedAt]))
    .digest("base64");
  if (kept.has(key)) return kept.get(key);
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  const words = shutOut(input, reachedAt);
  kept.set(key, words);
  return words;
}

function shutOut(input: Omit<RenderInput, "secrets">, reachedAt: string): string | undefined {
  try {
    const text = renderMachineConfig({ ...input, secrets: noSecrets });
    const mode = input.platform === "container" ? "container" : "metal";
    const { hazards } = validateMachineConfig(text, { mode, contract: contractFor(input.version), reachedAt });
    const found = hazards.find(({ code }) => code === "TALOS_API_BLOCKED");
    return found === undefined ? undefined : `${found.document}: ${found.message}`;
  } catch (thrown) {
    // That none can be made is said of the spec.
    if (isConfigError(thrown) || (thrown instanceof Error && thrown.name === "ConfigRefusal")) return undefined;
    throw thrown;
  }
}
