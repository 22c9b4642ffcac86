import { effects, projectWithout, quorumOf, recordHolds, settled } from "@talos-operator/operator/testing";
import type { Action, ActionOf, EffectKind, LiveCheckOf, SendDefinition } from "@talos-operator/operator/testing";
import { etcdOf, keyOf } from "./observe.ts";
import { addressOf, hasQuorum, indexOf, isLive, nameOf, type ModelMachine, type State } from "./state.ts";

type ProbeTarget = ActionOf<"BootstrapEtcd">["probe"][number];

/** Effects that found etcd, or take a machine or a member away. Everything else that a decision asks for is of no concern here. */
type Modelled = "ConfigureMachine" | "BootstrapEtcd" | "ForfeitLeadership" | "ResetMachine" | "RemoveMember";

type Answers<K extends EffectKind> = Readonly<Record<LiveCheckOf<K>, (state: State, action: ActionOf<K>) => boolean>>;

/** What the live checks of an effect find in this world. A check that is added does not compile before it stands here. */
const answers: { readonly [K in Modelled]: Answers<K> } = {
  ConfigureMachine: {
    ...nothingBreaks("unpaused", "declared", "kept"),
    waits: (state, { machine }) => state.machines[indexOf(machine.address)]?.stage === "waiting",
    pinnedKey(state, { machine, ifSpki }) {
      const index = indexOf(machine.address);
      return keyOf(index, state.machines[index]?.life ?? 0) === ifSpki;
    },
  },
  BootstrapEtcd: {
    ...nothingBreaks("unpaused", "imageThere", "othersWatched", "othersThemselves", "othersEmpty", "othersTalos", "othersOurs"),
    ...nothingBreaks("sameMachine", "lostInReboot"),
    othersWait: noOther((machine) => machine.stage === "up" && (machine.member !== undefined || machine.isStopped === true)),
    othersKeys: noOther(
      (machine, target, index) => machine.stage === "waiting" && target.wasConfigured && keyOf(index, machine.life) !== target.spki,
    ),
    othersHeard: noOther((machine, target) => machine.stage !== "up" && machine.stage !== "waiting" && target.wasConfigured),
    waitingEtcd: (state, { address }) => state.machines[indexOf(address)]?.member === undefined,
  },
  ForfeitLeadership: nothingBreaks("unpaused", "sameMachine", "ownMember", "agreement", "settled", "quorum", "leads"),
  ResetMachine: {
    ...nothingBreaks("unpaused", "sameMachine", "ownMember", "agreement", "settled", "handedOver", "tellsMember", "votersKnown"),
    ...nothingBreaks("samePool", "poolDeleted", "resetPolicy", "poolUnpaused", "membersKnown", "noMember", "noEtcd"),
    ...nothingBreaks("sameControlPlane", "pool", "poolStays", "poolReconciled", "unlistedBefore", "poolOfCluster", "notByHand"),
    quorum: (state, action) => action.leavesEtcd !== true || keepsQuorum(state, memberAt(state, action.address)),
    noVote: (state, action) =>
      action.leavesEtcd === true ||
      state.etcd?.members.some((one) => !one.isLearner && one.id === memberAt(state, action.address)) !== true,
    unlisted: isUnlisted,
  },
  RemoveMember: {
    ...nothingBreaks("unpaused", "sameWitness", "agreement", "settled"),
    ...nothingBreaks("sameControlPlane", "pool", "poolStays", "poolReconciled", "unlistedBefore", "poolOfCluster", "notByHand"),
    quorum: (state, { memberId }) => keepsQuorum(state, memberId),
    notShown: (state, action) => !state.machines.some(({ stage, member }) => stage === "up" && member === action.memberId),
    unlisted: isUnlisted,
  },
};

/** Whether an effect, or a write of the record, is of concern here. */
export function isModelled({ kind }: Action): boolean {
  return kind === "WriteRecord" || kind in answers;
}

/** The live checks and the record's own, as the definition of the effect has them. */
export function mayBeSent(state: State, action: Action): boolean {
  return !isOne(action) || passes(state, action);
}

function isOne(action: Action): action is ActionOf<Modelled> & Action {
  return action.kind in answers;
}

function passes<K extends Modelled>(state: State, action: ActionOf<K>): boolean {
  const { address, record } = effects[action.kind] as unknown as Pick<SendDefinition<K>, "address" | "record">;
  const isThere = action.kind === "ConfigureMachine" || isUp(state, address(action));
  const live = Object.values<(state: State, action: ActionOf<K>) => boolean>(answers[action.kind]);
  return isThere && live.every((holds) => holds(state, action)) && recordHolds(record, state.facts, action);
}

/** Nothing that happens in this world can break these. */
function nothingBreaks<C extends string>(...names: readonly C[]): Readonly<Record<C, () => boolean>> {
  return Object.fromEntries(names.map((name) => [name, () => true])) as Record<C, () => boolean>;
}

