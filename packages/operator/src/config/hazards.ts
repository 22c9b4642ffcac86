import { hash } from "node:crypto";
import { contractFor, isConfigError, removedAccess, validateMachineConfig } from "@talos-operator/talos";
import type { Hazard, RuntimeMode } from "@talos-operator/talos";
import { noSecrets } from "./no-secrets.ts";
import { renderMachineConfig } from "./render.ts";
import type { RenderInput } from "./render.ts";

/** Answers that are kept: every pass asks the same question, and an answer costs milliseconds. */
const MAX_KEPT = 1_000;

const kept = new Map<string, readonly Hazard[]>();

/** The machine that a configuration is for. */
export interface HazardPlace {
  readonly platform: string | undefined;
  /** Talos that reads it. */
  readonly version: string;
  /** The machine's address. Whether a subnet that a firewall lets in holds this operator only the network knows: that it never can, by its family, is certain. */
  readonly reachedAt: string;
  /** All that it has, where somebody asked; absent = not known. */
  readonly addresses?: readonly string[];
}

/** What the checks for machine configs are asked with. */
export function modeOf(platform: string | undefined): RuntimeMode {
  return platform === "container" ? "container" : "metal";
}

/** The hazards that hold back the first configuration of a machine: one that installs with it keeps it, and can only be wiped at its console. */
export function firstHazards(
  input: Omit<RenderInput, "secrets">,
  { reachedAt, addresses }: Pick<HazardPlace, "reachedAt" | "addresses">,
): readonly Hazard[] {
  // Machines of a pool share the answer: of the address its family alone counts.
  const { addresses: _addresses, ...shared } = input;
  const key = hash("sha256", JSON.stringify([shared, reachedAt.includes(":"), addresses]), "base64");
  const known = kept.get(key);
  if (known !== undefined) return known;
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  const { platform, version } = input;
  const found = readable(() =>
    holding(renderMachineConfig({ ...input, secrets: noSecrets }), {
      platform,
      version,
      reachedAt,
      ...(addresses === undefined ? {} : { addresses }),
    }),
  );
  kept.set(key, found);
  return found;
}

/** The hazards that hold back a changed configuration. What the machine runs with already is no change, and holds nothing back. */
export function newHazards(wanted: string, live: string, place: HazardPlace): readonly Hazard[] {
  const { version, reachedAt } = place;
  const removed = readable(() => removedAccess(wanted, live, { contract: contractFor(version), reachedAt }));
  const found = readable(() => holding(wanted, place));
  if (found.length === 0) return removed;
  const stands = new Set(readable(() => holding(live, place)).map(wordOf));
  return [...found.filter((hazard) => !stands.has(wordOf(hazard))), ...removed];
}

function holding(text: string, { platform, version, reachedAt, addresses }: HazardPlace): readonly Hazard[] {
  const { hazards } = validateMachineConfig(text, { mode: modeOf(platform), contract: contractFor(version), reachedAt, addresses });
  return hazards.filter(({ holdsBack }) => holdsBack);
}

/** Another contract writes the same in another place. */
function wordOf({ code, message }: Hazard): string {
  return `${code} ${message}`;
}

/** That none can be made or read is said of the spec. */
function readable(find: () => readonly Hazard[]): readonly Hazard[] {
  try {
    return find();
  } catch (thrown) {
    if (isConfigError(thrown) || (thrown instanceof Error && thrown.name === "ConfigRefusal")) return [];
    throw thrown;
  }
}
