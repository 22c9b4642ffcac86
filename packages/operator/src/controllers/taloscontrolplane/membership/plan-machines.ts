import { annotations, MAX_KNOWN_MACHINES } from "@talos-operator/api";
import type { ReadyReason } from "@talos-operator/api";
import { chooseInstallDisk } from "../../../config/install-disk.ts";
import { contractOf } from "../../../config/render.ts";
import { elapsedMs } from "../../../elapsed.ts";
import { wantedDisk, wantedSelector } from "../../../config/wanted-disk.ts";
import { configHashOf, foundConfigHash } from "../config-changes/config-hash.ts";
import { platformOf } from "../config-changes/platform-of.ts";
import { machineFact, mayHoldConfig, withDecisions, withMachine } from "../record/facts.ts";
import { RecordRoom, withoutLongGone } from "../record/room.ts";
import { asMade } from "../spec/fixed-properties.ts";
import { joinHindrance } from "./joins.ts";
import { isMadeAnew, isOnlyTold, withTold } from "./told-machines.ts";
import { identityOf, wordFor } from "./identity.ts";
import { NO_META, UNSURE_META, wantedMeta } from "../config-changes/meta-plan.ts";
import type { Hardware, InMaintenance, Running } from "../../../model/look.ts";
import type { ClusterFacts, MachineFact } from "../../../model/record.ts";
import type { DeclaredMachine, MachineName } from "../../../model/machine.ts";
import type { Observed, SeenMachine } from "../../../model/observation.ts";
import type { MachinePlan, PlannedConfiguration, StoppedMachine } from "../../../model/plans.ts";
import type { Assessment } from "../../../model/assessment.ts";

/** How long a machine may take to act on a configuration before it is sent again to the same key. */
const RESEND_AFTER_MS = 30_000;

/** After an unknown outcome: a short while in which the machine may show what happened. */
const LOOK_AGAIN_MS = 1_000;

/**
 * Decides for each machine: write down and configure, wait, or stop.
 *
 * A machine is configured only in maintenance mode, only with the key that was written down before, and never again
 * once a configuration was sent to another key: then it was wiped, or something else answers (S20, S22).
 */
export function planMachines(assessed: Assessment, facts: ClusterFacts): MachinePlan {
  const { seen } = assessed;
  const stopped = seen.machines.flatMap((machine) => stopOf(seen, facts, machine) ?? []);
  const isStopped = new Set(stopped.map((machine) => machine.name));
  const configure: PlannedConfiguration[] = [];
  const held: string[] = [];
  let next = withUnknownRunning(seen, facts, isStopped);
  let room: RecordRoom | undefined;
  /** What nobody needs to know any more makes room, once, when there is none. */
  const hasRoom = (fact: MachineFact): boolean => {
    room ??= new RecordRoom(next);
    if (room.tryTake(fact)) return true;
    const cleared = withoutLongGone(seen, next);
    if (cleared === next) return false;
    next = cleared;
    room = new RecordRoom(next);
    return room.tryTake(fact);
  };
  for (const machine of seen.machines) {
    const { declared, look } = machine;
    if (isStopped.has(declared.name) || isOwnerGoing(seen, declared)) continue;
    next = followed(seen, next, machine);
    if (look.kind !== "maintenance") continue;
    // Those of this pass have begun, too: the next one is held by `next`.
    const hindrance = joinHindrance(assessed, next, machine);
    if (hindrance !== undefined) {
      held.push(hindrance);
      continue;
    }
    const disk = diskOf(facts, declared, look);
    if (disk.kind === "refused") continue;
    const installDisk = disk.kind === "disk" ? disk.path : undefined;
    const fact = machineFact(facts, declared.name);
    if (!mayHoldConfig(fact) || fact.spki !== look.spki) {
      const pinned = factOf(seen, facts, declared, look, installDisk);
      if (!hasRoom(pinned)) {
        stopped.push(noRoomFor(declared));
        continue;
      }
      next = withDecisions(withMachine(next, pinned), {
        at: seen.now,
        action: "Configure",
        reason: mayHoldConfig(fact) ? "ApprovedByPerson" : "Declared",
        machine: declared.name,
        message: `Waits in maintenance mode at ${declared.address} with key ${look.spki}.`,
      });
    }
    if (mayConfigureNow(seen, declared.name)) configure.push({ machine: declared, ifSpki: look.spki, installDisk });
  }
  return { facts: next, configure, held, stopped };
}

