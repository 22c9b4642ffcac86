import { facts, type ClusterFacts } from "@talos-operator/operator/testing";
import { keyOf } from "./observe.ts";
import { memberId } from "./effects.ts";
import { addressOf, nameOf, type State } from "./state.ts";
import { NOW } from "@talos-operator/operator/testing";

/** Where an exploration begins. */
export interface Beginning {
  readonly name: string;
  readonly about: string;
  state(nodes: number, operators: number): State;
}

function stateOf(nodes: number, operators: number, over: Partial<State>): State {
  return {
    hour: 0,
    lastHour: 1,
    machines: Array.from({ length: nodes }, () => ({ stage: "waiting", isConfigured: false, life: 0, member: undefined }) as const),
    etcd: undefined,
    foundings: 0,
    listed: Array.from({ length: nodes }, (_, index) => index),
    wishes: [],
    mayDie: 1,
    facts: facts(),
    operators: Array.from({ length: operators }, (_, index) => ({
      mayDisturb: index === 0,
      pending: [],
      armed: undefined,
      isCurrent: false,
    })),
    leader: 0,
    takeovers: 1,
    ...over,
  };
}

/** A cluster whose first `members` machines are its control planes. */
function founded(nodes: number, operators: number, members: number, over: Partial<State>): State {
  const known: ClusterFacts["machines"] = Array.from({ length: members }, (_, index) => ({
    name: nameOf(index),
    role: "controlplane",
    address: addressOf(index),
    uuid: `uuid-${addressOf(index)}`,
    macs: [`mac-${addressOf(index)}`],
    spki: keyOf(index, 0),
    platform: "metal",
    installDisk: "/dev/sda",
    configHash: undefined,
    pinnedAt: NOW,
    vouchedAt: undefined,
    configuredAt: NOW,
    releasedAt: undefined,
    memberId: memberId(index + 1),
  }));
  const first = { machine: nameOf(0), address: addressOf(0), uuid: `uuid-${addressOf(0)}`, at: NOW };
  const begin = stateOf(nodes, operators, over);
  return {
    ...begin,
    machines: begin.machines.map((machine, index) =>
      index < members ? { stage: "up", isConfigured: true, life: 0, member: memberId(index + 1) } : machine,
    ),
    etcd: {
      members: Array.from({ length: members }, (_, index) => ({ id: memberId(index + 1), machine: index, isLearner: false })),
      leader: memberId(1),
      added: members,
    },
    foundings: 1,
    facts: facts({ machines: known, bootstrapDone: { ...first, evidence: "" } }),
  };
}

const range = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, index) => from + index);

/** What is explored. */
export const beginnings: readonly Beginning[] = [
  {
    name: "founding",
    about: "blank machines become control planes",
    state: (nodes, operators) => stateOf(nodes, operators, { mayDie: 0 }),
  },
  {
    name: "founding-with-a-death",
    about: "blank machines become control planes; one may die",
    state: (nodes, operators) => stateOf(nodes, operators, {}),
  },
  {
    name: "founding-and-shrinking",
    about: "blank machines become control planes, and at any moment all but the last are taken off the list",
    state: (nodes, operators) => stateOf(nodes, operators, { mayDie: 0, wishes: [[nodes - 1]] }),
  },
  {
    name: "growing-and-shrinking",
    about: "one control plane becomes all machines and then the last one alone",
    state: (nodes, operators) => founded(nodes, operators, 1, { mayDie: 0, listed: [0], wishes: [range(0, nodes), [nodes - 1]] }),
  },
  {
    name: "shrinking",
    about: "all but the last control plane are taken off the list; one may die",
    state: (nodes, operators) => founded(nodes, operators, nodes, { wishes: [[nodes - 1]] }),
  },
  {
    name: "replacing",
    about: "one control plane is exchanged for a blank machine; one may die",
    state: (nodes, operators) => founded(nodes, operators, nodes - 1, { listed: range(0, nodes - 1), wishes: [range(1, nodes)] }),
  },
];
