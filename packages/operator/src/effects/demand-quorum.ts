import { EffectError } from "../errors.ts";
import { lookAt } from "../looking/look-at.ts";
import { controlPlanesOf } from "../assess/etcd-view.ts";
import { intentOn, machineFact } from "../record/facts.ts";
import { isUpgrade } from "../record/upgrades.ts";
import { outageWord } from "../disruption/approved-outage.ts";
import { memberOf } from "../procedures/remove/removal.ts";
import { isOtherMachine } from "../assess/identity.ts";
import { answerOf, projectWithout, quorumOf, settled } from "../assess/quorum.ts";
import type { Look } from "../model/look.ts";
import type { MachineName } from "../model/machine.ts";
import type { Observed, SeenMachine } from "../model/observation.ts";
import type { EtcdAnswer, EtcdDoubt, EtcdQuorum } from "../model/etcd.ts";
import type { Check, Checks, Sending } from "./define.ts";
import type { Effects } from "./ports.ts";

/** Whose loss etcd has to bear. */
export interface QuorumDemand {
  /** For messages. */
  readonly machine: MachineName;
  /** The member that counts as gone; `undefined` = the one that `machine` shows. */
  readonly memberId?: string;
}

/** What the members said just now. */
interface LiveEtcd {
  /** The observation of the pass, with what the machines show now. */
  readonly seen: Observed;
  readonly answers: readonly EtcdAnswer[];
  readonly view: EtcdQuorum | EtcdDoubt;
}

type Asked = Sending<{ readonly machine: MachineName }>;

/** Asks every control plane now, each for its own list. Each answer takes at most {@link LOOK_TIMEOUT_MS} for each call. */
export const membersNow = async ({ effects }: Sending): Promise<LiveEtcd> => {
  const looks = await lookAtControlPlanes(effects);
  const answers = looks.flatMap(({ machine, look }) => answerOf(machine, look) ?? []);
  const now = new Map(looks.map(({ machine, look }) => [machine, look]));
  const shown = (machine: SeenMachine): SeenMachine => ({ ...machine, look: now.get(machine.declared.name) ?? machine.look });
  const seen = { ...effects.seen, machines: effects.seen.machines.map(shown), former: effects.seen.former.map(shown) };
  return { answers, view: quorumOf(answers), seen };
};

/** The member that this machine shows as its own. */
export function memberShown({ answers }: Pick<LiveEtcd, "answers">, name: MachineName): string | undefined {
  return answers.find(({ machine }) => machine === name)?.etcd.localMember;
}

/** True when the machine leads etcd, as far as that can be told. @param others how many more have to vote at least */
export async function leads(sending: Asked, others = 0): Promise<boolean> {
  const live = await sending.ask(membersNow);
  return live.view.kind === "known" && live.view.leader === memberShown(live, sending.action.machine) && live.view.voters.length > others;
}

/**
 * etcd keeps its quorum without the member: the same rules as in a decision, on what the members say right before the send.
 *
 * A joining member forbids it, unless that is the very member. The only voter may be down for a while, and never leaves.
 *
 * @param how for good, or for a while
 * @param read what of their answers counts; default: all
 */
export function quorumWithout<A extends { readonly machine: MachineName }>(
  how: "leaves" | "is-down",
  of: (action: A) => QuorumDemand = ({ machine }) => ({ machine }),
  read: (view: EtcdQuorum | EtcdDoubt, action: A) => EtcdQuorum | EtcdDoubt = (view) => view,
) {
  const judged = async (sending: Sending<A>) => {
    const demand = of(sending.action);
    const live = await sending.ask(membersNow);
    const memberId = demand.memberId ?? memberShown(live, demand.machine);
    return { machine: demand.machine, memberId, all: read(live.view, sending.action) };
  };
  return {
    agreement: async (sending) => {
      const { all } = await judged(sending);
      if (all.kind === "unsafe") throw gone(all.message);
    },
    settled: async (sending) => {
      const { all, memberId } = await judged(sending);
      const view = settled(beside(all, memberId));
      if (all.kind === "known" && view.kind === "unsafe") throw gone(view.message);
    },
    quorum: async (sending) => {
      const { all, memberId, machine } = await judged(sending);
      if (all.kind === "unsafe") return;
      const isOnly = all.voters.length === 1 && all.voters[0]?.id === memberId;
      const isApproved = all.voters.length === 2 && mayBeOut(sending);
      const projection = projectWithout(all, memberId, isApproved ? "leaves" : how);
      if (!projection.isSafe && !(isOnly && how === "is-down"))
        throw gone(`without ${machine} etcd would lose its quorum: ${projection.message}`);
    },
  } as const satisfies Checks<Sending<A>>;
}

/**
 * The checks, unless the machine carries nothing of etcd now: its process does not run, or no other control plane is known. Then nobody counts on it, and it is not
 * told what its member is, or who the others are.
 */
