import { createHash } from "node:crypto";
import { bytesSource, createTrailerCheck, readSnapshot } from "@talos-operator/etcd-snapshot";
import type { BackupFacts, BackupOwner, RemoveResult } from "@talos-operator/backup";
import { backupKeys, openManifest } from "@talos-operator/backup";
import type { MemoryObjectStore } from "../world/memory-object-store.ts";
import type { StoreEffectId } from "./effects.ts";
import type { StoreCall } from "./interference.ts";
import type { Report } from "./violation.ts";

/** A cluster whose backups are judged. */
export interface JudgedCluster {
  readonly owner: BackupOwner;
  /** As the worker has it. */
  readonly manifestKey: string;
  /** Below which its keys lie in the store. */
  readonly prefix: string;
  /** What was stored, as the member sent it. */
  readonly decode: (stored: Uint8Array, encryption: BackupFacts["encryption"]) => Promise<Uint8Array>;
}

export interface BackupRulesInput {
  readonly store: MemoryObjectStore;
  readonly report: Report;
  readonly now: () => number;
  /** A manifest is never replaced there. */
  readonly honoursConditions: boolean;
  /** Searched in whatever is stored. */
  readonly inspectText: (source: string, text: string) => void;
}

/** Watches what workers do to a store, and judges what they said of it, with eyes of its own. */
export interface BackupRules {
  /** A worker of this cluster changes something in the store. @param mayRemove slots that it was told to remove */
  changed(
    cluster: JudgedCluster,
    effect: StoreEffectId,
    call: StoreCall,
    bytes: Uint8Array | undefined,
    mayRemove: ReadonlySet<string>,
  ): void;
  /** S25, S26: this backup is called good now. */
  judgeReady(cluster: JudgedCluster, facts: BackupFacts): Promise<void>;
  /** IN90: a worker told what became of what it was to remove. */
  removed(cluster: JudgedCluster, result: RemoveResult): void;
  /** IN90: this object was called removed, or kept, in the end. */
  judgeGone(object: string, isCalledGone: boolean): void;
  /** S28: of all that was ever put into the slots of this cluster. */
  judgeVersions(cluster: JudgedCluster): void;
  /** S27: what somebody else put there is as it was. */
  judgeForeign(foreign: ReadonlyMap<string, Uint8Array>): void;
  /** S29, S30: once time has passed. @param endedAt when the last worker ended */
  judgeRest(endedAt: number): void;
}

const DAY_MS = 24 * 3_600_000;

