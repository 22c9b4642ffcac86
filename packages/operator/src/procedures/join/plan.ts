import { annotations, MAX_KNOWN_MACHINES } from "@talos-operator/api";
import type { ReadyReason } from "@talos-operator/api";
import type { Hazard } from "@talos-operator/talos";
import { chooseInstallDisk } from "../../config/install-disk.ts";
import { firstContract } from "../../spec/pool-contract.ts";
import { olderOf, unreadBy } from "../../spec/unread.ts";
import { wantedDisk, wantedSelector } from "../../config/wanted-disk.ts";
import { codesOf, hazardWords, heldBack } from "../configure/hazards.ts";
import { configHashOf, foundConfigHash } from "../configure/config-hash.ts";
import { platformOf } from "../configure/platform-of.ts";
import { configureMachine } from "../../effects/configure-machine.ts";
import { mayAskAgain } from "../../effects/define.ts";
import { FactsDraft } from "../../record/facts-draft.ts";
import { machineFact, mayHoldConfig, withDecisions, withMachine, withMachines } from "../../record/facts.ts";
import { RecordRoom, withoutLongGone } from "../../record/room.ts";
import { buildToInstall } from "./build-to-install.ts";
import { asMade } from "../../spec/fixed-properties.ts";
import { joinHindrance } from "./joins.ts";
import { isMadeAnew, isOnlyReported, withReported } from "../../observe/reported-machines.ts";
import { wordFor } from "../../assess/identity.ts";
import { isLeaving, twinsAmong } from "../../assess/twins.ts";
import type { Twins } from "../../assess/twins.ts";
import { NO_META, UNSURE_META, wantedMeta } from "../configure/meta-plan.ts";
import { classWords, failedWords, quarantineRelease } from "../upgrade/quarantine.ts";
import type { InMaintenance, Running } from "../../model/look.ts";
import type { ClusterFacts, DecisionFact, MachineFact, QuarantineFact } from "../../model/record.ts";
import type { DeclaredMachine, MachineName } from "../../model/machine.ts";
import type { Observed, SeenMachine } from "../../model/observation.ts";
import type { HeldMachine, MachinePlan, PlannedConfiguration, StoppedMachine } from "../../model/plans.ts";
import type { Assessment } from "../../model/assessment.ts";

/**
 * Decides for each machine: write down and configure, wait, or stop.
 *
 * A machine is configured only in maintenance mode, only with the key that was written down before, and never again
 * once a configuration was sent to another key: then it was wiped, or something else answers (S20, S22).
 */
export function planMachines(assessed: Assessment, facts: ClusterFacts): MachinePlan {
  const { seen } = assessed;
  const twins = twinsAmong(assessed, facts);
  const stopped = seen.machines.flatMap((machine) => stopOf({ assessed, facts, twins }, machine) ?? []);
  const isStopped = new Set(stopped.map((machine) => machine.name));
  const configure: PlannedConfiguration[] = [];
  const held: HeldMachine[] = [];
  const met = withUnknownRunning(seen, facts, isStopped);
  const notes = new Notes(seen, met);
  for (const machine of seen.machines) {
    const { declared, look } = machine;
    if (isStopped.has(declared.name) || isOwnerGoing(seen, declared)) continue;
    const moved = followed(seen, machineFact(met, declared.name), machine);
    if (moved !== undefined) notes.note(moved.fact, moved.decision);
    if (look.kind !== "maintenance") continue;
    // Control planes of this pass have begun, too: the next one is held by them.
    const hindrance = joinHindrance(assessed, notes.facts, machine);
    if (hindrance !== undefined) {
      held.push({ role: declared.role, says: hindrance });
      continue;
    }
    const disk = diskOf(facts, declared, look);
    if (disk.kind === "refused") continue;
    const installDisk = disk.kind === "disk" ? disk.path : undefined;
    const fact = machineFact(facts, declared.name);
    if (!mayHoldConfig(fact) || fact.spki !== look.spki) {
      const pinned = factOf(seen, facts, declared, look, installDisk);
      if (!notes.hasRoom(pinned)) {
        stopped.push(noRoomFor(declared));
        continue;
      }
      notes.note(pinned, {
        at: seen.now,
        action: "Configure",
        reason: mayHoldConfig(fact) ? "ApprovedByPerson" : "Declared",
        machine: declared.name,
        message: `Waits in maintenance mode at ${declared.address}.`,
      });
    }
    if (mayAskAgain(seen, configureMachine, declared.name)) configure.push({ machine: declared, ifSpki: look.spki, installDisk });
  }
  return { facts: notes.all(), configure, held, stopped };
}

