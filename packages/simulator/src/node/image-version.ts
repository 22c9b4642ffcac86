import { isAtLeast } from "./version.ts";

/** Oldest and newest Talos that a machine can be installed with. Before 1.12, which no machine is booted from, it has the manners of 1.12. */
const OLDEST = "1.5";
const AFTER_NEWEST = "1.15";

/** Talos version of an installer image by its tag; `undefined` for an image of anything else, or of another Talos. */
export function talosVersionOfImage(reference: string): string | undefined {
  const version = /\/[\w.-]*installer[\w.-]*(?:\/[0-9a-f]{64})?:(v\d+\.\d+\.\d+(?:-[\w.]+)?)(?:@sha256:[0-9a-f]{64})?$/.exec(
    reference,
  )?.[1];
  return version !== undefined && isAtLeast(version, OLDEST) && !isAtLeast(version, AFTER_NEWEST) ? version : undefined;
}
