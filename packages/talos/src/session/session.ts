import type { TalosCredentials, TalosTarget } from "@talos-operator/ports";

import { createTalosClient } from "../client/client.ts";
import type { TalosClient } from "../client/client.ts";
import { createLookChannel } from "./look-channel.ts";
import type { TalosLooks } from "./look-methods.ts";
import type { SessionCredentials, TalosSessionOptions } from "./options.ts";
import { SessionLink } from "./session-link.ts";

/**
 * One connection through which all machines of a cluster are looked at.
 *
 * ```
 *                        ┌─► machine of the endpoint itself (no forwarding)
 * look(node) ──► endpoint ──node metadata──► apid of the node, checked by the endpoint: cluster CA and address
 *       │           │ call silent for 1 s, refused or cut: the endpoint is asked for its version (2 s)
 *       │           └─ it answers: the node is at fault, its error is the answer
 *       └──────────────  it does not: next endpoint, the same look again
 * ```
 * **What goes through a session proves nothing to us about the node's identity**; the endpoint proves its own, and has checked that the node's certificate is
 * of the cluster and names the address. Whoever acts on a machine dials it: `dialDirectly`.
 */
export interface TalosSession {
  /** Looks at the machine with this address. Cheap: opens nothing, needs no closing. Fails with `NO_ENDPOINT` when no endpoint answers. */
  look(node: string): TalosLooks;
  /**
   * A connection of its own to exactly this machine, so that TLS proves whom a call hits: for everything that changes a machine, and for looks that must
   * know who answers (`peerSpki`). The caller closes it.
   */
  dialDirectly(target: TalosTarget, credentials: TalosCredentials): TalosClient;
  /** Address of the control plane that is in use; `undefined` before the first look and after a failure. */
  endpoint(): string | undefined;
  /** Another order or set. The connection in use stays while its endpoint is among them. */
  setEndpoints(endpoints: readonly TalosTarget[]): void;
  /** Another certificate: the next look uses it, looks under way end with the old one. */
  setCredentials(credentials: SessionCredentials): void;
  /**
   * Moves away from a machine before it is disturbed (rebooted, reset, upgraded), as long as another endpoint is there.
   *
   * @returns ends it; may be called more than once
   */
  avoid(address: string): () => void;
  /** Looks under way right now. */
  inFlight(): number;
  /** Closes the connection; looks under way and later ones fail with `CANCELED`. */
  close(): void;
}

/** Opens nothing: the first look connects. */
export function createTalosSession(options: TalosSessionOptions): TalosSession {
  const link = new SessionLink(options);
  return {
    look: (node) => createTalosClient(createLookChannel(link, node)),
    dialDirectly: (target, credentials) => createTalosClient(options.dialer.dial(target, credentials)),
    endpoint: () => link.endpoint(),
    setEndpoints: (endpoints) => link.setEndpoints(endpoints),
    setCredentials: (credentials) => link.setCredentials(credentials),
    avoid: (address) => link.avoid(address),
    inFlight: () => link.inFlight(),
    close: () => link.close(),
  };
}