/** Machines to which nothing is sent, by name. */
export function stoppedMachines({ joining }: Assessment): ReadonlyMap<MachineName, StoppedMachine> {
  return new Map((joining?.stopped ?? []).map((machine) => [machine.name, machine]));
}

/** Nothing is sent to a machine that cannot be written down first, and it keeps no other from being. */
function noRoomFor({ name, role }: DeclaredMachine): StoppedMachine {
  const message = `${name}: the ClusterRecord holds as many machines as it can, ${MAX_KNOWN_MACHINES} of a role and fewer when they have many hardware addresses. Nothing is sent to it. Take machines out of the list, or make another cluster.`;
  return { name, role, reason: "UnsupportedReplicas", message };
}

/**
 * The facts with every machine that runs with this cluster's keys and that the record does not know, or knows from hearsay; the same object when there is none.
 * Those of pools that are deleted, and machines that nobody lists any more, count too: they are to be wiped. Beside them those that only a TalosMachine tells of.
 */
export function withUnknownRunning(seen: Observed, facts: ClusterFacts, stopped: ReadonlySet<MachineName> = new Set()): ClusterFacts {
  let room: RecordRoom | undefined;
  return [...seen.machines, ...seen.former].reduce(
    (next, { declared, look }) => {
      const known = machineFact(facts, declared.name);
      if (look.kind !== "running" || stopped.has(declared.name)) return next;
      // One that was released as it was, and is listed again, runs with this cluster's keys all the same.
      if (
        mayHoldConfig(known)
          ? !(isMadeAnew(facts) && isOnlyTold(known)) || look.hardware === undefined
          : known !== undefined && isOwnerGoing(seen, declared)
      )
        return next;
      const met = metRunning(seen, facts, declared, look);
      // Everybody else would not be written down either.
      room ??= new RecordRoom(next);
      if (!room.tryTake(met)) return next;
      return withDecisions(withMachine(next, met), {
        at: seen.now,
        action: "Learn",
        reason: "MetRunning",
        machine: declared.name,
        message: `Runs with this cluster's keys at ${declared.address}, and the record did not know it.`,
      });
    },
    withTold(seen, facts),
  );
}

/**
 * The facts with the machine's new address. Who answers there has proved to be it: as a running machine by certificate and hardware (`proven-look.ts` lets
 * no other look pass), in maintenance mode by the key that was written down.
 */
function followed(seen: Observed, facts: ClusterFacts, { declared, look }: SeenMachine): ClusterFacts {
  const fact = machineFact(facts, declared.name);
  if (!mayHoldConfig(fact) || declared.problem !== undefined) return facts;
  if (fact.address === declared.address) return facts;
  const isIt = look.kind === "running" || (look.kind === "maintenance" && look.spki === fact.spki);
  if (!isIt) return facts;
  // It answers without them: static settings of its META, in which the old address stands, are no change that somebody asked for. That they differ is told.
  const metaAt = (address: string): string => wantedMeta({ ...declared, address }, platformOf(look, fact)).hash;
  const metaHash = look.kind === "running" && fact.metaHash === metaAt(fact.address) ? { metaHash: metaAt(declared.address) } : {};
  return withDecisions(withMachine(facts, { ...fact, address: declared.address, ...metaHash }), {
    at: seen.now,
    action: "Follow",
    reason: "AddressMoved",
    machine: declared.name,
    message: `Answers at ${declared.address} and proved to be the machine that was written down at ${fact.address}.`,
  });
}

