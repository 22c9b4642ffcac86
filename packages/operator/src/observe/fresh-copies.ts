import { clusterRecordResource, kubeconfigSecretName, talosconfigSecretName } from "@talos-operator/api";
import type { ClusterRecord, TalosControlPlane } from "@talos-operator/api";
import type { ObjectKey } from "@talos-operator/kube-runtime";
import type { SecretsBundle } from "@talos-operator/talos";
import { elapsedMs } from "../elapsed.ts";
import { mintCredentials, readerRenewalAt } from "../secrets/credentials.ts";
import { givenSecretsName, readGivenSecrets } from "../secrets/given-secrets.ts";
import { newerWord, readRecord } from "../record/facts-codec.ts";
import { accessOwner } from "../procedures/access/rule.ts";
import { seenAccess, seenBundle } from "../reconcilers/cluster-session.ts";
import type { ClusterSession } from "../reconcilers/cluster-session.ts";
import type { Observed, Seen, SeenBundle, SeenRecord } from "../model/observation.ts";
import type { ObservePorts } from "./observe-ports.ts";

/**
 * How long a copy of a record or Secret counts as what is there. Effects read again whatever this says. With many clusters it is longer, so that a burst of
 * them does not spend itself on reading what nobody else writes; at most two minutes.
 */
const EAGER_FRESH = { leastMs: 25_000, perClusterMs: 500, mostMs: 120_000 } as const;

/**
 * The same while a cluster is as it should be: people who delete an access Secret get a new one within two minutes. With many clusters it takes longer, so
 * that all of them together read no more than forty objects a minute; at most an hour.
 */
const SETTLED_FRESH = { leastMs: 120_000, perClusterMs: 6_000, mostMs: 3_600_000 } as const;

/** Passes follow each other within milliseconds while a cluster begins. What is made is made by create-only calls: they find what came meanwhile. */
const ABSENT_FRESH_MS = 10_000;

/** Reads the record unless a fresh copy is at hand. */
export async function readClusterRecord(key: ObjectKey, session: ClusterSession, ports: ObservePorts): Promise<Seen<SeenRecord>> {
  const now = ports.clock.now();
  if (
    session.record === undefined ||
    (elapsedMs(session.record.at, now) >= freshMsFor(session, ports.clusters) && !session.accountKey.isNew())
  ) {
    try {
      const record = await ports.client.resource<ClusterRecord>(clusterRecordResource).tryGet(key);
      session.record = { at: now, value: record ?? "absent" };
    } catch (thrown) {
      return { kind: "unknown", detail: codeOf(thrown) };
    }
  }
  if (session.record.value === "absent") return { kind: "absent" };
  const seen = readRecord(session.record.value);
  if (seen !== undefined) return { kind: "present", value: { ...seen, facts: session.ownTimes.of(seen.facts, now) } };
  const newer = newerWord(session.record.value);
  return newer === undefined
    ? { kind: "unknown", detail: "it names no bundle or no cluster id" }
    : {
        kind: "unknown",
        detail: `it holds what only a newer release knows (${newer}); run that release of the operator again`,
        isNewer: true,
      };
}

/** Reads the bundle unless it was just read; makes reader credentials from it when there are none that fit. */
export async function readBundle(key: ObjectKey, session: ClusterSession, ports: ObservePorts): Promise<Seen<SeenBundle>> {
  const now = ports.clock.now();
  const needsCredentials = session.credentialsFor === undefined || now >= session.credentialsFor.renewAt;
  const known = session.bundle;
  if (known !== undefined) {
    const isAbsent = known.value.kind === "absent";
    const freshMs = isAbsent ? ABSENT_FRESH_MS : freshMsFor(session, ports.clusters);
    // In a burst of new clusters the turn of a key comes after minutes; what is made then is made by a create-only call.
    const isFresh = elapsedMs(known.at, now) < freshMs || session.accountKey.isNew();
    if (isFresh && (isAbsent || !needsCredentials)) return known.value;
  }
  try {
    const stored = await ports.bundles.read(key);
    const value = seenBundle(stored);
    session.bundle = { at: now, value };
    if (stored?.bundle !== undefined && stored.isOurs) await equip(session, stored.bundle, stored.fingerprint, ports);
    return value;
  } catch (thrown) {
    return { kind: "unknown", detail: codeOf(thrown) };
  }
}

