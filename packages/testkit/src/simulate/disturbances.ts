import type { ClusterRecord } from "@talos-operator/api";
import type { Datacenter, EtcdMember, SimulatedMachine } from "@talos-operator/simulator";
import type { EffectId } from "./effects.ts";
import type { Report } from "./violation.ts";
import { createAlarmRules } from "./alarm-rules.ts";
import { createIntentRules, isDisarming } from "./intent-rules.ts";
import { viewMembers } from "./members-view.ts";
import type { Stage } from "./stage.ts";
import { createTalosRules, intentsOf } from "./talos-rules.ts";

/** A node that is down for longer is known to be down. */
const KNOWN_DOWN_MS = 90_000;

/** Least time between the first sight of a member nobody owns and its removal. */
const ORPHAN_GRACE_MS = 60_000;

/** A call that is lost may take place so late. */
const LATEST_MS = 600_000;

/** `ApplyConfigurationRequest.mode` that reboots whatever the change is. */
const MODE_REBOOT = 0;

/** Watches what the operator does to nodes and members that exist, and judges it by what the machines are. */
export interface Disturbances {
  /** Before an effect leaves the operator. @param detail path of the call, then the address */
  beforeSend(effect: EffectId, address: string, request: unknown, record: ClusterRecord | undefined, detail: string): void;
  /** When an effect took place on the machine at an address. */
  tookEffect(effect: EffectId, address: string, request: unknown, detail: string): void;
  /** A read of a machine that was answered: whoever removes a member has read the list just before. */
  read(path: string): void;
  /** After any effect. */
  look(): void;
}

/** What boots a node. */
const BOOTS: ReadonlySet<EffectId> = new Set(["T3", "T10", "T11"]);

/** The effect takes a node down, or a member away. */
function disturbs(effect: EffectId, request: unknown): boolean {
  if (effect === "T3") return (request as { readonly mode?: number }).mode === MODE_REBOOT;
  // What is installed beside what runs disturbs nobody before the boot.
  if (effect === "T10") return (request as { readonly $typeName?: string }).$typeName === "machine.UpgradeRequest";
  return ["T7", "T8", "T9", "T11"].includes(effect);
}

/** A write to META, not a configuration. */
function isMeta(request: unknown): boolean {
  return (request as { readonly key?: number }).key !== undefined;
}

interface Flight {
  readonly effect: EffectId;
  readonly bootId: string;
  readonly memberId: string | undefined;
}

/**
 * S10 healthy voters never fall below the majority by our action; S11 one disruptive effect on control planes at a time, and only under its intent;
 * S12 no member of a machine that is still wanted is removed; S13 an orphan was seen to be one for a while; S14 one removal for each reading of the
 * list; S18 no two members are booted or defragmented at once; S16 of two voters one goes only when the other one works; S17 one machine joins at a time; S19 only what nobody wants any more is wiped; S20 and
 * only the machine that was written down; S24 workers are disturbed one at a time, counting those that are down.
 */
