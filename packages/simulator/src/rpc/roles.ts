import type { IncomingCall } from "../datacenter/call.ts";
import type { Cell } from "../datacenter/cell.ts";
import type { World } from "../datacenter/world.ts";

const impersonator = "os:impersonator";

/** Certificates whose organizations are remembered; an operator has one for each cluster. */
const MOST_KNOWN = 1_000;
const known = new Map<string, readonly string[]>();

/**
 * Roles of a caller: the organizations of its certificate; in maintenance mode everybody is a reader.
 * Only a holder of `os:impersonator` may claim others with `talos-role`.
 */
export function rolesOf(world: World, cell: Cell, call: IncomingCall): ReadonlySet<string> {
  if (cell.state.api.kind !== "configured") return new Set(["os:reader"]);
  if (call.clientCertificate === undefined) return new Set();
  const organizations = organizationsOf(world, call.clientCertificate);
  const claimed = call.metadata["talos-role"];
  if (organizations.includes(impersonator) && claimed !== undefined && claimed.length > 0) return new Set(claimed);
  return new Set(organizations);
}

/** Callers show the same certificate with each call. */
function organizationsOf(world: World, certificate: string): readonly string[] {
  const remembered = known.get(certificate);
  if (remembered !== undefined) return remembered;
  const organizations = world.keys.describeCertificate(certificate).organizations.filter((name) => name.trim() !== "");
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(certificate, organizations);
  return organizations;
}
