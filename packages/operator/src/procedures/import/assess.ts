import { createHash } from "node:crypto";
import { bundleSecretName, findingsMessage } from "@talos-operator/api";
import { foundConfigHash } from "../configure/config-hash.ts";
import { withDecisions } from "../../record/facts.ts";
import { networksOf } from "../../spec/fixed-properties.ts";
import { stateOf } from "../../assess/machine-state.ts";
import { wantedMeta } from "../configure/meta-plan.ts";
import { poolFact } from "../join/plan.ts";
import { hostOf } from "../remove/removal.ts";
import { placesOf } from "./found-bundles.ts";
import { listed } from "../../report/listed.ts";
import type { ClusterFacts, MachineFact } from "../../model/record.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { FoundBundle, MachineReading, SeenAdoption } from "../../model/adoption.ts";
import type { Assessment } from "../../model/assessment.ts";

/** Where a takeover stands. */
export type ImportState =
  /** Something is not known yet. */
  | { readonly kind: "verifying"; readonly pending: readonly string[] }
  /** Something forbids it; no approval helps. */
  | { readonly kind: "refused"; readonly reason: "BundleNotFound" | "BundlesDiffer" | "Refused"; readonly blockers: readonly string[] }
  /** Verified. With differences a person's word is needed. */
  | {
      readonly kind: "verified";
      readonly bundle: FoundBundle;
      readonly differences: readonly string[];
      /** Ten hex digits that stand for keys and differences. */
      readonly hash: string;
      /** The record to begin with. */
      readonly facts: ClusterFacts;
    };

/** Machines and paths that a difference names. */
const MOST_PATHS = 8;

interface Read {
  readonly machine: SeenMachine;
  readonly reading: MachineReading;
}

/** Verifies a running cluster against its keys and its spec: pure, from what was seen. Doubt is never a yes. */
export function assessImport(assessed: Assessment, adoption: SeenAdoption): ImportState {
  const { seen } = assessed;
  if (seen.controlPlane.spec === undefined || seen.problems.length > 0) return refused("Refused", [findingsMessage(seen.problems)]);
  const secrets = placesOf(seen.controlPlane);
  if (adoption.places === undefined) return { kind: "verifying", pending: [`the keys cannot be read: Secret ${secrets.join(", ")}`] };
  const bundle = agreedPlace(adoption.places, secrets);
  if ("reason" in bundle) return refused(bundle.reason, bundle.words);

  const { blockers, pending, reads } = machinesOf(seen, adoption, bundle.found);
  if (blockers.length === 0 && pending.length > 0) return { kind: "verifying", pending };
  const [first] = reads.filter(({ machine }) => machine.declared.role === "controlplane");
  if (blockers.length === 0 && first === undefined)
    return refused("Refused", ["No control plane of a running cluster answers: import takes over what runs, and founds nothing."]);
  const all = [
    ...blockers,
    ...(first === undefined ? [] : [...swapped(seen), ...membership(assessed), ...fixed(seen, first.reading), ...together(first, reads)]),
  ];
  if (all.length > 0 || first === undefined) return refused("Refused", all);

  const differences = [...traces(adoption), ...versions(seen, reads), ...configs(reads), ...joining(seen)];
  const hash = createHash("sha256")
    .update(JSON.stringify([bundle.found.fingerprint, bundle.found.clusterId, differences]))
    .digest("hex")
    .slice(0, 10);
  return { kind: "verified", bundle: bundle.found, differences, hash, facts: factsOf(seen, bundle.found, first, reads) };
}

function refused(reason: Extract<ImportState, { readonly kind: "refused" }>["reason"], blockers: readonly string[]): ImportState {
  return { kind: "refused", reason, blockers };
}

/** The one bundle that all places agree on. `secrets`: names of those that may hold it, for people. */
export function agreedPlace(
  places: readonly FoundBundle[],
  secrets: readonly string[],
):
  { readonly found: FoundBundle } | { readonly reason: "BundleNotFound" | "BundlesDiffer" | "Refused"; readonly words: readonly string[] } {
  const broken = places.filter((place) => place.problem !== undefined);
  if (broken.length > 0) return { reason: "Refused", words: broken.map(({ source, problem }) => `${source}: ${problem}.`) };
  const [first] = places;
  if (first === undefined)
    return {
      reason: "BundleNotFound",
      words: [
        `The keys of the running cluster were not found: neither Secret ${secrets.join(", ")} nor status.secretBundle holds them. Put them into a Secret and name it with talos-operator.dev/import-bundle; keys are never made for an import.`,
      ],
    };
  const other = places.find((place) => place.fingerprint !== first.fingerprint);
  return other === undefined
    ? { found: first }
    : {
        reason: "BundlesDiffer",
        words: [`${first.source} and ${other.source} hold different keys. Find out which are the cluster's, and remove the others.`],
      };
}

