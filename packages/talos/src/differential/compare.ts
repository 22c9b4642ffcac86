import { canonicalMachineConfig } from "../config/canonical.ts";
import { ConfigError, type ConfigErrorCode } from "../config/errors.ts";
import { applyPatches, generationOf, loadPatch } from "../config/patch/patch.ts";
import { validateMachineConfig, type RuntimeMode } from "../config/validate/validate.ts";
import { generatedConfigs, type GenconfigInput } from "../golden/genconfig.ts";
import type { Contract } from "../versions/contract.ts";

/** What the genuine machinery said. Where it crashed (`panic`) nothing is compared: a crash is no answer to follow. */
type Answer = Readonly<Record<string, unknown>>;

/** What ours and the genuine machinery make of one input: both the same bytes, or both a refusal; else what differs. */
export type Difference = string | undefined;

/** Reading a config and printing it. */
export function compareEncoding(config: string, answer: Answer, contract: Contract): Difference {
  return compare(
    attempt(() => canonicalMachineConfig(config, { contract })),
    textIn(answer, "canonical"),
    answer,
  );
}

/** Applying patches to a config. */
export function comparePatches(
  input: { readonly config: string; readonly patches: readonly string[] },
  answer: Answer,
  contract: Contract,
): Difference {
  const generation = generationOf(contract);
  const ours = attempt(() => {
    const patches = input.patches.map((patch) => loadPatch(patch, generation));
    return applyPatches(input.config, patches, generation);
  });
  if (deletesAbsentDocument(input.patches, input.config, textIn(answer, "output"))) return undefined;
  return compare(ours, textIn(answer, "output"), answer);
}

/**
 * Validating a config in every mode, strict and not: the reports and warnings have to hold the same lines. Their order is not compared: Talos
 * takes the members of maps as they come.
 */
export function compareValidation(config: string, answer: Answer, contract: Contract): Difference {
  for (const mode of ["metal", "cloud", "container"] satisfies RuntimeMode[]) {
    for (const strictness of ["lenient", "strict"] as const) {
      const ours = attempt(() => {
        const { report, warnings } = validateMachineConfig(config, { mode, strict: strictness === "strict", contract });
        return linesOf(report ?? "", warnings);
      });
      const verdict = (answer[mode] as Record<string, Verdict> | undefined)?.[strictness];
      const theirs = verdict === undefined ? undefined : linesOf(verdict.error ?? "", verdict.warnings);
      const difference = "text" in ours && theirs !== undefined ? differentLines(ours.text, theirs) : compare(ours, theirs, answer);
      if (difference !== undefined) return `${mode}, ${strictness}: ${difference}`;
    }
  }
  return undefined;
}

/** The lines that one side alone has. */
function differentLines(ours: string, theirs: string): Difference {
  if (ours === theirs) return undefined;
  const left = ours.split("\n");
  const right = theirs.split("\n");
  const only = (lines: readonly string[], others: readonly string[]): string =>
    JSON.stringify(lines.filter((line) => !others.includes(line)));
  return `only ours ${only(left, right)}, only genuine ${only(right, left)}`;
}

interface Verdict {
  readonly error: string | null;
  readonly warnings: readonly string[];
}

function linesOf(report: string, warnings: readonly string[]): string {
  // The first error of a document stands behind its name.
  const apart = report
    .replaceAll(/^(\t\* [\w.]+(?:\/\S*)?:) /gm, "$1\n")
    // It names the first that it meets.
    .replaceAll(/(unsupported pod resource) "[^"]*"/g, "$1")
    // We do not repeat the secret of a cluster in what is said of it.
    .replaceAll(/(invalid clusterSecret: failed to decode from base64: ).*?(; illegal)/gs, "$1(secret)$2")
    .replaceAll(/(invalid clusterSecret: expected 32 bytes, got \d+: ).*/g, "$1(secret)")
    // Talos names the selector of UnattendedInstallConfig by a field that it does not have.
    .replaceAll("provisioning.volumeSelector.match", "provisioning.diskSelector.match")
    // The words of the parser of expressions are its own; that it refuses is what counts.
    .replaceAll(/ERROR: <input>:\d+:\d+: Syntax error: .*/g, "syntax error")
    .replaceAll(/^ \| .*$/gm, "");
  return [...apart.split("\n").toSorted(), ...warnings.toSorted()].join("\n");
}

