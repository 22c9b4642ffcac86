import type { HelmOptionsSpec, HelmSpec } from "@talos-operator/api";
import type { HelmOptions } from "@talos-operator/helm";

/** How long Helm waits for one step where the spec says nothing. Milliseconds. */
const STEP_MS = 5 * 60_000;

/** Longest wait that is taken. Milliseconds. */
const LONGEST_STEP_MS = 6 * 3_600_000;

const UNIT_MS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `5m0s`, `1.5h` and the like, as Go writes durations. @returns milliseconds; `undefined` for what is none, negative, or longer than `longestMs`, by default six hours */
export function goDurationMs(text: string, longestMs = LONGEST_STEP_MS): number | undefined {
  if (!/^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return text === "0" ? 0 : undefined;
  let sum = 0;
  for (const [, digits = "", , unit = ""] of text.matchAll(/([0-9]+(\.[0-9]+)?)(ns|us|µs|ms|s|m|h)/g))
    sum += Number(digits) * (UNIT_MS[unit] ?? 0);
  return sum <= longestMs ? Math.round(sum) : undefined;
}

/** Switches of Helm as a worker takes them. A time-out that cannot be read counts as none: `validateReleaseSpec` refuses it first. */
export function helmOptionsOf(options: HelmOptionsSpec = {}): HelmOptions {
  const { install = {}, upgrade = {}, uninstall = {} } = options;
  const timeoutMs = options.timeout === undefined || options.timeout === "" ? undefined : goDurationMs(options.timeout);
  return defined({
    atomic: options.atomic,
    dependencyUpdate: options.dependencyUpdate,
    disableHooks: options.disableHooks,
    disableOpenAPIValidation: options.disableOpenAPIValidation,
    skipCRDs: options.skipCRDs,
    takeOwnership: options.takeOwnership,
    timeoutMs: timeoutMs ?? STEP_MS,
    wait: options.wait,
    waitForJobs: options.waitForJobs,
    createNamespace: install.createNamespace ?? true,
    maxHistory: upgrade.maxHistory ?? 10,
    cleanupOnFail: upgrade.cleanupOnFail,
    force: upgrade.force,
    resetValues: upgrade.resetValues,
    reuseValues: upgrade.reuseValues,
    resetThenReuseValues: upgrade.resetThenReuseValues,
    uninstallDescription: uninstall.description,
    keepHistory: uninstall.keepHistory,
  });
}

/** Fields that are set and have no effect, as paths. */
export function idleHelmFields({ options = {} }: HelmSpec): readonly string[] {
  return [
    ...(options.enableClientCache === true ? ["spec.helmSpec.options.enableClientCache"] : []),
    ...(options.options === true ? ["spec.helmSpec.options.options"] : []),
    ...(options.install?.includeCRDs !== undefined ? ["spec.helmSpec.options.install.includeCRDs"] : []),
    ...(options.upgrade?.recreate === true ? ["spec.helmSpec.options.upgrade.recreate"] : []),
  ];
}

/** The same without what is not set. */
function defined<T extends object>(fields: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