function machinesOf(
  seen: Observed,
  adoption: SeenAdoption,
  bundle: FoundBundle,
): { readonly blockers: readonly string[]; readonly pending: readonly string[]; readonly reads: readonly Read[] } {
  const blockers: string[] = [];
  const pending: string[] = [];
  const reads: Read[] = [];
  for (const machine of seen.machines) {
    const { declared, look } = machine;
    const { name, role, address } = declared;
    if (look.kind === "running") {
      const reading = adoption.readings.get(name) ?? "not read yet";
      if (typeof reading === "string") pending.push(`${name}: ${reading}`);
      else if (look.hardware !== undefined && (look.hardware.uuid ?? "") !== reading.uuid)
        pending.push(`${name}: another machine answers at ${address} than the one whose configuration was read`);
      else {
        reads.push({ machine, reading });
        blockers.push(...identity(machine, reading, bundle));
      }
    } else if (look.kind === "foreign" || look.kind === "not-talos")
      blockers.push(`${name}: what answers at ${address} does not hold these keys (${look.detail}). Correct the list, or the keys.`);
    else if (
      look.kind === "not-asked" ||
      (look.kind === "silent" && (role === "controlplane" || seen.now - seen.watchedSince < FIRST_LOOKS_MS))
    )
      pending.push(`${name} must answer to be verified (${stateOf(machine)}); bring it back, or take it out of the list`);
  }
  return { blockers, pending, reads };
}

/** A worker that does not answer by then is taken over unverified, if a person says so. */
const FIRST_LOOKS_MS = 15_000;

function identity({ declared: { name, role } }: SeenMachine, reading: MachineReading, bundle: FoundBundle): readonly string[] {
  return [
    ...(reading.machineType === role
      ? []
      : [`${name} runs as ${reading.machineType ?? "nobody knows what"} and is listed as ${role}. Correct the list.`]),
    ...(reading.clusterId === bundle.clusterId && reading.hasKeysOfBundle
      ? []
      : [
          `${name} is configured with other keys than ${bundle.source} holds (cluster.id ${reading.clusterId}). Bring the keys of this very cluster.`,
        ]),
  ];
}

/**
 * Machines that stand at each other's addresses: the record would name one by the other's address, and stop both as soon as each has its own back. etcd knows
 * where each member was when it joined.
 */
function swapped({ machines }: Observed): readonly string[] {
  return machines.flatMap(({ declared, look }) => {
    if (look.kind !== "running" || look.etcd === undefined) return [];
    const { members = [], localMember } = look.etcd;
    const known = members.find(({ id }) => id === localMember)?.peerUrls.map((url) => hostOf(url)) ?? [];
    const other = machines.find((one) => one.declared.name !== declared.name && known.includes(one.declared.address));
    if (other === undefined || known.includes(declared.address)) return [];
    return [
      `What answers at ${declared.address} is the member that etcd knows at ${other.declared.address}, which is listed too. Give each machine its own address back.`,
    ];
  });
}

/** etcd must be whole: a takeover changes nothing, and whoever takes over must know all members. */
function membership(assessed: Assessment): readonly string[] {
  const { seen } = assessed;
  const controlPlanes = seen.machines.flatMap(({ look }) => (look.kind === "running" && look.etcd !== undefined ? [look.etcd] : []));
  const own = new Set(controlPlanes.map(({ localMember }) => localMember));
  const unlisted = controlPlanes.flatMap(({ members }) => members ?? []).find(({ id }) => !own.has(id));
  if (unlisted !== undefined)
    return [
      `etcd has the member ${unlisted.name || unlisted.id}, and no machine in the list shows it. List that machine, or remove the member first.`,
    ];
  const view = assessed.etcd;
  if (view.kind === "unsafe") return [`etcd cannot be relied on: ${view.message}.`];
  const missing = seen.machines.filter(
    ({ declared, look }) =>
      declared.role === "controlplane" && look.kind === "running" && !view.voters.some((voter) => voter.machine === declared.name),
  );
  return missing.map(({ declared }) => `${declared.name} runs and is no voting member of etcd. Repair it first.`);
}

/** What no release changes afterwards. */
function fixed(seen: Observed, reading: MachineReading): readonly string[] {
  const spec = seen.controlPlane.spec;
  const { podCIDR, serviceCIDR } = networksOf(spec ?? {});
  const plain = (url: string): string => url.replace(/\/$/, "");
  const properties = [
    { field: "spec.endpoint", is: spec?.endpoint ?? "", was: reading.endpoint },
    { field: "spec.podCIDR", is: podCIDR.join(", "), was: reading.podSubnets.join(", ") },
    { field: "spec.serviceCIDR", is: serviceCIDR.join(", "), was: reading.serviceSubnets.join(", ") },
    { field: "spec.clusterDomain", is: spec?.clusterDomain ?? "cluster.local", was: reading.dnsDomain },
  ];
  return properties.flatMap(({ field, is, was }) =>
    is === "" || was === "" || plain(is) === plain(was) ? [] : [`${field} says ${is}, and the cluster was made with ${was}. Write ${was}.`],
  );
}