/**
 * What is to be written down of machines, as it grows. Of control planes it is in `facts` at once, for the next one goes by it; of workers, which go by none but
 * themselves, in {@link Notes.all} together: a thousand of them are one copy of the record, and not a thousand.
 */
class Notes {
  readonly #seen: Observed;
  #facts: ClusterFacts;
  #workers: MachineFact[] = [];
  #decisions: DecisionFact[] = [];
  #room: RecordRoom | undefined;

  constructor(seen: Observed, facts: ClusterFacts) {
    this.#seen = seen;
    this.#facts = facts;
  }

  get facts(): ClusterFacts {
    return this.#facts;
  }

  all(): ClusterFacts {
    if (this.#workers.length > 0) this.#facts = withDecisions(withMachines(this.#facts, this.#workers), ...this.#decisions);
    this.#workers = [];
    this.#decisions = [];
    return this.#facts;
  }

  note(fact: MachineFact, decision: DecisionFact): void {
    if (fact.role === "controlplane") {
      this.#facts = withDecisions(withMachine(this.all(), fact), decision);
      return;
    }
    this.#workers.push(fact);
    this.#decisions.push(decision);
  }

  /** What nobody needs to know any more makes room, once, when there is none. */
  hasRoom(fact: MachineFact): boolean {
    this.#room ??= new RecordRoom(this.all());
    if (this.#room.tryTake(fact)) return true;
    const before = this.all();
    const cleared = withoutLongGone(this.#seen, before);
    if (cleared === before) return false;
    this.#facts = cleared;
    this.#room = new RecordRoom(cleared);
    return this.#room.tryTake(fact);
  }
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
  const draft = new FactsDraft(withReported(seen, facts));
  let room: RecordRoom | undefined;
  for (const { declared, look } of [...seen.machines, ...seen.former]) {
    const known = machineFact(facts, declared.name);
    if (look.kind !== "running" || stopped.has(declared.name)) continue;
    // One that was released as it was, and is listed again, runs with this cluster's keys all the same.
    if (
      mayHoldConfig(known)
        ? !(isMadeAnew(facts) && isOnlyReported(known)) || look.hardware === undefined
        : known !== undefined && isOwnerGoing(seen, declared)
    )
      continue;
    if (isOfBeforeWipe(facts, declared, look)) continue;
    const met = metRunning(seen, facts, declared, look);
    // Everybody else would not be written down either.
    room ??= new RecordRoom(draft.before);
    if (!room.tryTake(met)) continue;
    draft.put(met);
    draft.decide({
      at: seen.now,
      action: "Learn",
      reason: "MetRunning",
      machine: declared.name,
      message: `Runs with this cluster's keys at ${declared.address}, and the record did not know it.`,
    });
  }
  return draft.facts();
}

/** No look is kept for longer than this. Milliseconds. */
const LOOK_LASTS_MS = 60_000;

/** The machine was released by its other name after this look: it may have been wiped since, and runs no more. */
function isOfBeforeWipe({ machines }: ClusterFacts, { name, address }: DeclaredMachine, { at, hardware }: Running): boolean {
  return machines.some(
    (fact) =>
      fact.name !== name &&
      fact.releasedAt !== undefined &&
      (fact.address === address || (fact.uuid !== "" && fact.uuid === hardware?.uuid)) &&
      // The record keeps whole seconds.
      at < fact.releasedAt + 1_000 &&
      fact.releasedAt - at < LOOK_LASTS_MS,
  );
}

/**
 * The machine's fact with its new address; `undefined` = it is where it was. Who answers there has proved to be it: as a running machine by certificate and hardware (`proven-look.ts` lets
 * no other look pass), in maintenance mode by the key that was written down.
 */
function followed(
  seen: Observed,
  fact: MachineFact | undefined,
  { declared, look }: SeenMachine,
): { readonly fact: MachineFact; readonly decision: DecisionFact } | undefined {
  if (!mayHoldConfig(fact) || declared.problem !== undefined) return undefined;
  if (fact.address === declared.address) return undefined;
  const isIt = look.kind === "running" || (look.kind === "maintenance" && look.spki === fact.spki);
  if (!isIt) return undefined;
  // It answers without them: static settings of its META, in which the old address stands, are no change that somebody asked for. That they differ is told.
  const metaAt = (address: string): string => wantedMeta({ ...declared, address }, platformOf(look, fact)).hash;
  const metaHash = look.kind === "running" && fact.metaHash === metaAt(fact.address) ? { metaHash: metaAt(declared.address) } : {};
  return {
    fact: { ...fact, address: declared.address, ...metaHash },
    decision: {
      at: seen.now,
      action: "Follow",
      reason: "AddressMoved",
      machine: declared.name,
      message: `Answers at ${declared.address} and proved to be the machine that was written down at ${fact.address}.`,
    },
  };
}

/** What one machine is held against. */
interface Around {
  readonly assessed: Assessment;
  readonly facts: ClusterFacts;
  readonly twins: Twins;
}

/** Why nothing may be sent to this machine, or nothing when it may. */
function stopOf(around: Around, { declared, look }: SeenMachine): StoppedMachine | undefined {
  const { assessed, facts, twins } = around;
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
      const twin = twins.ofRunning(declared, look);
      return twin === undefined ? undefined : stop("MachineInUse", sameMachine(assessed, declared, twin));
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
      return stopInMaintenance(around, declared, look, fact, stop);
  }
}

function stopInMaintenance(
  { assessed, facts, twins }: Around,
  declared: DeclaredMachine,
  look: InMaintenance,
  fact: MachineFact | undefined,
  stop: (reason: ReadyReason, message: string) => StoppedMachine,
): StoppedMachine | undefined {
  const { seen } = assessed;
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
      `${name}: the machine at ${address} was configured and answers in maintenance mode with another key. It was wiped, rebooted before it was installed, or is another machine. Nothing is sent to it. ` +
        `Annotate ${annotations.approveReprovision}: ${wordFor(facts, name, look.uuid)} on the TalosControlPlane if it may be configured again.`,
    );
  const twin = twins.ofWaiting(declared, look);
  if (twin !== undefined) return stop("MachineInUse", sameMachine(assessed, declared, twin));
  const hazards = hazardsInFirst(seen, facts, declared);
  if (hazards.length > 0)
    return stop(
      "InvalidConfig",
      `${name}: ${codesOf(hazards).join(", ")} in its configuration, which is not sent. ${hazardWords(hazards, declared)}`,
    );
  const { failed } = buildToInstall(seen, facts, declared);
  if (failed !== undefined) return stop("VersionFailed", `${name}: ${failedFirst(failed)}`);
  const unread = unreadFirst(seen, facts, declared, look);
  if (unread !== undefined) return stop("InvalidConfig", `${name}: ${unread}`);
  const disk = diskOf(facts, declared, look);
  if (disk.kind === "refused") return stop("InstallDiskUnclear", `${disk.message}.`);
  return undefined;
}

/** Why a machine would refuse its first configuration: it is read by the Talos that it booted, and then by the one that is installed. */
function unreadFirst(seen: Observed, facts: ClusterFacts, declared: DeclaredMachine, look: InMaintenance): string | undefined {
  const reader = olderOf(look.version, buildToInstall(seen, facts, declared).version);
  const words = reader === undefined ? undefined : unreadBy(reader, declared, seen.controlPlane, facts, look.platform);
  return words === undefined
    ? undefined
    : `Talos ${reader}, which is to read its configuration, cannot: ${words}. Boot it with Talos ${declared.version}, or wait until an upgrade to that has ended.`;
}

/** What is said of a machine that would be installed with a Talos that failed: it has nothing to fall back to. */
function failedFirst(failed: QuarantineFact): string {
  const what = `${failedWords(failed)} failed on ${failed.machine}${classWords(failed)}`;
  return `it is not installed, for ${what}, and no machine of its pool reports what it runs instead: ${failed.why} ${quarantineRelease(failed)}`;
}

/** What holds back the first configuration of a machine: a person can only wipe it at its console. */
function hazardsInFirst({ controlPlane: { spec } }: Observed, facts: ClusterFacts, declared: DeclaredMachine): readonly Hazard[] {
  if (declared.hazards === undefined || spec === undefined) return [];
  return heldBack(facts, configHashOf(declared, asMade(spec, facts), facts), declared.hazards);
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

function sameMachine({ byName }: Assessment, declared: DeclaredMachine, twin: MachineName): string {
  const { name, address } = declared;
  if (isLeaving(byName.get(twin), declared))
    return `${name}: the machine at ${address} is ${twin}, which left its list and is wiped first. It is configured under its new name then.`;
  return `${name}: the machine at ${address} is the same as ${twin} (same key, hardware identity or etcd member). Remove one of the two entries.`;
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
    configHash: configHashOf(declared, spec === undefined ? spec : asMade(spec, facts), facts),
    contract: firstContract(facts, declared, buildToInstall(seen, facts, declared).version, look.version),
    pinnedAt: now,
    vouchedAt: isVouchedFor(seen, look) ? now : undefined,
    configuredAt: now,
    releasedAt: undefined,
    ...(look.platform === "container" ? {} : { metaHash: wantedMeta(declared, look.platform).text === undefined ? NO_META : UNSURE_META }),
  };
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