export function unlessIdle<C extends string>(checks: Readonly<Record<C, Check<Asked>>>): Readonly<Record<C, Check<Asked>>> {
  const entries = Object.entries<Check<Asked>>(checks);
  return Object.fromEntries(
    entries.map(([name, check]) => [name, async (sending: Asked) => ((await sending.ask(isIdle)) ? undefined : check(sending))]),
  ) as unknown as Readonly<Record<C, Check<Asked>>>;
}

const isIdle = async (sending: Asked): Promise<boolean> => {
  const { seen } = await sending.ask(membersNow);
  const { machine } = sending.action;
  const look = seen.machines.find(({ declared }) => declared.name === machine)?.look;
  if (look?.kind !== "running" || look.etcd === undefined) return false;
  const { service, isHealthy } = look.etcd;
  const isOnly = controlPlanesOf(seen).every(({ declared }) => declared.name === machine);
  return service !== undefined && (service !== "Running" || (isOnly && !isHealthy));
};

/** A person said that etcd may be out while the machine boots into another Talos, or back. */
function mayBeOut({ effects, action }: Sending<{ readonly machine: MachineName }>): boolean {
  return isUpgrade(intentOn(effects.facts(), action.machine)) && outageWord(effects.seen, action.machine).kind === "approved";
}

/** The same without a member that is joining, or has never started: that it is what disturbs the others does not keep it. */
function beside(view: EtcdQuorum | EtcdDoubt, memberId: string | undefined): EtcdQuorum | EtcdDoubt {
  if (view.kind === "unsafe") return view;
  return {
    ...view,
    learners: view.learners.filter(({ id }) => id !== memberId),
    voters: view.voters.filter(({ id, name }) => id !== memberId || name !== ""),
  };
}

/** The machine shows a member of etcd as its own. */
export const ownMember: Check<Asked> = async (sending) => {
  const own = memberShown(await sending.ask(membersNow), sending.action.machine);
  if (own === undefined || own === "none") throw gone(`${sending.action.machine} shows no member of etcd as its own`);
};

/** The machine tells which member of etcd is its own. */
export const tellsMember: Check<Asked> = async (sending) => {
  const live = await sending.ask(membersNow);
  if (memberShown(live, sending.action.machine) === undefined)
    throw gone(`${sending.action.machine} does not report which member of etcd is its own`);
};

/** The machine is known now to be no voter of etcd: nothing that is done to it takes a vote away. */
export const noVote = {
  votersKnown: async (sending) => {
    const { view } = await sending.ask(membersNow);
    if (view.kind === "unsafe") throw gone(view.message);
  },
  noVote: async (sending) => {
    const live = await sending.ask(membersNow);
    const own = memberShown(live, sending.action.machine);
    if (live.view.kind === "known" && live.view.voters.some(({ id }) => id === own))
      throw gone(`${sending.action.machine} is a voter of etcd`);
  },
} as const satisfies Checks<Asked>;

/** What the other machines say of the members of etcd. */
export const othersSay = async (sending: Asked): Promise<EtcdQuorum | EtcdDoubt> =>
  quorumOf((await sending.ask(membersNow)).answers.filter(({ machine }) => machine !== sending.action.machine));

/**
 * The others agree now that etcd has no member of this machine, under whatever id: what is stopped then takes nothing along. A machine's own word that it is
 * none is not enough.
 */
export const noMember = {
  membersKnown: async (sending) => {
    const view = await sending.ask(othersSay);
    if (view.kind === "unsafe") throw gone(view.message);
  },
  noMember: async (sending) => {
    const view = await sending.ask(othersSay);
    if (view.kind === "unsafe") return;
    const { effects, action } = sending;
    const fact = machineFact(effects.facts(), action.machine);
    const intent = intentOn(effects.facts(), action.machine, "Reset");
    const ids = [memberShown(await sending.ask(membersNow), action.machine), fact?.memberId, intent?.memberId];
    const { members } = view;
    const member =
      members.find(({ id }) => ids.includes(id)) ??
      (fact === undefined ? undefined : memberOf(effects.seen, members, effects.facts(), fact));
    if (member !== undefined) throw gone(`etcd lists ${member.id}, the member of ${action.machine}`);
  },
} as const satisfies Checks<Asked>;

function gone(detail: string): EffectError {
  return new EffectError("PRECONDITION_GONE", detail);
}

/** Machines that answer as another one than was written down say nothing. */
async function lookAtControlPlanes(effects: Effects): Promise<readonly { readonly machine: MachineName; readonly look: Look }[]> {
  const { seen, session, clock, signal } = effects;
  const facts = effects.facts();
  const asked = controlPlanesOf(seen).filter(({ declared }) => machineFact(facts, declared.name)?.releasedAt === undefined);
  const looks = await Promise.all(
    asked.map(async ({ declared }) => {
      const connections = session.machines.connections(declared.name);
      if (connections === undefined) return [];
      const look = await lookAt({
        connections,
        role: "controlplane",
        credentials: session.machines.credentials(),
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
