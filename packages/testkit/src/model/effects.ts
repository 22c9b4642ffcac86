import { projectWithout, quorumOf, settled, type Action } from "@talos-operator/operator/testing";
import { etcdOf, keyOf } from "./observe.ts";
import { addressOf, hasQuorum, indexOf, isLive, nameOf, type ModelMachine, type State } from "./state.ts";

/** An effect that cannot be taken back, or a write of the record. Everything else that a decision asks for is of no concern here. */
export function isModelled({ kind }: Action): boolean {
  return ["WriteRecord", "ConfigureMachine", "BootstrapEtcd", "ForfeitLeadership", "ResetMachine", "RemoveMember"].includes(kind);
}

/** The live questions and the last check of an effect, as its code in the operator asks them. */
export function mayBeSent(state: State, action: Action): boolean {
  const { facts } = state;
  switch (action.kind) {
    case "ConfigureMachine": {
      const index = indexOf(action.machine.address);
      const machine = state.machines[index];
      const fact = facts.machines.find(({ name }) => name === action.machine.name);
      if (machine?.stage !== "waiting" || keyOf(index, machine.life) !== action.ifSpki) return false;
      return fact?.configuredAt !== undefined && fact.spki === action.ifSpki && fact.releasedAt === undefined;
    }
    case "BootstrapEtcd": {
      const target = state.machines[indexOf(action.address)];
      if (target?.stage !== "up" || target.member !== undefined) return false;
      const holds = action.probe.some((one) => one.machine !== action.machine && mayHoldEtcd(state, one));
      return !holds && facts.bootstrapDone === undefined && facts.bootstrapIntent?.machine === action.machine;
    }
    case "ForfeitLeadership":
      return isUp(state, action.address) && facts.intents.some((intent) => intent.what === "Reset" && intent.machine === action.machine);
    case "ResetMachine": {
      if (!isUp(state, action.address)) return false;
      if (state.listed.some((index) => nameOf(index) === action.machine)) return false;
      if (action.leavesEtcd === true && !keepsQuorum(state, state.machines[indexOf(action.address)]?.member)) return false;
      if (
        action.leavesEtcd !== true &&
        state.etcd?.members.some((one) => !one.isLearner && one.id === state.machines[indexOf(action.address)]?.member) === true
      )
        return false;
      return facts.intents.some((intent) => intent.what === "Reset" && intent.machine === action.machine);
    }
    case "RemoveMember": {
      if (!isUp(state, action.via.address)) return false;
      if (state.listed.some((index) => nameOf(index) === action.machine)) return false;
      const isShown = state.machines.some(({ stage, member }) => stage === "up" && member === action.memberId);
      if (isShown || !keepsQuorum(state, action.memberId)) return false;
      return facts.intents.some((intent) => intent.what === "RemoveMember" && intent.memberId === action.memberId);
    }
    default:
      return true;
  }
}

function isUp(state: State, address: string): boolean {
  return state.machines[indexOf(address)]?.stage === "up";
}

function mayHoldEtcd(state: State, target: Extract<Action, { readonly kind: "BootstrapEtcd" }>["probe"][number]): boolean {
  const index = indexOf(target.address);
  const machine = state.machines[index];
  if (machine?.stage === "up") return machine.member !== undefined || machine.isStopped === true;
  if (machine?.stage === "waiting") return target.wasConfigured && keyOf(index, machine.life) !== target.spki;
  return target.wasConfigured;
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
