import { annotations, controllerOf } from "@talos-operator/api";
import { ETCD_ADVISED_QUOTA_BYTES } from "@talos-operator/talos/client";
import { hanging, filesOf, hasRoom, inMib, isJoining, leastInUse } from "./files.ts";
import type { EtcdFile } from "./files.ts";
import { controlPlanesOf } from "../../assess/etcd-view.ts";
import { elapsedMs } from "../../elapsed.ts";
import { machineFact } from "../../record/facts.ts";
import type { EtcdQuorum } from "../../model/etcd.ts";
import type { Look, SeenAlarm } from "../../model/look.ts";
import type { MachineName } from "../../model/machine.ts";
import type { Observed } from "../../model/observation.ts";
import type { ClusterFacts } from "../../model/record.ts";

/** A file that is full again so soon is filled by something that defragmenting does not stop. Milliseconds. */
const FULL_AGAIN_MS = 10 * 60_000;

/** An alarm that is back so soon has a cause that taking it back does not remove. Milliseconds. */
const BACK_AGAIN_MS = 10 * 60_000;

/** What frees the space of an etcd that writes nothing more. */
export type NextForFull =
  | { readonly kind: "defragment"; readonly file: EtcdFile; /** A person names it. */ readonly isAsked: boolean }
  /** Every file has room. */
  | { readonly kind: "disarm"; readonly via: EtcdFile }
  /** It goes on by itself. */
  | { readonly kind: "waits"; readonly message: string }
  /** Nothing that can be done here helps. */
  | { readonly kind: "person"; readonly message: string };

/** A larger quota that the settings ask for and that is not in force. */
export interface AwaitedQuota {
  /** `beside`: it may be that they ask for one. */
  readonly kind: "waits" | "person" | "beside";
  /** Without a full stop. */
  readonly message: string;
}

/**
 * What is next while etcd is full: one member after the other gives its free pages back, the leader last, and the alarm is taken back when every file has room. Where
 * defragmenting would not make room nothing is sent, for it stops a member and helps nobody.
 *
 * Machines that do not answer are passed over: they write nothing. One that is full when it is back raises the alarm anew.
 *
 * A member tells what is in use as of the last write that went through, and full as it is that may be long ago: what a compaction freed shows on the first that is
 * defragmented. So the least that one tells is what counts for all, whose content is the same, and a member that a person names is not held up by what it tells.
 *
 * @param awaited a larger quota that the settings ask for already
 */
export function nextForFull(seen: Observed, facts: ClusterFacts, view: EtcdQuorum, awaited?: AwaitedQuota): NextForFull {
  // What is left is the alarm of a member that is gone: no file is in the way.
  if (!isFull(seen)) return disarmThrough(filesOf(seen, view));
  const [stuck] = hanging(seen, view);
  if (stuck !== undefined && isJoining(seen, view, stuck))
    return { kind: "waits", message: `etcd on ${stuck} is joining, and is waited for` };
  if (stuck !== undefined)
    return { kind: "waits", message: `etcd on ${stuck} does not answer, and is waited for; if it stays so, reboot ${stuck}` };
  const files = filesOf(seen, view);
  const unreported = files.find(({ sizeBytes, inUseBytes }) => sizeBytes === undefined || inUseBytes === undefined);
  if (unreported !== undefined)
    return { kind: "waits", message: `${unreported.machine} does not report how large its file is, and is asked again` };
  const unlimited = files.find(({ quotaBytes }) => quotaBytes === undefined);
  if (unlimited !== undefined && !tellsFull(seen, unlimited.machine))
    return { kind: "waits", message: "the size and the quota of every file are read next" };
  if (unlimited !== undefined)
    return {
      kind: "person",
      message: `${unlimited.machine} does not report its quota, or it is no number: look at quota-backend-bytes in its configuration`,
    };
  const full = files.filter(({ sizeBytes, quotaBytes }) => !hasRoom(sizeBytes, quotaBytes));
  const named = full.find(({ machine }) => machine === seen.controlPlane.metadata.annotations?.[annotations.defragment]);
  if (named !== undefined) return { kind: "defragment", file: named, isAsked: true };
  const inUseBytes = leastInUse(files);
  const beyond = full.find(({ quotaBytes }) => !hasRoom(inUseBytes, quotaBytes));
  if (beyond !== undefined && awaited !== undefined && awaited.kind !== "beside") return { kind: awaited.kind, message: awaited.message };
  if (beyond !== undefined) {
    const message = needsQuota(seen, beyond, view);
    return { kind: "person", message: awaited === undefined ? message : `${message}; ${awaited.message}` };
  }
  const [file] = full;
  if (file === undefined) return isBackAgain(facts, seen.now) ? { kind: "person", message: cameBack(seen, files) } : disarmThrough(files);
  const last = machineFact(facts, file.machine)?.defragmentedAt;
  if (last !== undefined && elapsedMs(last, seen.now) < FULL_AGAIN_MS)
    return {
      kind: "waits",
      message:
        `the file of ${file.machine} is full again minutes after it was defragmented: find out what writes so much; ` +
        `it is defragmented once more ten minutes after that, or at once where the annotation ${annotations.defragment} names it`,
    };
  return { kind: "defragment", file, isAsked: false };
}

