import type { HelmOptions } from "../task/task.ts";

/** A version of Helm, as far as flags differ. */
export type HelmMajor = 3 | 4;

/** A switch and its flag. `undefined` = this Helm has none, and does what the switch asks anyway or cannot. */
interface Flag {
  readonly option: keyof HelmOptions;
  readonly on: readonly ("upgrade" | "rollback" | "uninstall")[];
  readonly flag: Readonly<Record<HelmMajor, string>>;
  /** Given as `flag=value`. */
  readonly value?: (options: HelmOptions) => string;
}

const same = (flag: string): Readonly<Record<HelmMajor, string>> => ({ 3: flag, 4: flag });

/** Every switch of a task that Helm takes, in both versions. */
const FLAGS: readonly Flag[] = [
  { option: "dependencyUpdate", on: ["upgrade"], flag: same("--dependency-update") },
  { option: "disableHooks", on: ["upgrade", "rollback", "uninstall"], flag: same("--no-hooks") },
  { option: "disableOpenAPIValidation", on: ["upgrade"], flag: same("--disable-openapi-validation") },
  { option: "skipCRDs", on: ["upgrade"], flag: same("--skip-crds") },
  // By server-side apply the fields that others set are a conflict even where the object is taken over.
  { option: "takeOwnership", on: ["upgrade"], flag: { 3: "--take-ownership", 4: "--take-ownership --force-conflicts" } },
  { option: "wait", on: ["upgrade", "rollback", "uninstall"], flag: same("--wait") },
  { option: "waitForJobs", on: ["upgrade", "rollback"], flag: same("--wait-for-jobs") },
  { option: "createNamespace", on: ["upgrade"], flag: same("--create-namespace") },
  { option: "cleanupOnFail", on: ["upgrade", "rollback"], flag: same("--cleanup-on-fail") },
  // Replacing and applying by the server exclude each other.
  { option: "force", on: ["upgrade", "rollback"], flag: { 3: "--force", 4: "--force-replace --server-side=false" } },
  { option: "resetValues", on: ["upgrade"], flag: same("--reset-values") },
  { option: "reuseValues", on: ["upgrade"], flag: same("--reuse-values") },
  { option: "resetThenReuseValues", on: ["upgrade"], flag: same("--reset-then-reuse-values") },
  { option: "keepHistory", on: ["uninstall"], flag: same("--keep-history") },
  {
    option: "timeoutMs",
    on: ["upgrade", "rollback", "uninstall"],
    flag: same("--timeout"),
    value: ({ timeoutMs = 0 }) => `${Math.max(1, Math.ceil(timeoutMs / 1_000))}s`,
  },
  { option: "maxHistory", on: ["upgrade", "rollback"], flag: same("--history-max"), value: ({ maxHistory = 10 }) => String(maxHistory) },
  {
    option: "uninstallDescription",
    on: ["uninstall"],
    flag: same("--description"),
    value: ({ uninstallDescription = "" }) => uninstallDescription,
  },
];

/** Flags of a command for these switches. @param takesBack fields that others took over become Helm's again */
export function flagsFor(
  command: "upgrade" | "rollback" | "uninstall",
  given: HelmOptions,
  major: HelmMajor,
  { takesBack = false }: { readonly takesBack?: boolean } = {},
): readonly string[] {
  // Where no values are given any more Helm would keep those of the revision before.
  const keepsValues = given.reuseValues === true || given.resetThenReuseValues === true;
  const options: HelmOptions = {
    createNamespace: true,
    ...given,
    resetValues: given.resetValues === true || !keepsValues,
    // The way back is gone by the worker: of one that Helm goes by itself nobody could tell whose lock it leaves.
    wait: given.wait === true || (given.atomic === true && command !== "uninstall"),
  };
  const flags = FLAGS.filter(
    ({ on, option }) => on.includes(command) && options[option] !== undefined && options[option] !== false,
  ).flatMap(({ flag, value }) => (value === undefined ? flag[major].split(" ") : [`${flag[major]}=${value(options)}`]));
  // Helm 3 writes over what others changed anyway.
  if (takesBack && major === 4 && !flags.includes("--force-conflicts")) flags.push("--force-conflicts");
  // Who replaces objects has no conflicts, and Helm takes only one of both.
  return flags.includes("--force-replace") ? flags.filter((flag) => flag !== "--force-conflicts") : flags;
}
