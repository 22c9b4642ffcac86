import type { KeyPair } from "@talos-operator/ports";
import { activeFacts, hostnameOf } from "../node/identity.ts";
import type { Cell } from "./cell.ts";
import type { Surroundings } from "./surroundings.ts";

/** A genuine node's certificate lives a day and is renewed after half of it without a break; ours simply outlives the world. */
const lifetimeMs = 5 * 365 * 86_400_000;

/** Names in the server certificate: a client must connect by one of them. */
function certificateNames(cell: Cell): { readonly ips: readonly string[]; readonly dns: readonly string[] } {
  const sans = activeFacts(cell.state)?.certSans ?? [];
  const isIp = (name: string): boolean => /^[\d.]+$|:/.test(name);
  return {
    ips: [cell.address, "127.0.0.1", ...sans.filter(isIp)],
    dns: [hostnameOf(cell.state), ...sans.filter((name) => !isIp(name))],
  };
}

/** Self-signed at each boot: a root with an empty subject and a server certificate under it. */
export async function issueMaintenanceIdentity(world: Surroundings, cell: Cell): Promise<KeyPair> {
  const now = world.clock.now();
  const root = await world.keys.createAuthority({ kind: "ed25519", notBefore: now });
  const { ips, dns } = certificateNames(cell);
  return world.keys.signCertificate(root, {
    usage: "server",
    commonName: "maintenance-service.talos.dev",
    notBefore: now,
    lifetimeMs,
    ipAddresses: [...ips, "::1"],
    dnsNames: dns,
  });
}

/**
 * apid's certificate under the cluster's OS CA. Control planes hold the key and sign for themselves; a worker asks a control plane (trustd),
 * so without one that is up there is none.
 */
export async function issueServerIdentity(
  world: Surroundings,
  cell: Cell,
): Promise<{ readonly identity: KeyPair; readonly names: readonly string[] } | undefined> {
  const facts = activeFacts(cell.state);
  if (facts === undefined) return undefined;
  const authority = facts.osCa.key === "" ? signerFor(world, facts.osCa.certificate, facts.machineToken) : facts.osCa;
  if (authority === undefined) return undefined;
  const { ips, dns } = certificateNames(cell);
  const identity = await world.keys.signCertificate(authority, {
    usage: "server",
    commonName: hostnameOf(cell.state),
    notBefore: world.clock.now(),
    lifetimeMs,
    ipAddresses: ips,
    dnsNames: dns,
  });
  return { identity, names: [...ips, ...dns] };
}

function signerFor(world: Surroundings, certificate: string, token: string): KeyPair | undefined {
  for (const cell of world.cells()) {
    const { state } = cell;
    const facts = activeFacts(state);
    if (facts === undefined || facts.osCa.key === "" || facts.osCa.certificate !== certificate || facts.machineToken !== token) continue;
    if (state.power === "on" && state.isConnected && state.services["trustd"]?.state === "Running") return facts.osCa;
  }
  return undefined;
}
