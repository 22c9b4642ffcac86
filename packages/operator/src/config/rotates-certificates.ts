import { createHash } from "node:crypto";
import { describeMachineConfig, isConfigError } from "@talos-operator/talos";
import { noSecrets } from "./no-secrets.ts";
import { renderMachineConfig } from "./render.ts";
import type { RenderInput } from "./render.ts";

/** Answers that are kept: every pass asks the same question, and an answer costs milliseconds. */
const MAX_KEPT = 1_000;

/** What the wish stands under, in patches of either kind. */
const WORDS = /rotate-server-certificates|serverTLSBootstrap/u;

const kept = new Map<string, boolean>();

/**
 * Whether the kubelet of a machine with this configuration asks its cluster for the certificate that it serves with. Nothing is rendered for a machine whose
 * settings do not speak of it.
 */
export function rotatesCertificates(input: Omit<RenderInput, "secrets">): boolean {
  const { base, configPatches = [], additionalConfig = [] } = input.machineSpec;
  if (base?.rotatesServerCertificates !== true && !WORDS.test(JSON.stringify([configPatches, additionalConfig]))) return false;
  const key = createHash("sha256").update(JSON.stringify(input)).digest("base64");
  const known = kept.get(key);
  if (known !== undefined) return known;
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  const answer = says(input);
  kept.set(key, answer);
  return answer;
}

function says(input: Omit<RenderInput, "secrets">): boolean {
  try {
    return describeMachineConfig(renderMachineConfig({ ...input, secrets: noSecrets })).rotatesServerCertificates;
  } catch (thrown) {
    // That none can be made is said of the spec.
    if (isConfigError(thrown) || (thrown instanceof Error && thrown.name === "ConfigRefusal")) return false;
    throw thrown;
  }
}
