import { WorkerFault } from "./fault.ts";
import { objectsIn } from "./objects-in.ts";
import type { ManifestObject } from "./objects-in.ts";

/** What is kept of what Helm prints: what has that size may be cut. Characters. */
const LARGEST_PRINTED = 1_000_000;

/**
 * Every object of a manifest that Helm printed, to be compared: one that is cut, or that this reader does not take, is compared with nothing.
 *
 * @param printed all that Helm printed
 * @param manifestOf where the manifest stands in it. Default: it is all of it.
 * @throws WorkerFault
 */
export function demandObjects(printed: string, manifestOf: (printed: string) => string = (all) => all): readonly ManifestObject[] {
  if (printed.length >= LARGEST_PRINTED)
    throw new WorkerFault("release-too-large", "The manifest of the release is too large to be compared.", false);
  const { objects, unread } = objectsIn(manifestOf(printed));
  if (unread > 0) throw new WorkerFault("failed", `${unread} objects of the manifest cannot be read here, so nothing is compared.`, false);
  return objects;
}