export function createDisturbances(datacenter: Datacenter, stage: Stage, now: () => number, report: Report): Disturbances {
  const owners = new Map<string, Set<string>>();
  const firstSeen = new Map<string, number>();
  const flights = new Map<string, Flight>();
  /** Where a defragmentation was sent to and did not take place yet, and when. */
  const defragmenting = new Map<string, { readonly sentAt: number; readonly endedBefore: number }>();
  const talos = createTalosRules(datacenter, stage, now, report);
  const view = viewMembers(datacenter, stage, now);
  const { machineAt, isControlPlane, cluster, machineOf, isHealthy } = view;
  const isOurs = (memberId: string): boolean => [...(owners.get(memberId) ?? [])].some((address) => stage.everMachines.has(address));
  const alarms = createAlarmRules(view, stage, isOurs, now, report);
  const intents = createIntentRules(view, stage, report);
  let listReadings = 0;
  let readingsAtRemoval: number | undefined;

  function look(): void {
    talos.look();
    alarms.look();
    for (const { address, state } of datacenter.machines()) {
      const id = state.etcd.data?.memberId;
      if (id !== undefined) owners.set(id, (owners.get(id) ?? new Set()).add(address));
    }
    const members = cluster()?.members ?? [];
    for (const { id } of members) if (!firstSeen.has(id)) firstSeen.set(id, now());
    // One that took longer than its caller waited is answered to nobody.
    for (const [address, { endedBefore }] of defragmenting) if (defragmentationsOf(address) > endedBefore) defragmenting.delete(address);
    for (const [address, flight] of flights) if (hasLanded(machineAt(address), flight, members)) flights.delete(address);
  }

  /** How many have ended on this machine since its etcd started. */
  function defragmentationsOf(address: string): number {
    return machineAt(address).state.etcd.defragments?.ended ?? 0;
  }

  /** The target of an effect is proven back, or gone for good. */
  function hasLanded({ state }: SimulatedMachine, flight: Flight, members: readonly EtcdMember[]): boolean {
    const isMember = members.some((member) => member.id === flight.memberId);
    switch (flight.effect) {
      case "T9":
        if (state.hardware.platform === "container" && state.power === "off") return true;
        return state.stage === "maintenance" || state.config.persisted === undefined;
      case "T7":
      case "T8":
        return !isMember;
      default:
        // While files are full no kubelet can tell that its Node is ready: the member of a machine that boots is what is waited for.
        return state.bootId !== flight.bootId && state.stage === "running" && (state.kubernetes.isNodeReady || votesWithoutSpace(state));
    }
  }

  /** Whom the effect concerns: a removal concerns the owner of the member, whoever is asked to do it. */
  function targetOf(
    effect: EffectId,
    address: string,
    request: unknown,
  ): { readonly address: string; readonly memberId: string | undefined } {
    if (effect !== "T8") return { address, memberId: machineAt(address).state.etcd.data?.memberId };
    const memberId = (request as { readonly memberId: bigint }).memberId.toString(16).padStart(16, "0");
    // A member that was never one of the cluster's machines concerns nobody but who is asked.
    const owner = [...(owners.get(memberId) ?? [])].find((one) => stage.everMachines.has(one));
    return { address: owner ?? "", memberId };
  }

  function judgeQuorum(effect: EffectId, target: ReturnType<typeof targetOf>, request: unknown): void {
    const etcd = cluster();
    // Who deletes a cluster wants its quorum gone.
    if (etcd === undefined || stage.desired === undefined) return;
    const voters = etcd.members.filter((member) => !member.isLearner);
    const own = voters.find((member) => member.id === target.memberId);
    if (own === undefined) return;
    const rest = voters.filter((member) => member !== own);
    const inTheAir = new Set([...flights.values()].map(({ memberId }) => memberId));
    const left = rest.filter((member) => isHealthy(member) && !inTheAir.has(member.id)).length;
    const leaves =
      effect === "T7" || effect === "T8" || (effect === "T9" && (request as { readonly graceful?: boolean }).graceful === true);
    if (voters.length === 2 && (leaves || effect === "T9") && left < 1)
      report("S16", `${effect} takes one of two voters away (${own.name}), and the other one does not work`);
    // The node of a single control plane can only be disturbed below its quorum.
    if (voters.length === 1 && !leaves && effect !== "T9") return;
    const needed = Math.floor((leaves ? rest.length : voters.length) / 2) + 1;
    const hadQuorum = left + (isHealthy(own) ? 1 : 0) >= Math.floor(voters.length / 2) + 1;
    if (left < needed && (hadQuorum || !leaves))
      report("S10", `${effect} on ${target.address || own.id} leaves ${left} healthy of ${voters.length} voters, ${needed} are needed`);
  }

  function judgeRemoval(memberId: string): void {
    const members = cluster()?.members ?? [];
    const member = members.find((one) => one.id === memberId);
    const wanted = stage.desired?.controlPlanes ?? [];
    for (const address of owners.get(memberId) ?? [])
      if (wanted.includes(address) && machineAt(address).state.etcd.data?.memberId === memberId)
        report("S12", `member ${memberId} is removed, which is that of ${address}, which is still wanted`);
    if (!isOurs(memberId) && now() - (firstSeen.get(memberId) ?? now()) < ORPHAN_GRACE_MS)
      report("S13", `member ${memberId} is removed before it was known for long that nobody owns it`);
    const peer = wanted.find((address) => member?.peerUrl.includes(`//${address}:`));
    if (peer !== undefined && !isOurs(memberId) && machineAt(peer).state.power === "on" && machineAt(peer).state.etcd.data === undefined)
      report("S13", `member ${memberId} is removed while ${peer}, whose address it carries, is joining`);
    if (readingsAtRemoval === listReadings) report("S14", `member ${memberId} is removed by a list from before another removal`);
  }

  function judgeSingleFlight(effect: EffectId, target: ReturnType<typeof targetOf>, record: ClusterRecord | undefined): void {
    const others = [...flights].filter(([address]) => address !== target.address && isControlPlane(address));
    for (const [address, flight] of others)
      report("S11", `${effect} goes to ${target.address} while ${address} is not back from ${flight.effect}`);
    const open = intentsOf(record).filter((one) => isControlPlane(one.machine.address));
    if (open.length > 1) report("S11", `the record holds ${open.length} open intents on control planes`);
    if (target.address !== "" && !open.some((one) => one.machine.address === target.address))
      report("S11", `${effect} goes to ${target.address} without an open intent on it`);
  }

  /** Boots and what stops a member for a while: of control planes one at a time, whatever quorum is left. */
  function judgeAlone(effect: EffectId, address: string, request: unknown, detail: string): void {
    // An alarm that is taken back stops no member.
    if (isDisarming(detail)) return;
    if (!isControlPlane(address) || (effect !== "T13" && !(disturbs(effect, request) && BOOTS.has(effect)))) return;
    const busy = [...flights].flatMap(([other, flight]) => (BOOTS.has(flight.effect) && isControlPlane(other) ? [other] : []));
    const mayCome = [...defragmenting].flatMap(([other, { sentAt }]) => (now() - sentAt < LATEST_MS ? [other] : []));
    const others = [...busy, ...mayCome].filter((other) => other !== address);
    if (others.length > 0) report("S18", `${effect} goes to ${address} while ${others.join(", ")} is not back`);
    if (effect === "T13") defragmenting.set(address, { sentAt: now(), endedBefore: defragmentationsOf(address) });
  }

  function votesWithoutSpace({ etcd }: SimulatedMachine["state"]): boolean {
    const own = cluster()?.members.find(({ id }) => id === etcd.data?.memberId);
    return own?.isLearner === false && isHealthy(own) && view.alarms().some(({ alarm }) => alarm === "NOSPACE");
  }

  /** Boots and wipes alike, of workers that stay and of those that leave: of one pool one at a time. A pool that goes as a whole goes at once. */
  function judgeWorkers(effect: EffectId, address: string): void {
    const pool = stage.pools.get(address);
    const ofPool = (other: string): boolean => stage.everMachines.has(other) && !isControlPlane(other) && stage.pools.get(other) === pool;
    const workers = (stage.desired?.workers ?? []).filter(ofPool);
    // A machine that is down already takes nobody's place.
    if (workers.length === 0 || !ofPool(address) || !machineAt(address).state.kubernetes.isNodeReady) return;
    const isDown = (other: string): boolean => {
      const { goneSince } = machineAt(other).state;
      return goneSince !== undefined && now() - goneSince > KNOWN_DOWN_MS;
    };
    const inTheAir = [...flights.keys()].filter(ofPool);
    const down = new Set([...inTheAir, ...workers.filter(isDown)]);
    down.delete(address);
    if (down.size > 0) report("S24", `${effect} goes to the worker ${address} while ${[...down].join(", ")} is down`);
  }

  /** By machine: whoever stands at a control plane's address for a while may be a worker, which is no member and does not become one. */
  function judgeJoin(address: string): void {
    if (!stage.wasReady || !isControlPlane(address)) return;
    const target = machineAt(address).address;
    const etcd = cluster();
    const unfinished = etcd?.members.find((member) => member.isLearner || !member.isStarted);
    if (unfinished !== undefined && machineOf(unfinished)?.address !== target)
      report("S17", `${address} is told to join while member ${unfinished.name || unfinished.id} has not joined yet`);
    const joining = [...stage.everControlPlanes].find((other) => {
      const { state } = datacenter.machine(other);
      // One that left etcd for its wrong data and is wanted no more waits for its wipe: nothing starts its etcd again.
      const hasLeft = stage.desired?.controlPlanes.includes(other) === false && state.services["etcd"]?.state === "Finished";
      return (
        !hasLeft &&
        other !== target &&
        state.config.persisted !== undefined &&
        state.etcd.data === undefined &&
        state.goneSince === undefined
      );
    });
    if (joining !== undefined) report("S17", `${address} is told to join while ${joining} is on its way into etcd`);
  }

  return {
    look,
    read(path) {
      if (!path.endsWith("/EtcdMemberList")) return;
      listReadings += 1;
      // Where nothing else happens this is when the operator meets a new member.
      look();
    },
    beforeSend(effect, address, request, record, detail) {
      look();
      if (["T3", "T9", "T10", "T11"].includes(effect)) intents.judgeIdentity(effect, address, record);
      if (effect === "T2") judgeJoin(address);
      if (effect === "T9") intents.judgeWipe(address, record);
      if (effect === "T10") intents.judgeInstallation(address, record);
      talos.beforeSend(effect, address, intentsOf(record), detail);
      if (effect === "T13") intents.judgeCare(address, detail, record);
      judgeAlone(effect, address, request, detail);
      const target = targetOf(effect, address, request);
      // Network settings that are wrong take a machine off the network, and nothing takes them back.
      if (effect === "T3" && isMeta(request) && isControlPlane(address)) judgeQuorum(effect, target, request);
      if (!disturbs(effect, request)) return;
      alarms.judgeAlarm(effect, address, target.memberId);
      if (effect === "T7") alarms.judgeLeave(address);
      if (effect === "T8" && target.memberId !== undefined) judgeRemoval(target.memberId);
      if (effect === "T8" || isControlPlane(address)) {
        judgeQuorum(effect, target, request);
        judgeSingleFlight(effect, target, record);
      } else judgeWorkers(effect, address);
    },
    tookEffect(effect, address, request, detail) {
      if (effect === "T8") readingsAtRemoval = listReadings;
      if (effect === "T13" && !isDisarming(detail)) defragmenting.delete(address);
      if (!disturbs(effect, request)) return look();
      const target = targetOf(effect, address, request);
      const others = [...flights.keys()].filter((other) => other !== target.address && isControlPlane(other));
      if (others.length > 0 && isControlPlane(target.address))
        report("S11", `${effect} took place on ${target.address} while ${others.join(", ")} was not back`);
      if (target.address !== "")
        flights.set(target.address, { effect, bootId: machineAt(target.address).state.bootId, memberId: target.memberId });
      look();
    },
  };
}
