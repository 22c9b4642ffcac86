/**
 * What is wrong with a Talos release, on machines that it is to run on. A release that nothing is said of installs and boots.
 */
export interface ReleaseFault {
  /** Addresses of the machines; default all. */
  readonly machines?: readonly string[];
  /** Schematic of the image that it is wrong with; default every image. */
  readonly schematic?: string;
  /**
   * - `fails`: the boot sequence ends with an error before anything listens; what was upgraded falls back by itself, anything else boots for ever
   * - `never-healthy`: it boots and answers, and its kubelet ends as often as it is started
   * - `etcd-fails`: it boots and answers, and its etcd ends as often as it is started
   */
  readonly boot?: "fails" | "never-healthy" | "etcd-fails";
  /** Its installer ends so, after it has begun to write. Default 0. */
  readonly installerExitCode?: number;
  /**
   * - `missing`: the registry does not have its installer
   * - `stuck`: it gives it so slowly that nobody waits for it
   * - `other-platform`: it has it for another processor alone
   * - `unbuildable`: its schematic names an extension that this Talos lacks; the Image Factory answers 400, and the machine goes on asking
   */
  readonly image?: "missing" | "stuck" | "other-platform" | "unbuildable";
}

/** Faults by version, `v1.14.0`. */
export type ReleaseFaults = ReadonlyMap<string, ReleaseFault>;

/** What is wrong with a release on a machine; `undefined` = nothing. */
export function faultOf(
  releases: ReleaseFaults,
  { version, schematic }: { readonly version: string; readonly schematic: string | undefined },
  address: string,
): ReleaseFault | undefined {
  const fault = releases.get(version);
  if (fault?.schematic !== undefined && fault.schematic !== schematic) return undefined;
  return fault?.machines === undefined || fault.machines.includes(address) ? fault : undefined;
}
