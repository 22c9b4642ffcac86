import type { ConfigBase } from "./config-base.ts";
import type { MachineSpec } from "@talos-operator/api";

/** What one machine's configuration is made from: the settings of its pool with its own on top, and what only a TalosMachine made by hand can say. */
export interface MachineSettings extends MachineSpec {
  /** Host name of the node; `undefined` = what patches say, else the one that Talos makes. */
  readonly hostname?: string;
  /** A whole config that a person wrote, in place of the generated one. */
  readonly base?: ConfigBase;
  /** Further addresses for the names in its certificate. */
  readonly ips?: readonly string[];
}