/** Effects that may remove what an alarm was raised for, or that take it back once more. The boot of a control plane may bring a larger quota. */
const AFRESH: ReadonlySet<string> = new Set(["DisarmAlarms", "CloseDefragment", "CloseReplaceMember", "Reboot"]);

/** The alarm was seen to go minutes ago, and nothing was done to a member since: what boots a worker is nothing to etcd. */
function isBackAgain(facts: ClusterFacts, now: number): boolean {
  const ofMember = facts.decisions.filter(({ machine }) => machine === undefined || machineFact(facts, machine)?.role !== "worker");
  const last = ofMember.findLast(({ action }) => action === "CloseDisarmAlarms" || AFRESH.has(action));
  return last?.action === "CloseDisarmAlarms" && last.reason === "Disarmed" && elapsedMs(last.at, now) < BACK_AGAIN_MS;
}

/** etcd reads its arguments when it starts: a configuration may tell more than it keeps to. */
function cameBack(seen: Observed, files: readonly EtcdFile[]): string {
  const raised = new Set(
    controlPlanesOf(seen)
      .flatMap(({ look }) => (look.kind === "running" ? (look.etcd?.raised ?? []) : []))
      .map(({ member }) => member),
  );
  const whose = files.flatMap(({ memberId, machine }) => (raised.has(memberId) ? [machine] : [])).join(", ");
  return (
    `the alarm${whose === "" ? "" : ` of ${whose}`} is back within ten minutes after it was taken back, although every file has room below its quota. ` +
    "If the quota was raised without a boot, etcd keeps the former one: reboot one control plane after the other. The alarm is disarmed again after ten minutes"
  );
}

/** A member tells that a file is full. */
export function isFull(seen: Observed): boolean {
  return tells(seen, "no-space");
}

function tells(seen: Observed, alarm: SeenAlarm["kind"]): boolean {
  return controlPlanesOf(seen).some(({ look }) => raises(look, alarm));
}

/** Its last look showed the alarm; only such a look asks for the quota. */
function tellsFull(seen: Observed, name: MachineName): boolean {
  const look = controlPlanesOf(seen).find(({ declared }) => declared.name === name)?.look;
  return look !== undefined && raises(look, "no-space");
}

function raises(look: Look, alarm: SeenAlarm["kind"]): boolean {
  return look.kind === "running" && look.etcd?.raised?.some(({ kind }) => kind === alarm) === true;
}

function disarmThrough(files: readonly EtcdFile[]): NextForFull {
  const via = files.find(({ leads }) => leads) ?? files[0];
  return via === undefined ? { kind: "waits", message: "no member answers" } : { kind: "disarm", via };
}

/**
 * Where the alarm of wrong data stands as well, its member is gone: beneath it etcd deletes nothing.
 *
 * @see etcd v3.6.14 `server/etcdserver/apply/corrupt.go` DeleteRange
 */
function needsQuota(seen: Observed, { machine, inUseBytes = 0, quotaBytes = 0 }: EtcdFile, { voters }: EtcdQuorum): string {
  const raise = `raise quota-backend-bytes (cluster.etcd.extraArgs) by a patch in ${patchesOf(seen)}`;
  return (
    `of the quota of ${inMib(quotaBytes)} on ${machine} ${inMib(inUseBytes)} are in use, so defragmenting would free nothing: ` +
    (tells(seen, "corrupt")
      ? "take the alarm CORRUPT of a member that is gone back first (talosctl etcd alarm disarm), which lets nobody delete; then "
      : "") +
    (quotaBytes < ETCD_ADVISED_QUOTA_BYTES
      ? `delete objects, or ${raise}, ${voters.length === 2 ? "and boot every control plane with it by hand (talosctl)" : "with which every control plane is booted, one after the other"}`
      : `delete objects: etcd advises no quota above ${inMib(ETCD_ADVISED_QUOTA_BYTES)}`)
  );
}

/** Where a person writes patches of the control planes: in the TalosCluster where one made them. */
function patchesOf({ controlPlane: { metadata } }: Observed): string {
  const owner = controllerOf(metadata);
  return owner?.kind === "TalosCluster"
    ? `TalosCluster/${owner.name} spec.controlPlane.metalSpec.machineSpec.configPatches`
    : `TalosControlPlane/${metadata.name} spec.metalSpec.machineSpec.configPatches`;
}