export function createBackupRules({ store, report, now, inspectText, honoursConditions }: BackupRulesInput): BackupRules {
  /** Who wrote into each folder first. */
  const writers = new Map<string, string>();

  /** Slots of a cluster that a good manifest names, in their order. */
  const goodSlots = ({ owner, prefix, manifestKey }: JudgedCluster): readonly string[] => {
    const { folder } = backupKeys(prefix, owner);
    return [...store.contents()]
      .filter(([key]) => key.startsWith(`${folder}/`) && key.endsWith(".json"))
      .flatMap(([, bytes]) => {
        const opened = openManifest(bytes, manifestKey);
        return "facts" in opened ? [opened.facts.slot] : [];
      })
      .toSorted();
  };

  const judgeRemoval = (cluster: JudgedCluster, { key }: StoreCall, mayRemove: ReadonlySet<string>): void => {
    const keys = backupKeys(cluster.prefix, cluster.owner);
    const object = keys.parse(key);
    if (object === undefined) return report("S27", `a worker of ${keys.folder} removes ${key}, which is none of its objects`);
    if (object.kind === "probe") return;
    const bytes = store.contents().get(key);
    if (bytes === undefined) return;
    const good = goodSlots(cluster);
    const slot = good.find((one) => keys.slotPart(one) === object.slot);
    if (slot === undefined || mayRemove.has(slot)) return;
    const manifest = store.contents().get(keys.manifest(slot));
    const opened = manifest === undefined ? undefined : openManifest(manifest, cluster.manifestKey);
    const facts = opened !== undefined && "facts" in opened ? opened.facts : undefined;
    if (object.kind === "manifest" || facts?.object === key || facts?.keysObject === key)
      report("S27", `a worker removes ${key}, a part of the backup ${slot}, which nobody asked to remove`);
  };

  return {
    changed(cluster, effect, call, bytes, mayRemove) {
      const { owner } = cluster;
      const { folder } = backupKeys(cluster.prefix, owner);
      if (!call.key.startsWith(`${folder}/`)) report(effect === "S3-5" ? "S27" : "S28", `a worker of ${folder} changes ${call.key}`);
      if (effect === "S3-5") {
        if (call.method === "remove") judgeRemoval(cluster, call, mayRemove);
        return;
      }
      const writer = writers.get(folder) ?? owner.clusterId;
      writers.set(folder, writer);
      if (writer !== owner.clusterId) report("S28", `two clusters write below ${folder}`);
      if (bytes !== undefined) inspectText(`what is stored under ${call.key}`, Buffer.from(bytes).toString("latin1"));
    },
    async judgeReady(cluster, facts) {
      const fault = await faultOf(store.contents(), cluster, facts);
      if (fault !== undefined) report(fault.invariant, `the backup ${facts.slot} is called good: ${fault.detail}`);
    },
    removed({ owner, prefix }, { slots, kept }) {
      const keys = backupKeys(prefix, owner);
      const left = (slot: string): readonly string[] =>
        store.keptKeys().filter((key) => {
          const object = keys.parse(key);
          return object !== undefined && object.kind !== "probe" && object.slot === keys.slotPart(slot);
        });
      for (const slot of slots)
        for (const key of left(slot)) report("IN90", `a worker calls the backup ${slot} removed, and the bucket keeps ${key}`);
      for (const slot of kept)
        if (left(slot).length === 0) report("IN90", `a worker says that the bucket keeps the backup ${slot}, of which nothing is left`);
    },
    judgeGone(object, isCalledGone) {
      // Somebody may have taken the bytes themselves away before: what is kept of the backup then is its manifest or its keys.
      const stem = `${object.replace(/\.[^/]*$/, "")}.`;
      const isKept = store.versions(object).length > 0 || (!isCalledGone && store.keptKeys().some((key) => key.startsWith(stem)));
      if (isKept === isCalledGone)
        report("IN90", `${object} is called ${isCalledGone ? "removed" : "kept"}, and the bucket ${isKept ? "keeps" : "does not keep"} it`);
    },
    judgeVersions(cluster) {
      if (!honoursConditions) return;
      const keys = backupKeys(cluster.prefix, cluster.owner);
      for (const key of store.keptKeys()) {
        if (keys.parse(key)?.kind !== "manifest") continue;
        const winners = new Set(
          store.versions(key).flatMap((bytes) => {
            const opened = openManifest(bytes, cluster.manifestKey);
            return "facts" in opened ? [opened.facts.object] : [];
          }),
        );
        if (winners.size > 1) report("S28", `${key} named ${[...winners].join(", then ")}: a manifest is never replaced`);
      }
    },
    judgeForeign(foreign) {
      for (const [key, bytes] of foreign) {
        const there = store.contents().get(key);
        // One that was replaced and put back is not as it was either.
        if (there === undefined || !Buffer.from(there).equals(bytes) || store.versions(key).length !== 1)
          report("S27", `${key}, which is somebody else's, is not as it was`);
      }
    },
    judgeRest(endedAt) {
      for (const { key, startedAt } of store.uploads())
        if (now() - Math.max(startedAt, endedAt) > DAY_MS) report("S29", `the upload of ${key} is open a day after its run ended`);
    },
  };
}

/** What is wrong with a backup that is called good; `undefined` for nothing. */
async function faultOf(
  contents: ReadonlyMap<string, Uint8Array>,
  { owner, prefix, manifestKey, decode }: JudgedCluster,
  facts: BackupFacts,
): Promise<{ readonly invariant: "S25" | "S26"; readonly detail: string } | undefined> {
  const s25 = (detail: string) => ({ invariant: "S25", detail }) as const;
  const manifest = contents.get(backupKeys(prefix, owner).manifest(facts.slot));
  if (manifest === undefined) return s25("there is no manifest");
  const opened = openManifest(manifest, manifestKey);
  if (!("facts" in opened)) return s25(`its manifest is ${opened.refused}`);
  if (opened.facts.object !== facts.object || opened.facts.sha256 !== facts.sha256) return s25("its manifest says something else");
  const stored = contents.get(facts.object);
  if (stored === undefined) return s25(`${facts.object} is not there`);
  if (stored.length !== facts.storedSize || hash(stored) !== facts.storedSha256) return s25(`${facts.object} has other bytes`);
  let plain: Uint8Array;
  try {
    plain = await decode(stored, facts.encryption);
  } catch (error) {
    return s25(`${facts.object} cannot be decoded: ${error instanceof Error ? error.message : String(error)}`);
  }
  const trailer = createTrailerCheck();
  trailer.write(plain);
  const verdict = trailer.finish();
  if (verdict.fault !== undefined) return s25(`its snapshot is ${verdict.fault}`);
  if (verdict.size !== facts.size || verdict.sha256 !== facts.sha256) return s25("its snapshot is another one");
  const { revision, totalKey, liveKeys } = readSnapshot(bytesSource(plain));
  const read = [revision, totalKey, liveKeys].join(" ");
  const told = [facts.revision, facts.totalKey, facts.liveKeys].join(" ");
  return read === told ? undefined : { invariant: "S26", detail: `revision, keys and live keys are ${read} where ${told} are recorded` };
}

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
