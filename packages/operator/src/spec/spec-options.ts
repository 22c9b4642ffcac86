import type { HostOptions } from "@talos-operator/api";

/** What specs are held to beside their own rules. */
export interface SpecOptions extends HostOptions {
  /** Registries, or beginnings of image names, that installers may come from. Default: any. */
  readonly installerRegistries?: readonly string[];
}