/** Generating the configs of a cluster. */
export function compareGenerated(input: GenconfigInput, answer: Answer): Difference {
  const shared = [...(input.config_patch ?? []), ...(input.config_patch_control_plane ?? [])];
  // Talos 1.13 patches `init` first, and the next configs with what became of the patch meanwhile: its plugins of one name were merged into each other.
  const isSpoilt = shared.some((patch) => patch.includes("admissionControl"));
  const all = ["controlplane", "worker", "init"] as const;
  const roles = isSpoilt ? (["init"] as const) : all;
  const ours = attempt(() => {
    const texts = new Map(all.map((role) => [role, generatedConfigs(input, role)]));
    return roles.map((role) => texts.get(role)).join("\n=====\n");
  });
  const patches = [...(input.config_patch ?? []), ...(input.config_patch_control_plane ?? []), ...(input.config_patch_worker ?? [])];
  if (deletesAbsentDocument(patches, "", ...roles.map((role) => textIn(answer, role)))) return undefined;
  // A protocol that was left out is printed as a text that nobody reads.
  if (roles.some((role) => textIn(answer, role)?.includes("Protocol(0)") === true)) return undefined;
  const theirs = answer["error"] === undefined ? roles.map((role) => textIn(answer, role)).join("\n=====\n") : undefined;
  return compare(ours, theirs, answer);
}

/** Talos 1.13 leaves an empty document behind when a patch deletes one that is absent, and goes on with it; newer ones do not, nor do we. */
function deletesAbsentDocument(patches: readonly string[], config: string, ...outputs: readonly (string | undefined)[]): boolean {
  if (outputs.some((text) => text !== undefined && /(?:^|---\n)\{\}\n/.test(text))) return true;
  return patches
    .flatMap((patch) => patch.split("---\n"))
    .some((document) => {
      const kind = /^kind: \w+/m.exec(document)?.[0];
      return kind !== undefined && /^\$patch: delete\b/m.test(document) && !config.includes(`${kind}\n`);
    });
}

type Attempt = { readonly text: string } | { readonly refusal: string; readonly detail: string; readonly code: ConfigErrorCode };

function attempt(run: () => string): Attempt {
  try {
    return { text: run() };
  } catch (error) {
    // Anything but a refusal is a fault of ours, whatever the other side says.
    if (!(error instanceof ConfigError)) throw error;
    return { refusal: error.message, detail: error.detail, code: error.code };
  }
}

function compare(ours: Attempt, theirs: string | undefined, answer: Answer): Difference {
  // We refuse every anchor whose value contains itself, Talos only where it would read it for ever: nobody writes one, and whoever walks it never ends.
  if (answer["panic"] !== undefined || ("refusal" in ours && ours.code === "YAML_ALIAS")) return undefined;
  const said = String(answer["error"] ?? answer["load_error"]);
  // These texts are Talos's own, those of its libraries are not ours to repeat.
  if ("refusal" in ours && theirs === undefined && /delete (?:statements|path)|patch delete/.test(said) && ours.code === "PATCH_DELETE")
    return said.endsWith(ours.detail)
      ? undefined
      : `ours refuses with ${JSON.stringify(ours.detail)}, the genuine one with ${JSON.stringify(said)}`;
  if ("refusal" in ours) return theirs === undefined ? undefined : `ours refuses (${ours.refusal}), the genuine one says:\n${theirs}`;
  if (theirs === undefined) return `the genuine one refuses (${said}), ours says:\n${ours.text}`;
  if (ours.text === theirs) return undefined;
  const a = ours.text.split("\n");
  const b = theirs.split("\n");
  let line = 0;
  while (a[line] === b[line]) line++;
  return `line ${line + 1}: ours ${JSON.stringify(a[line])}, genuine ${JSON.stringify(b[line])}`;
}

function textIn(answer: Answer, key: string): string | undefined {
  const value = answer[key];
  return typeof value === "string" ? value : undefined;
}
