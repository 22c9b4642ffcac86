import { assess, decide, defaultRules, type Action } from "@talos-operator/operator/testing";
import { isModelled, mayBeSent, memberId, take, takeHalf, withMachine } from "./effects.ts";
import { observe } from "./observe.ts";
import { hasQuorum, isLive, type ModelOperator, type State } from "./state.ts";

/** One step of the world, and whether it was an effect of an operator. */
export interface Move {
  readonly what: string;
  readonly isEffect: boolean;
  readonly next: State;
  /** The effect that is sent for good now: what must never be is asked of it. */
  readonly sent?: Action;
}

/** Rules that bootstrap etcd and change its members; the others are of no concern here. */
const RULES = ["bootstrapOnce", "configureMachines", "changeMembership", "rememberMembers"];
const rules = defaultRules.filter(({ name }) => RULES.includes(name));

/** Everything that can happen next. */
export function movesOf(state: State): readonly Move[] {
  return [...worldMoves(state), ...state.operators.flatMap((_operator, index) => operatorMoves(state, index))];
}

/** What happens without an operator. */
function worldMoves(state: State): readonly Move[] {
  const moves: Move[] = [];
  const happen = (what: string, next: State): void => void moves.push({ what, isEffect: false, next });
  state.machines.forEach((machine, index) => {
    if (machine.stage === "booting") happen(`${index} boots`, withMachine(state, index, { stage: "up" }));
    if (machine.stage === "wiping") {
      const blank = { stage: "waiting", isConfigured: false, member: undefined, life: machine.life + 1 } as const;
      happen(`${index} is blank`, withMachine(state, index, blank));
    }
    if (state.mayDie > 0 && machine.stage !== "dead")
      happen(`${index} dies`, { ...withMachine(state, index, { stage: "dead" }), mayDie: state.mayDie - 1 });
    const joined = join(state, index);
    if (joined !== undefined) happen(`${index} joins`, joined);
  });
  const promoted = promote(state);
  if (promoted !== undefined) happen("the learner votes", promoted);
  const elected = elect(state);
  if (elected !== undefined) happen("election", elected);
  const [wish, ...wishes] = state.wishes;
  if (wish !== undefined) happen(`edit to ${wish.join(", ")}`, { ...state, listed: wish, wishes });
  // What passed its last check takes place within seconds, or never; boots and wipes take minutes.
  const isQuiet = state.machines.every(({ stage }) => stage !== "booting" && stage !== "wiping");
  if (state.hour < state.lastHour && isQuiet && state.operators.every(({ armed }) => armed === undefined))
    happen("an hour passes", {
      ...state,
      hour: state.hour + 1,
      takeovers: state.operators.length > 1 ? 1 : 0,
      operators: state.operators.map((operator, index) => ({ ...operator, mayDisturb: index === state.leader, pending: [] })),
    });
  if (state.takeovers > 0 && state.operators.length > 1) {
    const leader = (state.leader + 1) % state.operators.length;
    const operators = state.operators.with(leader, { ...(state.operators[leader] as ModelOperator), mayDisturb: false });
    happen("takeover", { ...state, leader, operators, takeovers: state.takeovers - 1 });
  }
  return moves;
}

function join(state: State, index: number): State | undefined {
  const machine = state.machines[index];
  const { etcd } = state;
  if (machine?.stage !== "up" || machine.member !== undefined || machine.isStopped === true || etcd === undefined || !hasQuorum(state))
    return undefined;
  if (etcd.members.some((member) => member.isLearner || !isLive(state, member))) return undefined;
  const id = memberId(etcd.added + 1);
  const members = [...etcd.members, { id, machine: index, isLearner: true }];
  return { ...withMachine(state, index, { member: id }), etcd: { ...etcd, members, added: etcd.added + 1 } };
}