/** Why nothing may be sent to this machine, or nothing when it may. */
function stopOf(seen: Observed, facts: ClusterFacts, { declared, look }: SeenMachine): StoppedMachine | undefined {
  const { name, role, problem } = declared;
  const stop = (reason: ReadyReason, message: string): StoppedMachine => ({ name, role, reason, message });
  const fact = machineFact(facts, name);
  // One that runs where it always was goes on; the condition AddressResolved says what is wrong.
  if (problem !== undefined && look.kind !== "running") return stop(problem.reason, `${name}: ${problem.message}`);
  switch (look.kind) {
    case "not-asked":
      return undefined;
    case "silent":
      return look.stopped === undefined ? undefined : stop(look.stopped.reason, `${name}: ${look.stopped.message}`);
    case "running": {
      const twin = runningTwinOf(seen, facts, declared, look);
      return twin === undefined ? undefined : stop("MachineInUse", sameMachine(seen, declared, twin));
    }
    case "not-talos":
      return stop(
        "NotTalos",
        `${name}: what answers at ${declared.address}:50000 is not Talos (${look.detail}). Correct ${declared.field}.address, or boot Talos there.`,
      );
    case "foreign":
      if (look.isByTime === true)
        return stop(
          "ClockSkewed",
          `${name}: certificates are refused for their dates at ${declared.address}: ${look.detail}. Nothing is sent to it. Set the clocks of this operator's host and of the machine.`,
        );
      return fact?.configuredAt === undefined
        ? stop(
            "ForeignCluster",
            `${name}: the machine at ${declared.address} is already configured for another cluster (${look.detail}). Reset it into maintenance mode, or remove it from ${declared.field}.`,
          )
        : stop(
            "IdentityMismatch",
            `${name}: what answers at ${declared.address} shows a certificate that this cluster did not sign (${look.detail}). Nothing is sent to it. Find out what stands at that address.`,
          );
    case "maintenance":
      return stopInMaintenance(seen, facts, declared, look, fact, stop);
  }
}

function stopInMaintenance(
  seen: Observed,
  facts: ClusterFacts,
  declared: DeclaredMachine,
  look: InMaintenance,
  fact: MachineFact | undefined,
  stop: (reason: ReadyReason, message: string) => StoppedMachine,
): StoppedMachine | undefined {
  const { name, address } = declared;
  if (seen.requireFingerprint && fact?.configuredAt === undefined && !isVouchedFor(seen, look))
    return stop(
      "IdentityMismatch",
      `${name}: the machine key ${look.spki} at ${address} is not verified, and the operator runs with --require-maintenance-fingerprint. Annotate the TalosControlPlane with ${annotations.acceptIdentity}: ${look.spki}.`,
    );
  const wasConfigured = mayHoldConfig(fact);
  if (wasConfigured && fact.spki !== look.spki && !isReprovisionApproved(seen, declared, look, facts))
    return stop(
      "MaintenanceUnexpected",
      `${name}: the machine at ${address} was configured and answers in maintenance mode with another key: it was wiped, rebooted before it was installed, or is another machine. Nothing is sent to it. ` +
        `Annotate ${annotations.approveReprovision}: ${wordFor(facts, name, look.uuid)} on the TalosControlPlane if it may be configured again.`,
    );
  const twin = twinOf(seen, facts, declared, look);
  if (twin !== undefined) return stop("MachineInUse", sameMachine(seen, declared, twin));
  if (declared.lockout !== undefined) return stop("InvalidConfig", `${name}: ${lockoutWords(declared.lockout)}`);
  const disk = diskOf(facts, declared, look);
  if (disk.kind === "refused") return stop("InstallDiskUnclear", `${disk.message}.`);
  return undefined;
}

/** What is said of a configuration that would be the machine's last. */
export function lockoutWords(lockout: string): string {
  return `its configuration is not sent, for with it the machine would answer nobody any more: ${lockout}. Correct configPatches, additionalConfig or the config that configRef names.`;
}

