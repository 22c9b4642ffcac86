import { createHash } from "node:crypto";
import type { Clock, Keys, TalosDialer } from "@talos-operator/ports";
import type { KubeClient } from "@talos-operator/kube-runtime";
import { elapsedMs } from "../../elapsed.ts";
import { EffectError } from "../../errors.ts";
import { LOOK_TIMEOUT_MS } from "../../looking/look-at.ts";
import { withAdminClient } from "../../effects/admin-client.ts";
import { equip } from "../../observe/fresh-copies.ts";
import { writtenConfig } from "../../spec/written-config.ts";
import type { ClusterSession } from "../../reconcilers/cluster-session.ts";
import { findBundles } from "./found-bundles.ts";
import { readMachine } from "./read-machine.ts";
import type { Observed } from "../../model/observation.ts";

/** How long the places where keys are left count as what is there. */
const PLACES_FRESH_MS = 10_000;

/** What looking at a cluster of others needs. */
export interface AdoptionPorts {
  readonly client: KubeClient;
  readonly dialer: TalosDialer;
  readonly keys: Keys;
  readonly clock: Clock;
  readonly wake: () => void;
}

/**
 * The observation with what an import is verified by: for an object without a record that asks to be imported, or that bears the traces of another operator.
 *
 * Only reads. Machines are met with certificates made from the keys that were found, in memory.
 */
export async function withAdoption(seen: Observed, isAsked: boolean, session: ClusterSession, ports: AdoptionPorts): Promise<Observed> {
  // One that is paused has a record that nobody reads, unless a backup of it is wanted.
  if (seen.record.kind !== "absent") {
    session.heldBundle = undefined;
    return seen;
  }
  // A cluster of ours that lost its record has a bundle of ours; that is another story.
  if (!isAsked && seen.bundle.kind !== "absent") return seen;
  const now = ports.clock.now();
  if (session.heldBundle === undefined || elapsedMs(session.heldBundle.at, now) >= PLACES_FRESH_MS) {
    try {
      const written = isAsked ? writtenConfig(seen) : undefined;
      const isOwnAbsent = seen.bundle.kind === "absent";
      session.heldBundle = { at: now, ...(await findBundles(ports.client, seen.controlPlane, { written, isOwnAbsent })) };
    } catch {
      // Unknown: nothing is made, and nothing taken over.
      session.heldBundle = undefined;
      return { ...seen, adoption: { isAsked, places: undefined, readings: new Map() } };
    }
  }
  const { places, bundle } = session.heldBundle;
  if (!isAsked && places.length === 0) return seen;
  const fingerprint = places.find((place) => place.fingerprint !== "")?.fingerprint;
  if (bundle !== undefined && fingerprint !== undefined) {
    await equip(session, bundle, fingerprint, ports);
    ask(seen, session, ports, fingerprint);
  }
  return { ...seen, adoption: { isAsked, places, readings: session.adoption.seen() } };
}

function ask(seen: Observed, session: ClusterSession, ports: AdoptionPorts, fingerprint: string): void {
  const { spec, metadata } = seen.controlPlane;
  if (spec === undefined) return;
  const { clock } = ports;
  const addresses = seen.machines.filter(({ declared }) => declared.role === "controlplane").map(({ declared }) => declared.address);
  const wanted = seen.machines.flatMap(({ declared, look }) => {
    if (look.kind !== "running" || look.version === undefined) return [];
    const { version, platform } = look;
    // Another machine at the address is another reading.
    const key = createHash("sha256")
      .update(JSON.stringify([fingerprint, declared, spec, version, addresses, look.hardware]))
      .digest("base64");
    const read = async (): ReturnType<typeof readMachine> => {
      const bundle = session.heldBundle?.bundle;
      if (bundle === undefined) throw new EffectError("KEYS_UNUSABLE", "the keys are not there any more");
      const question = { machine: declared, clusterName: metadata.name, spec, version, platform, addresses };
      return withAdminClient(declared.address, bundle, ports, (client) =>
        readMachine(client, question, bundle, () => clock.now(), { timeoutMs: LOOK_TIMEOUT_MS }),
      );
    };
    return [{ name: declared.name, key, read }];
  });
  session.adoption.ask(wanted, () => clock.now(), ports.wake);
}