/** Machines of one cluster say the same of it. */
function together(first: Read, reads: readonly Read[]): readonly string[] {
  return reads.flatMap(({ machine, reading }) =>
    reading.endpoint === first.reading.endpoint && reading.podSubnets.join() === first.reading.podSubnets.join()
      ? []
      : [`${machine.declared.name} has another endpoint or other networks than ${first.machine.declared.name}.`],
  );
}

function traces({ isAsked, places }: SeenAdoption): readonly string[] {
  if (isAsked) return [];
  const found = listed((places ?? []).map(({ source }) => source));
  return [`Traces of another operator were found (${found}), and nobody asked for an import.`];
}

function versions(seen: Observed, reads: readonly Read[]): readonly string[] {
  const talos = reads.flatMap(({ machine: { declared, look } }) =>
    look.kind === "running" && look.version !== undefined && look.version !== declared.version
      ? [
          `${declared.name} runs Talos ${look.version}, the spec asks for ${declared.version}: it is upgraded once the cluster is taken over. To keep it, let the spec ask for what runs.`,
        ]
      : [],
  );
  const wanted = seen.controlPlane.spec?.kubeVersion ?? "";
  const running = [...new Set(reads.map(({ reading }) => reading.kubernetesVersion))].filter(
    (version) => version !== "" && version !== wanted,
  );
  return [
    ...talos,
    ...running.map((version) => `Kubernetes ${version} runs, the spec asks for ${wanted}: it stays as it is (UpgradePending).`),
  ];
}

function configs(reads: readonly Read[]): readonly string[] {
  return reads.flatMap(({ machine, reading }) => {
    if (reading.changes.length === 0) return [];
    const paths = reading.changes.slice(0, MOST_PATHS).map(({ document, path, effect }) => `${path === "" ? document : path} (${effect})`);
    const more = reading.changes.length - paths.length;
    return [
      `${machine.declared.name}: this operator would write otherwise: ${paths.join(", ")}${more > 0 ? ` and ${more} more` : ""}. Nothing of it is sent until the spec changes.`,
    ];
  });
}

function joining(seen: Observed): readonly string[] {
  return seen.machines.flatMap(({ declared, look }) => {
    if (look.kind === "maintenance") return [`${declared.name} waits in maintenance mode: it would be installed and join.`];
    return look.kind === "silent"
      ? [`${declared.name} does not answer: it is taken over unverified, as a machine that is still to come.`]
      : [];
  });
}

/** The record of a cluster that was bootstrapped long ago, by others. */
function factsOf(seen: Observed, bundle: FoundBundle, first: Read, reads: readonly Read[]): ClusterFacts {
  const { look, declared } = first.machine;
  const evidence = `Imported: etcd is running on ${declared.name}.`;
  const facts: ClusterFacts = {
    controlPlaneUid: seen.controlPlane.metadata.uid ?? "",
    clusterId: bundle.clusterId,
    bundle: { secretName: bundleSecretName(seen.controlPlane.metadata.name, 1), fingerprint: bundle.fingerprint, wasFound: true },
    endpoint: first.reading.endpoint,
    podCIDR: first.reading.podSubnets,
    serviceCIDR: first.reading.serviceSubnets,
    cni: seen.controlPlane.spec?.cni ?? {},
    talosVersion: look.kind === "running" ? (look.version ?? "") : "",
    kubernetesVersion: first.reading.kubernetesVersion,
    machines: [],
    bootstrapIntent: undefined,
    bootstrapDone: { machine: declared.name, address: declared.address, uuid: first.reading.uuid, at: seen.now, evidence },
    intents: [],
    decisions: [],
    importedAt: seen.now,
  };
  const machines = reads.map((read) => machineFactOf(seen, facts, read));
  return withDecisions(
    { ...facts, machines },
    { at: seen.now, action: "Import", reason: "Verified", message: `${evidence} Keys: ${bundle.source}.` },
  );
}

function machineFactOf(seen: Observed, facts: ClusterFacts, { machine: { declared, look }, reading }: Read): MachineFact {
  return {
    name: declared.name,
    role: declared.role,
    ...poolFact(declared),
    address: declared.address,
    uuid: reading.uuid,
    macs: look.kind === "running" ? (look.hardware?.macs ?? []) : [],
    spki: undefined,
    platform: look.kind === "running" ? look.platform : undefined,
    installDisk: reading.installDisk,
    configHash: foundConfigHash(declared, seen.controlPlane.spec, facts),
    pinnedAt: seen.now,
    vouchedAt: undefined,
    configuredAt: seen.now,
    releasedAt: undefined,
    // What stands in META stays; only a later change of the spec is written.
    metaHash: wantedMeta(declared, look.kind === "running" ? look.platform : undefined).hash,
  };
}