/** A pool that is being deleted gets no machine back that was just wiped. */
function isOwnerGoing(seen: Observed, { owner }: DeclaredMachine): boolean {
  const object = owner.kind === "TalosWorker" ? seen.workers.find((worker) => worker.metadata.name === owner.name) : seen.controlPlane;
  return object?.metadata.deletionTimestamp !== undefined;
}

/**
 * A person said that this machine may be configured again; bound to the UUID it names, and never for the machine that etcd is being bootstrapped on:
 * that one may hold, or have held, the only copy.
 */
function isReprovisionApproved(seen: Observed, declared: DeclaredMachine, look: InMaintenance, facts: ClusterFacts): boolean {
  const approved = seen.controlPlane.metadata.annotations?.[annotations.approveReprovision];
  if (approved !== wordFor(facts, declared.name, look.uuid)) return false;
  return facts.bootstrapDone !== undefined || facts.bootstrapIntent?.machine !== declared.name;
}

function sameMachine(seen: Observed, declared: DeclaredMachine, twin: MachineName): string {
  const { name, address } = declared;
  if (isLeaving(seen, declared, twin))
    return `${name}: the machine at ${address} is ${twin}, which left its list and is wiped first. It is configured under its new name then.`;
  return `${name}: the machine at ${address} is the same as ${twin} (same key, hardware identity or etcd member). Remove one of the two entries.`;
}

/** The other entry that leads to this running machine: the same etcd member, or hardware that the record knows under another name. */
function runningTwinOf(seen: Observed, facts: ClusterFacts, declared: DeclaredMachine, look: Running): MachineName | undefined {
  const member = look.etcd?.localMember;
  if (member !== undefined && member !== "none") {
    const other = seen.machines.find(
      (one) => one.declared.name !== declared.name && one.look.kind === "running" && one.look.etcd?.localMember === member,
    );
    if (other !== undefined) return other.declared.name;
  }
  return look.hardware === undefined ? undefined : knownTwinOf(seen, facts, declared, look.hardware);
}

/** The other machine with this key, UUID or hardware addresses, or `undefined`. A UUID alone does not count: clones and some vendors share them. */
function twinOf(seen: Observed, facts: ClusterFacts, declared: DeclaredMachine, look: InMaintenance): MachineName | undefined {
  const byLook = seen.machines.find(
    (other) =>
      other.declared.name !== declared.name &&
      other.look.kind === "maintenance" &&
      (other.look.spki === look.spki || isSameHardware(look, other.look)),
  );
  return byLook?.declared.name ?? knownTwinOf(seen, facts, declared, look);
}

/** One machine: the same UUID, which clones share, and a hardware address in common. */
function isSameHardware(a: Hardware, b: { readonly uuid: string | undefined; readonly macs: readonly string[] }): boolean {
  return a.uuid !== undefined && a.uuid === b.uuid && a.macs.some((mac) => b.macs.includes(mac));
}

/** The other entry whose machine this is, as far as the record knows it. Of one that only its TalosMachine told of that may be the UUID alone. */
function knownTwinOf(
  seen: Observed,
  facts: ClusterFacts,
  declared: DeclaredMachine,
  look: Pick<InMaintenance, "uuid" | "macs">,
): MachineName | undefined {
  return facts.machines.find(
    (other) =>
      other.name !== declared.name &&
      other.releasedAt === undefined &&
      (isSameHardware(look, other) || isTold(facts, other, look.uuid)) &&
      (seen.machines.some((machine) => machine.declared.name === other.name) || isLeaving(seen, declared, other.name)),
  )?.name;
}

/**
 * A worker that left the list under this name, as one does that moves to another pool, is being wiped: what is taken for running under its new name meanwhile
 * would then be found wiped, and wait for a person. Control planes are told apart by their member of etcd.
 */
function isLeaving({ former }: Observed, { role }: DeclaredMachine, name: MachineName): boolean {
  return role === "worker" && former.some(({ declared }) => declared.name === name && declared.role === "worker");
}