function promote(state: State): State | undefined {
  const { etcd } = state;
  const learner = etcd?.members.find((member) => member.isLearner && isLive(state, member));
  if (etcd === undefined || learner === undefined || !hasQuorum(state)) return undefined;
  const members = etcd.members.map((member) => (member === learner ? { ...member, isLearner: false } : member));
  return { ...state, etcd: { ...etcd, members } };
}

function elect(state: State): State | undefined {
  const { etcd } = state;
  if (etcd === undefined || !hasQuorum(state)) return undefined;
  const voters = etcd.members.filter((member) => !member.isLearner && isLive(state, member));
  const [first] = voters;
  if (first === undefined || voters.some(({ id }) => id === etcd.leader)) return undefined;
  return { ...state, etcd: { ...etcd, leader: first.id } };
}

function operatorMoves(state: State, index: number): readonly Move[] {
  const operator = state.operators[index];
  if (operator === undefined) return [];
  const moves: Move[] = [];
  const withOperator = (from: State, change: Partial<ModelOperator>): State => ({
    ...from,
    operators: from.operators.with(index, { ...operator, ...change }),
  });
  // It can die, or look again, at any moment: what it had in mind is gone.
  if (operator.armed === undefined) {
    const pending = decideIn(state, index);
    const next = withOperator(state, { pending, isCurrent: true });
    moves.push({ what: `operator ${index} decides`, isEffect: false, next });
  } else {
    // What was sent takes place late, or never.
    const taken = take(state, operator.armed);
    moves.push({ what: `${operator.armed.kind} takes place`, isEffect: true, next: withOperator(taken, { armed: undefined }) });
    const half = takeHalf(state, operator.armed);
    if (half !== undefined)
      moves.push({
        what: `${operator.armed.kind} dies in the middle`,
        isEffect: true,
        next: withOperator(half, { armed: undefined, pending: [] }),
      });
    moves.push({ what: `${operator.armed.kind} is lost`, isEffect: false, next: withOperator(state, { armed: undefined, pending: [] }) });
  }
  const [action, ...rest] = operator.pending;
  if (action === undefined || operator.armed !== undefined) return moves;
  if (action.kind === "WriteRecord") {
    // Whoever lost the lease may still write: the record itself refuses what is old.
    if (!operator.isCurrent) {
      moves.push({ what: `operator ${index} is refused`, isEffect: false, next: withOperator(state, { pending: [] }) });
      return moves;
    }
    const operators = state.operators.map((other) => ({ ...other, isCurrent: false }));
    const next = withOperator({ ...state, facts: { ...action.facts, decisions: [] }, operators }, { pending: rest, isCurrent: true });
    moves.push({ what: `operator ${index} writes ${action.why}`, isEffect: true, next });
    return moves;
  }
  if (index !== state.leader || !mayBeSent(state, action)) {
    moves.push({ what: `operator ${index} gives up ${action.kind}`, isEffect: false, next: withOperator(state, { pending: [] }) });
    return moves;
  }
  const next = withOperator(state, { pending: rest, armed: action });
  moves.push({ what: `operator ${index} sends ${action.kind}`, isEffect: false, next, sent: action });
  return moves;
}

const decisions = new Map<string, readonly Action[]>();
const texts = new WeakMap<object, string>();

function textOf(value: object): string {
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  texts.set(value, text);
  return text;
}

/** What the rules of the operator ask for, remembered by what they saw. */
function decideIn(state: State, index: number): readonly Action[] {
  const { hour, machines, etcd, listed, facts, operators } = state;
  const key = JSON.stringify([hour, machines, etcd, listed, textOf(facts), operators[index]?.mayDisturb]);
  const known = decisions.get(key);
  if (known !== undefined) return known;
  const { actions: decided, broken } = decide(assess(observe(state, index)), rules);
  if (broken !== undefined) throw new Error(`${broken.id}: ${broken.detail}`);
  const actions = decided.filter(isModelled);
  decisions.set(key, actions);
  return actions;
}
