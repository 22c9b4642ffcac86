import type { IncomingCall } from "../datacenter/call.ts";
import type { Cell } from "../datacenter/cell.ts";
import type { World } from "../datacenter/world.ts";

const impersonator = "os:impersonator";

/**
 * Roles of a caller: the organizations of its certificate; in maintenance mode everybody is a reader.
 * Only a holder of `os:impersonator` may claim others with `talos-role`.
 */
export function rolesOf(world: World, cell: Cell, call: IncomingCall): ReadonlySet<string> {
  if (cell.state.api.kind !== "configured") return new Set(["os:reader"]);
  if (call.clientCertificate === undefined) return new Set();
  const organizations = world.keys.describeCertificate(call.clientCertificate).organizations.filter((name) => name.trim() !== "");
  const claimed = call.metadata["talos-role"];
  if (organizations.includes(impersonator) && claimed !== undefined && claimed.length > 0) return new Set(claimed);
  return new Set(organizations);
}
