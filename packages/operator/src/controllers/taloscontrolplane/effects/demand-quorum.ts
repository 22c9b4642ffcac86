import { EffectError } from "../../../errors.ts";
import { lookAt } from "../../../looking/look-at.ts";
import { controlPlanesOf } from "../membership/etcd-view.ts";
import { intentOn, machineFact } from "../record/facts.ts";
import { memberOf } from "../membership/removal.ts";
import { isOtherMachine } from "../membership/identity.ts";
import { answerOf, projectWithout, quorumOf, settled } from "../membership/quorum.ts";
import type { Look } from "../../../model/look.ts";
import type { MachineName } from "../../../model/machine.ts";
import type { Effects } from "./ports.ts";
import type { EtcdQuorum } from "../../../model/etcd.ts";

/** Whose loss etcd has to bear. */
export interface QuorumDemand {
  /** For messages. */
  readonly machine: MachineName;
  /** The member that counts as gone; `undefined` = the one that `machine` shows, and it has to show one. */
  readonly memberId?: string;
  /** For good, or for a while. */
  readonly how: "leaves" | "is-down";
}

/** What the members said just now. */
export interface LiveQuorum {
  readonly view: EtcdQuorum;
  /** The member that counts as gone. */
  readonly memberId: string;
  /** Machines that show a member as their own, by its id. */
  readonly shownBy: ReadonlyMap<string, MachineName>;
}

/**
 * Asks every control plane now, each for its own list, and fails unless etcd keeps its quorum without the member: the same rules as in a decision, on what
 * the members say right before the send. Each answer takes at most {@link LOOK_TIMEOUT_MS} for each call.
 *
 * A joining member forbids it, unless that is the very member. The only voter may be down for a while, and never leaves.
 *
 * @throws EffectError `PRECONDITION_GONE`
 */
export async function demandQuorum(demand: QuorumDemand, effects: Effects): Promise<LiveQuorum> {
  const looks = await lookAtControlPlanes(effects);
  const answers = looks.flatMap(({ machine, look }) => answerOf(machine, look) ?? []);
  const all = quorumOf(answers);
  const own = answers.find(({ machine }) => machine === demand.machine)?.etcd.localMember;
  const memberId = demand.memberId ?? own;
  if (memberId === undefined || memberId === "none")
    throw new EffectError("PRECONDITION_GONE", `${demand.machine} shows no member of etcd as its own`);
  const isJoining = all.kind === "known" && all.learners.some(({ id }) => id === memberId);
  const view = isJoining ? all : settled(all);
  if (view.kind === "unsafe") throw new EffectError("PRECONDITION_GONE", view.message);
  const isOnly = view.voters.length === 1 && view.voters[0]?.id === memberId;
  const projection = projectWithout(view, memberId, demand.how);
  if (!projection.isSafe && !(isOnly && demand.how === "is-down"))
    throw new EffectError("PRECONDITION_GONE", `without ${demand.machine} etcd would lose its quorum: ${projection.message}`);
  const shownBy = new Map(
    answers.flatMap(({ machine, etcd }) => (etcd.localMember === undefined ? [] : [[etcd.localMember, machine] as const])),
  );
  return { view, memberId, shownBy };
}

/**
 * Fails unless this machine is known now to be no voter of etcd: nothing that is done to it takes a vote away.
 *
 * @throws EffectError `PRECONDITION_GONE`
 */
export async function demandNoVoter(machine: MachineName, effects: Effects): Promise<void> {
  const looks = await lookAtControlPlanes(effects);
  const answers = looks.flatMap((one) => answerOf(one.machine, one.look) ?? []);
  const own = answers.find((answer) => answer.machine === machine)?.etcd.localMember;
  const view = quorumOf(answers);
  if (own === undefined) throw new EffectError("PRECONDITION_GONE", `${machine} does not tell which member of etcd is its own`);
  if (view.kind === "unsafe") throw new EffectError("PRECONDITION_GONE", view.message);
  if (view.voters.some(({ id }) => id === own)) throw new EffectError("PRECONDITION_GONE", `${machine} is a voter of etcd`);
}

/**
 * Fails unless the others agree now that etcd has no member of this machine, under whatever id: what is stopped then takes nothing along. A machine's own word
 * that it is none is not enough.
 *
 * @throws EffectError `PRECONDITION_GONE`
 */
export async function demandNoMember(machine: MachineName, effects: Effects): Promise<void> {
  const looks = await lookAtControlPlanes(effects);
  const answers = looks.flatMap((one) => answerOf(one.machine, one.look) ?? []);
  const own = answers.find((answer) => answer.machine === machine)?.etcd.localMember;
  const view = quorumOf(answers.filter((answer) => answer.machine !== machine));
  if (own === undefined) throw new EffectError("PRECONDITION_GONE", `${machine} does not tell which member of etcd is its own`);
  if (view.kind === "unsafe") throw new EffectError("PRECONDITION_GONE", view.message);
  const fact = machineFact(effects.facts(), machine);
  const intent = intentOn(effects.facts(), machine, "Reset");
  const ids = [own, fact?.memberId, intent?.memberId];
  const { members } = view;
  const member =
    members.find(({ id }) => ids.includes(id)) ?? (fact === undefined ? undefined : memberOf(effects.seen, members, effects.facts(), fact));
  if (member !== undefined) throw new EffectError("PRECONDITION_GONE", `etcd lists ${member.id}, the member of ${machine}`);
}

/** Machines that answer as another one than was written down say nothing. */
async function lookAtControlPlanes(effects: Effects): Promise<readonly { readonly machine: MachineName; readonly look: Look }[]> {
  const { seen, session, clock, signal } = effects;
  const facts = effects.facts();
  const asked = controlPlanesOf(seen).filter(({ declared }) => machineFact(facts, declared.name)?.releasedAt === undefined);
  const looks = await Promise.all(
    asked.map(async ({ declared }) => {
      const connections = session.connections(declared.name);
      if (connections === undefined) return [];
      const look = await lookAt({
        connections,
        role: "controlplane",
        credentials: session.credentials(),
        mayBeConfigured: true,
        needsHardware: true,
        now: () => clock.now(),
        signal,
      });
      const isOther = look.kind === "running" && isOtherMachine(machineFact(facts, declared.name)?.uuid ?? "", look.hardware?.uuid);
      return isOther ? [] : [{ machine: declared.name, look }];
    }),
  );
  return looks.flat();
}
