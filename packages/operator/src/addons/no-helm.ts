import type { HelmPresence } from "./runner.ts";

/** Of an operator that was given nothing to start workers with. */
export const noHelm: HelmPresence = () =>
  Promise.resolve({
    found: false,
    message: "This operator starts no workers for addons: its chart's value addons.enabled is false, or ADDON_JOB is not set.",
  });