/** Reads the keys that a person gave; asked for only while a cluster has none yet. */
export async function readGiven({ metadata }: TalosControlPlane, ports: ObservePorts): Promise<Observed["given"]> {
  const name = givenSecretsName(metadata);
  if (name === undefined) return undefined;
  try {
    const { source, problem } = await readGivenSecrets(ports, metadata.namespace ?? "", name);
    return { kind: "present", value: { source, ...(problem === undefined ? {} : { problem }) } };
  } catch (thrown) {
    return { kind: "unknown", detail: codeOf(thrown) };
  }
}

/** Gives the session reader credentials of this bundle; keeps those it has while they fit. */
export async function equip(
  session: ClusterSession,
  bundle: SecretsBundle,
  fingerprint: string,
  ports: Pick<ObservePorts, "keys" | "clock">,
): Promise<void> {
  const now = ports.clock.now();
  session.kubernetesAuthority = { fingerprint, certificate: bundle.certs.k8s.certificate };
  if (session.credentialsFor?.fingerprint === fingerprint && now < session.credentialsFor.renewAt) return;
  session.machines.setCredentials(await mintCredentials(bundle, "os:reader", ports.keys, ports.clock));
  session.credentialsFor = { fingerprint, renewAt: readerRenewalAt(now) };
}

/** Reads kubeconfig and talosconfig of the cluster unless fresh copies are at hand. */
export async function readAccess(
  controlPlane: TalosControlPlane,
  session: ClusterSession,
  ports: ObservePorts,
): Promise<Pick<Observed, "kubeconfig" | "talosconfig">> {
  const now = ports.clock.now();
  const namespace = controlPlane.metadata.namespace ?? "";
  const owner = accessOwner({ controlPlane });
  // Whoever just made a cluster's keys has made nothing of them for people yet. What is there all the same is met by the create-only call.
  if (session.hasMadeKeys) {
    session.kubeconfig ??= { at: now, value: { kind: "absent" } };
    session.talosconfig ??= { at: now, value: { kind: "absent" } };
  }
  const isFresh = (one: ClusterSession["kubeconfig"]): boolean => {
    if (one === undefined) return false;
    // One of somebody else, or one that nobody can change, is in the way, and people are told that it is looked at again so soon.
    const isInOrder = one.value.kind === "present" && one.value.value.isOurs && one.value.value.isImmutable !== true;
    // Nothing that is sent to a machine depends on them.
    return elapsedMs(one.at, now) < (isInOrder ? freshMs(SETTLED_FRESH, ports.clusters) : ABSENT_FRESH_MS);
  };
  try {
    if (!isFresh(session.kubeconfig))
      session.kubeconfig = {
        at: now,
        value: seenAccess(await ports.access.readKubeconfig(namespace, kubeconfigSecretName(owner), controlPlane)),
      };
    if (!isFresh(session.talosconfig))
      session.talosconfig = {
        at: now,
        value: seenAccess(await ports.access.readTalosconfig(namespace, talosconfigSecretName(owner), controlPlane)),
      };
  } catch (thrown) {
    const unknown = { kind: "unknown", detail: codeOf(thrown) } as const;
    return { kubeconfig: unknown, talosconfig: unknown };
  }
  const unknown = { kind: "unknown", detail: "not asked" } as const;
  return { kubeconfig: session.kubeconfig?.value ?? unknown, talosconfig: session.talosconfig?.value ?? unknown };
}

function freshMsFor(session: ClusterSession, clusters: number): number {
  return freshMs(session.machines.pace() === "settled" ? SETTLED_FRESH : EAGER_FRESH, clusters);
}

function freshMs({ leastMs, perClusterMs, mostMs }: typeof SETTLED_FRESH | typeof EAGER_FRESH, clusters: number): number {
  return Math.min(mostMs, Math.max(leastMs, clusters * perClusterMs));
}

export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "it could not be read";
}