/** Nothing but its UUID is known of the machine, which nobody else had, and this is it. */
function isTold(facts: ClusterFacts, fact: MachineFact, uuid: string | undefined): boolean {
  return isOnlyTold(fact) && fact.macs.length === 0 && fact.uuid === uuid && identityOf(facts, fact) === "own";
}

function diskOf(facts: ClusterFacts, declared: DeclaredMachine, look: InMaintenance): ReturnType<typeof chooseInstallDisk> {
  return chooseInstallDisk({
    machine: declared.name,
    platform: look.platform,
    wanted: wantedDisk(declared.machineSpec),
    selector: wantedSelector(declared.machineSpec),
    mayWipe: declared.machineSpec.wipe === true,
    recorded: machineFact(facts, declared.name)?.installDisk,
    disks: look.disks,
  });
}

function factOf(
  seen: Observed,
  facts: ClusterFacts,
  declared: DeclaredMachine,
  look: InMaintenance,
  installDisk: string | undefined,
): MachineFact {
  const { now } = seen;
  const { spec } = seen.controlPlane;
  return {
    name: declared.name,
    role: declared.role,
    ...poolFact(declared),
    address: declared.address,
    uuid: look.uuid ?? "",
    macs: look.macs,
    spki: look.spki,
    platform: look.platform,
    installDisk,
    configHash: configHashOf(declared, spec === undefined ? spec : asMade(spec, facts)),
    contract: contractOf(installedVersion(facts, declared), look.version),
    pinnedAt: now,
    vouchedAt: isVouchedFor(seen, look) ? now : undefined,
    configuredAt: now,
    releasedAt: undefined,
    ...(look.platform === "container" ? {} : { metaHash: wantedMeta(declared, look.platform).text === undefined ? NO_META : UNSURE_META }),
  };
}

/** What is installed on a machine that joins: what runs in the cluster; the spec's newer word is an upgrade. */
export function installedVersion(facts: ClusterFacts, { role, version }: DeclaredMachine): string {
  return facts.bootstrapDone !== undefined && role === "controlplane" && facts.talosVersion !== "" ? facts.talosVersion : version;
}

/** A person named the key that the machine shows. */
function isVouchedFor({ controlPlane }: Observed, { spki }: InMaintenance): boolean {
  return controlPlane.metadata.annotations?.[annotations.acceptIdentity] === spki;
}

/** The pool that is written down with a worker; that of one that is only known from elsewhere may not be told. */
export function poolFact({ role, owner }: Pick<DeclaredMachine, "role" | "owner">): Pick<MachineFact, "pool"> {
  return role === "worker" && owner.name !== "" ? { pool: owner.name } : {};
}

/** A machine that proved by its certificate that it is ours; its maintenance key is not known, so it is never configured again without a word. */
function metRunning(seen: Observed, facts: ClusterFacts, declared: DeclaredMachine, { platform, hardware }: Running): MachineFact {
  const { now } = seen;
  const { name, role, address } = declared;
  return {
    name,
    role,
    ...poolFact(declared),
    address,
    uuid: hardware?.uuid ?? "",
    macs: hardware?.macs ?? [],
    spki: undefined,
    platform,
    installDisk: undefined,
    configHash: foundConfigHash(declared, seen.controlPlane.spec, facts),
    pinnedAt: now,
    vouchedAt: undefined,
    configuredAt: now,
    releasedAt: undefined,
    metaHash: isMadeAnew(facts) && platform !== "container" ? UNSURE_META : wantedMeta(declared, platform).hash,
  };
}

/** Haste, not safety: a machine that just took its configuration needs a moment to act on it. */
export function mayConfigureNow(seen: Observed, name: MachineName): boolean {
  const sent = seen.sent.get(`Configure/${name}`);
  if (sent === undefined) return true;
  const wait = sent.outcome === "answered" ? RESEND_AFTER_MS : sent.outcome === "refused" ? RESEND_AFTER_MS : LOOK_AGAIN_MS;
  return elapsedMs(sent.at, seen.now) >= wait;
}
