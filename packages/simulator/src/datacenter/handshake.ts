import type { Clock, TalosCredentials } from "@talos-operator/ports";
import { activeFacts } from "../node/identity.ts";
import { connectionFailure } from "./call-failure.ts";
import type { Cell } from "./cell.ts";
import type { World } from "./world.ts";

/** What both sides know after a handshake. */
export interface Session {
  readonly epoch: number;
  readonly spki: string;
  /** Certificate of the client that the machine accepted. */
  readonly clientCertificate: string | undefined;
}

/**
 * TLS between a caller and a machine, as values: the client checks the server's certificate, then the machine the client's, each by its own clock.
 *
 * @throws CallFailure with `tls` set; nothing was sent then
 */
export function shakeHands(
  world: World,
  cell: Cell,
  credentials: TalosCredentials,
  callerClock: Clock,
  serverName = cell.address,
): Session {
  const { api } = cell.state;
  if (api.kind === "down") throw connectionFailure.refused(`${cell.address}:50000`);
  const { spki } = world.keys.describeCertificate(api.identity.certificate);
  if (credentials.kind === "maintenance") {
    if (credentials.expectedSpki !== undefined && credentials.expectedSpki !== spki) throw connectionFailure.unexpectedIdentity();
    if (api.kind === "configured") throw connectionFailure.alert("certificate required");
    return { epoch: api.epoch, spki, clientCertificate: undefined };
  }
  const { certificate } = api.identity;
  if (!world.keys.verifyCertificate(certificate, credentials.ca, callerClock.now())) {
    const isSignedByIt = world.keys.verifyCertificate(certificate, credentials.ca, world.keys.describeCertificate(certificate).notBefore);
    throw isSignedByIt ? connectionFailure.outOfTime() : connectionFailure.untrusted();
  }
  if (api.kind === "maintenance") return { epoch: api.epoch, spki, clientCertificate: credentials.certificate };
  if (!api.names.includes(serverName)) throw connectionFailure.wrongName(api.names.join(", "), serverName);
  const accepted = activeFacts(cell.state)?.acceptedOsCas ?? [];
  const refusal = refusalOf(world, credentials, accepted, world.clock.now());
  if (refusal !== undefined) throw connectionFailure.alert(refusal);
  return { epoch: api.epoch, spki, clientCertificate: credentials.certificate };
}

function refusalOf(
  world: World,
  credentials: { readonly certificate: string; readonly key: string },
  accepted: readonly string[],
  now: number,
): string | undefined {
  if (!world.keys.isPair(credentials)) return "error decrypting message";
  if (accepted.some((ca) => world.keys.verifyCertificate(credentials.certificate, ca, now))) return undefined;
  const facts = world.keys.describeCertificate(credentials.certificate);
  // Genuine nodes say "expired" also for a certificate that is not valid yet.
  return now < facts.notBefore || now > facts.notAfter ? "expired certificate" : "unknown certificate authority";
}
