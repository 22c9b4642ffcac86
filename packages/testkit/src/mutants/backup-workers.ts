import type { Mutant, SourceEdit } from "./mutant.ts";

const folder = "backup/src/worker";
const workload = "backup-workers";

/** The text in the worker's sources, and what stands there instead. */
const edit = (file: string, find: string, replace: string): SourceEdit => ({ file: `${folder}/${file}`, find, replace });

/** Faults of what workers do with the bytes of backups: each must be noticed in simulated lives. */
export const backupWorkerFaults: readonly Mutant[] = [
  {
    name: "backup-not-checked",
    about: "stores whatever a member streams, cut off or damaged (INC24, S25)",
    stands: ["INC24"],
    workload,
    trouble: "snapshots-damaged",
    edits: [
      edit("plain-check.ts", "if (verdict.fault !== undefined)", "if (verdict.fault !== undefined && size < 0)"),
      {
        file: "talos/src/client/etcd-maintenance.ts",
        find: 'return checkedSnapshot(chunks, (text) => new TalosError("SNAPSHOT_DAMAGED", facts, text));',
        replace: "return chunks;",
      },
    ],
  },
  {
    name: "backup-not-read-back",
    about: "calls a backup good before its stored bytes were compared (S25)",
    workload,
    trouble: "store-garbles",
    edits: [edit("take.ts", 'await checkStored(job, facts, "reading-back");', "")],
  },
  {
    name: "backup-winner-removed",
    about: "removes the attempt that the manifest names together with the others (S27)",
    workload,
    edits: [edit("leftovers.ts", "object.attempt !== winner", "object.attempt !== `${winner}-`")],
  },
  {
    name: "backup-neighbours-removed",
    about: "removes the objects of every slot with those of one (S27)",
    workload,
    edits: [edit("remove.ts", "`${job.keys.folder}/${part}.`", "`${job.keys.folder}/`"), edit("remove.ts", "|| object.slot !== part", "")],
  },
  {
    name: "backup-strangers-removed",
    about: "removes what somebody else put beside the backups (S27)",
    workload,
    edits: [
      edit("remove.ts", "`${job.keys.folder}/${part}.`", '"backups/"'),
      edit(
        "remove.ts",
        'if (object === undefined || (object.kind !== "data" && object.kind !== "keys") || object.slot !== part) continue;',
        'if (object?.kind === "manifest") continue;',
      ),
    ],
  },
  {
    name: "backup-uploads-left",
    about: "leaves the uploads of runs that died open for ever (S29)",
    workload,
    edits: [edit("leftovers.ts", "if (isOver)", "if (isOver && startedAt < 0)")],
  },
  {
    name: "backup-keys-in-clear",
    about: "puts the cluster's keys into the store as they are (W13, S30)",
    stands: ["W13"],
    workload,
    edits: [edit("take.ts", "deps.codec.encrypt(once(plain), recipients)", "once(plain)")],
  },
  {
    name: "backup-keys-in-log",
    about: "tells the cluster's keys in a line of the log (S9)",
    workload,
    edits: [edit("take.ts", "object: keys.manifest(task.slot),", "object: job.secrets.clusterKeys?.bundle,")],
  },
  {
    name: "backup-live-keys-wrong",
    about: "records another number of keys than the snapshot has (S26)",
    workload,
    edits: [edit("take.ts", "liveKeys: statistics.liveKeys,", "liveKeys: statistics.liveKeys + 1,")],
  },
  {
    name: "backup-revision-wrong",
    about: "records another revision than the snapshot has (S26)",
    workload,
    edits: [edit("take.ts", "revision: statistics.revision,", "revision: statistics.revision - 1,")],
  },
  {
    name: "backup-folder-shared",
    about: "keeps the backups of two clusters of one name in one folder (S28)",
    workload,
    edits: [{ file: "backup/src/layout/keys.ts", find: "-${digits(owner.clusterId)}`", replace: '-${digits("")}`' }],
  },
  {
    name: "backup-proof-by-size",
    about: "proves stored bytes by their number alone (S26)",
    workload,
    trouble: "store-tampered",
    edits: [edit("stored-bytes.ts", "if (sha256 !== facts.storedSha256)", 'if (sha256 === "")')],
  },
  {
    name: "backup-manifest-unsigned",
    about: "believes a manifest that anybody wrote (S25)",
    workload,
    trouble: "store-tampered",
    edits: [{ file: "backup/src/manifest/manifest.ts", find: "!timingSafeEqual(given, wanted)", replace: "given.length > 99" }],
  },
  {
    name: "backup-marker-believed",
    about: "takes a delete marker for the end of what is stored (IN90)",
    workload,
    edits: [edit("remove.ts", 'return answer === "gone" ? "gone" : "kept";', 'return answer === "locked" ? "kept" : "gone";')],
  },
  {
    name: "backup-known-by-name",
    about: "believes a manifest that nobody signed because it names the right object (S26)",
    tests: ["backup/src/worker/prove.test.ts"],
    edits: [edit("manifest-slot.ts", "    facts.sha256 === known.sha256 &&\n", "")],
  },
];