/** No other control plane that is asked is like this. */
function noOther(is: (machine: ModelMachine, target: ProbeTarget, index: number) => boolean) {
  return (state: State, action: ActionOf<"BootstrapEtcd">): boolean =>
    action.probe.every((target) => {
      const index = indexOf(target.address);
      const machine = state.machines[index];
      return target.machine === action.machine || machine === undefined || !is(machine, target, index);
    });
}

function isUnlisted(state: State, { machine }: { readonly machine: string }): boolean {
  return !state.listed.some((index) => nameOf(index) === machine);
}

function memberAt(state: State, address: string): string | undefined {
  return state.machines[indexOf(address)]?.member;
}

function isUp(state: State, address: string): boolean {
  return state.machines[indexOf(address)]?.stage === "up";
}

/** The same functions of the operator, on what the members say now. */
function keepsQuorum(state: State, memberId: string | undefined): boolean {
  const answers = state.machines.flatMap(({ stage }, index) =>
    stage === "up" ? [{ machine: nameOf(index), etcd: etcdOf(state, index), isGoing: false }] : [],
  );
  const view = quorumOf(answers);
  const isJoining = view.kind === "known" && view.learners.some(({ id }) => id === memberId);
  const judged = isJoining ? view : settled(view);
  return judged.kind === "known" && memberId !== undefined && projectWithout(judged, memberId, "leaves").isSafe;
}

/** What the effect makes of the world when it reaches its machine: the machine's own rules, and no others. */
export function take(state: State, action: Action): State {
  switch (action.kind) {
    case "ConfigureMachine": {
      const index = indexOf(action.machine.address);
      const machine = state.machines[index];
      // The connection was made with this key: after another boot it is broken.
      if (machine?.stage !== "waiting" || keyOf(index, machine.life) !== action.ifSpki) return state;
      return withMachine(state, index, { stage: "booting", isConfigured: true });
    }
    case "BootstrapEtcd": {
      const index = indexOf(action.address);
      const machine = state.machines[index];
      if (machine?.stage !== "up" || machine.member !== undefined) return state;
      const added = (state.etcd?.added ?? 0) + 1;
      const id = memberId(added);
      const founded = { members: [{ id, machine: index, isLearner: false }], leader: id, added };
      // A second founding is another etcd; that it happened is all that matters.
      const etcd = state.foundings === 0 ? founded : state.etcd;
      const { isStopped: _isStopped, ...started } = machine;
      return { ...state, machines: state.machines.with(index, { ...started, member: id }), etcd, foundings: state.foundings + 1 };
    }
    case "ForfeitLeadership": {
      const own = state.machines[indexOf(action.address)]?.member;
      const other = state.etcd?.members.find((member) => member.id !== own && !member.isLearner && isLive(state, member));
      if (state.etcd?.leader !== own || other === undefined || state.etcd === undefined) return state;
      return { ...state, etcd: { ...state.etcd, leader: other.id } };
    }
    case "ResetMachine": {
      const index = indexOf(action.address);
      const machine = state.machines[index];
      if (machine?.stage !== "up") return state;
      if (action.isGraceful === true && machine.member !== undefined) {
        const left = withoutMember(state, machine.member);
        // A machine whose leave etcd refuses does not go on with its reset.
        return left === undefined ? state : withMachine(left, index, { stage: "wiping" });
      }
      return withMachine(state, index, { stage: "wiping" });
    }
    case "RemoveMember":
      return isUp(state, action.via.address) ? (withoutMember(state, action.memberId) ?? state) : state;
    default:
      return state;
  }
}

/** What an effect leaves that died in the middle, with its caller; `undefined` = it has no middle. */
export function takeHalf(state: State, action: Action): State | undefined {
  if (action.kind !== "BootstrapEtcd") return undefined;
  const index = indexOf(action.address);
  const machine = state.machines[index];
  return machine?.stage !== "up" || machine.member !== undefined ? undefined : withMachine(state, index, { isStopped: true });
}

/** MemberRemove with strict reconfiguration; `undefined` = refused. */
function withoutMember(state: State, id: string): State | undefined {
  const { etcd } = state;
  if (etcd === undefined || !hasQuorum(state) || !etcd.members.some((member) => member.id === id)) return undefined;
  const members = etcd.members.filter((member) => member.id !== id);
  const live = members.filter((member) => !member.isLearner && isLive(state, member));
  const voters = members.filter((member) => !member.isLearner);
  const gone = etcd.members.find((member) => member.id === id);
  if (gone?.isLearner === false && (voters.length === 0 || (isLive(state, gone) && live.length <= voters.length / 2))) return undefined;
  return { ...state, etcd: { ...etcd, members, leader: etcd.leader === id ? (live[0]?.id ?? "0") : etcd.leader } };
}

export function withMachine(state: State, index: number, change: Partial<ModelMachine>): State {
  const machine = state.machines[index];
  if (machine === undefined) throw new Error(`there is no machine at ${addressOf(index)}`);
  return { ...state, machines: state.machines.with(index, { ...machine, ...change }) };
}

export function memberId(number: number): string {
  return String(number).padStart(16, "0");
}
