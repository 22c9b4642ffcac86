import assert from "node:assert/strict";
import { test } from "node:test";
import { assess } from "../../assess/assess.ts";
import {
  configured,
  controlPlane,
  facts,
  founded,
  inMaintenance,
  member,
  NOW,
  observed,
  preparing,
  running,
  silent,
  worker,
} from "../../testing/builders.ts";
import type { World } from "../../testing/builders.ts";
import { removalsOf } from "../../report/describe-removal.ts";
import { configureMachines } from "../join/rule.ts";
import { changeMembership, rememberMembers } from "./rule.ts";
import type { Look, SeenAlarm } from "../../model/look.ts";
import type { ClusterFacts, IntentFact } from "../../model/record.ts";
import type { Action } from "../../model/effect.ts";
import type { MachineRole } from "../../model/machine.ts";
import type { Observed, SeenMachine, SentEffect } from "../../model/observation.ts";

/** Looks by address; those beyond `listed` control planes, and workers beyond `listedWorkers`, are on no list any more. */
interface Case extends Omit<World, "looks"> {
  readonly listed?: number;
  readonly looks: Readonly<Record<string, Look>>;
  readonly pools?: readonly { readonly name: string; readonly workers: number; readonly annotations?: Readonly<Record<string, string>> }[];
}

const gone: Look = { kind: "silent", at: NOW, since: NOW - 120_000, detail: "unreachable" };

function seenIn({ listed = 3, looks, pools = [], facts: known = facts(), ...over }: Case): Observed {
  const workers = pools.map(({ name, workers: count, annotations = {} }) => worker(count, { name, annotations }));
  const seen = observed({
    controlPlane: controlPlane(listed),
    workers,
    looks,
    facts: known,
    namespaceIsTerminating: false,
    ...over,
  });
  const names = new Set(seen.machines.map(({ declared }) => declared.name));
  const former = known.machines
    .filter(({ name, releasedAt }) => !names.has(name) && releasedAt === undefined)
    .map(({ name, role, address }): SeenMachine => ({
      declared: {
        name,
        role,
        address,
        owner:
          role === "worker"
            ? { kind: "TalosWorker", name: name.slice(0, name.lastIndexOf("-")) }
            : { kind: "TalosControlPlane", name: "demo" },
        field: `ClusterRecord ${name}`,
        version: "v1.13.9",
        machineSpec: {},
      },
      look: looks[address] ?? { kind: "not-asked" },
    }));
  return { ...seen, former: over.former ?? former };
}

/** Facts of `count` control planes and of workers of the pool `w`, all configured, etcd founded. */
function known(count: number, workers = 0, over: Partial<ClusterFacts> = {}): ClusterFacts {
  return facts({
    bootstrapDone: founded,
    machines: [
      ...Array.from({ length: count }, (_, n) => configured(`10.0.0.${n + 1}`)),
      ...Array.from({ length: workers }, (_, n) => configured(`10.0.1.${n + 1}`, "worker", "w")),
    ],
    ...over,
  });
}

function looks(count: number, over: Readonly<Record<string, Look>> = {}): Record<string, Look> {
  return { ...Object.fromEntries(Array.from({ length: count }, (_, n) => [`10.0.0.${n + 1}`, running(member(n, count))])), ...over };
}

function intentOf(what: IntentFact["what"], n: number, over: Partial<IntentFact> = {}, role: MachineRole = "controlplane"): IntentFact {
  const address = role === "controlplane" ? `10.0.0.${n}` : `10.0.1.${n}`;
  const machine = role === "controlplane" ? `demo-${address}` : `w-${address}`;
  return { what, role, machine, address, uuid: `uuid-${address}`, at: NOW, deadline: NOW + 600_000, why: "w", ...over };
}

/** What is done, in short: intents that open and close, machines that are released, calls that are sent. */
function done(actions: readonly Action[], before: ClusterFacts): readonly string[] {
  return actions.flatMap((action): readonly string[] => {
    switch (action.kind) {
      case "WriteRecord":
        return [
          ...action.facts.intents
            .filter((intent) => !before.intents.some(({ machine }) => machine === intent.machine))
            .map((intent) => `open ${intent.what} ${intent.machine}`),
          ...before.intents
            .filter((intent) => !action.facts.intents.some(({ machine }) => machine === intent.machine))
            .map((intent) => `close ${intent.what} ${intent.machine}`),
          ...action.facts.machines.filter(({ releasedAt }) => releasedAt === NOW).map(({ name }) => `release ${name}`),
        ];
      case "ResetMachine":
        return [`reset ${action.machine}${action.isGraceful === true ? " gracefully" : ""} ${action.ifUnlisted ?? ""}`.trim()];
      case "ForfeitLeadership":
        return [`forfeit ${action.machine}`];
      case "RemoveMember":
        return [`remove ${Number(action.memberId)} of ${action.machine} via ${action.via.machine}`];
      case "DeleteMachine":
        return [`delete ${action.name}`];
      case "AnswerAnnotation":
        return [`answer ${action.value}`];
      default:
        return [action.kind];
    }
  });
}

const three = { facts: known(3), looks: looks(3) };
const emptied = { facts: known(3, 2), looks: { ...looks(3), "10.0.1.1": running(), "10.0.1.2": running() } };
const cases: readonly {
  readonly name: string;
  readonly world: Case;
  readonly does: readonly string[];
  readonly says?: readonly [string, RegExp];
}[] = [
  { name: "does nothing when every machine is listed", world: three, does: [] },
  {
    name: "resets one that left the list, and of two only one",
    world: { ...three, listed: 1, facts: known(3), looks: looks(3, { "10.0.0.1": running(member(0, 3)) }) },
    does: ["open Reset demo-10.0.0.2", "reset demo-10.0.0.2 gracefully voter"],
    says: ["Resetting", /demo-10\.0\.0\.2 leaves etcd/],
  },
  {
    name: "has the leader hand over before it is reset, and takes it last",
    world: { ...three, listed: 3, facts: known(3, 0, { intents: [intentOf("Reset", 1)] }), controlPlane: listing(2, 3) },
    does: ["forfeit demo-10.0.0.1"],
    says: ["Resetting", /hands the leadership/],
  },
  {
    name: "has the leader of two hand over before it is reset",
    world: { facts: known(2, 0, { intents: [intentOf("Reset", 1)] }), looks: looks(2), controlPlane: listing(2) },
    does: ["forfeit demo-10.0.0.1"],
  },
  {
    name: "does not ask a leader again before it had time to hand over",
    world: {
      ...three,
      facts: known(3, 0, { intents: [intentOf("Reset", 1)] }),
      controlPlane: listing(2, 3),
      sent: new Map([["ForfeitLeadership/demo-10.0.0.1", { at: NOW - 1_000, outcome: "answered", detail: "" }]]),
    },
    does: [],
  },
  {
    name: "asks no leader to hand over before a new operator may disturb",
    world: { ...three, facts: known(3, 0, { intents: [intentOf("Reset", 1)] }), controlPlane: listing(2, 3), mayDisturb: false },
    does: [],
  },
  {
    name: "does not go by a list that one told before the machine was wiped",
    world: {
      listed: 2,
      facts: known(3, 0, { intents: [intentOf("Reset", 3)] }),
      looks: looks(3, {
        "10.0.0.1": running(member(0, 3), { at: NOW - 10_000 }),
        "10.0.0.3": inMaintenance("10.0.0.3", { since: NOW - 5_000 }),
      }),
    },
    does: [],
    says: ["WaitingForQuorum", /is wiped; it is released once etcd's members agree/],
  },
  {
    name: "waits for a listed machine that has not joined",
    world: { facts: known(3), looks: looks(3, { "10.0.0.4": silent }), controlPlane: listing(2, 3, 4) },
    does: [],
    says: ["WaitingForReplacement", /demo-10\.0\.0\.1 leaves after .* missing: demo-10\.0\.0\.4/],
  },
  {
    name: "does not wait for a replacement with the member of one that is gone, for that is in its way",
    world: {
      facts: known(3),
      looks: looks(3, {
        "10.0.0.1": gone,
        "10.0.0.2": running({ ...member(1, 3), leader: "0000000000000002" }),
        "10.0.0.3": running({ ...member(2, 3), leader: "0000000000000002" }),
        "10.0.0.4": silent,
      }),
      controlPlane: listing(2, 3, 4),
    },
    does: ["open RemoveMember demo-10.0.0.1", "remove 1 of demo-10.0.0.1 via demo-10.0.0.2"],
  },
  {
    name: "removes the member of one that is gone, in the same pass in which it is written down",
    world: { listed: 2, facts: known(3), looks: looks(3, { "10.0.0.3": gone }) },
    does: ["open RemoveMember demo-10.0.0.3", "remove 3 of demo-10.0.0.3 via demo-10.0.0.1"],
    says: ["RemovingMember", /Member 0{15}3/],
  },
  {
    name: "does not take one for gone that has been silent for less than a minute",
    world: { listed: 2, facts: known(3), looks: looks(3, { "10.0.0.3": { kind: "silent", at: NOW, since: NOW - 59_999, detail: "" } }) },
    does: [],
    says: ["RemovingMember", /Its etcd member is removed a minute later/],
  },
  {
    name: "never removes a member that a machine shows, whatever the record says of it",
    world: { listed: 2, facts: withMember(known(3), 3, 2), looks: looks(3, { "10.0.0.3": gone }) },
    does: [],
  },
  {
    name: "leaves a healthy one alone while another is gone for which etcd has no vote to spare",
    world: { listed: 1, facts: known(3), looks: looks(3, { "10.0.0.1": gone }) },
    does: [],
    says: ["WaitingForQuorum", /would lose its quorum/],
  },
  {
    name: "takes the dead one of five before a healthy one",
    world: { listed: 3, facts: known(5), looks: looks(5, { "10.0.0.5": gone }) },
    does: ["open RemoveMember demo-10.0.0.5", "remove 5 of demo-10.0.0.5 via demo-10.0.0.1"],
  },
  {
    name: "does nothing while lists differ",
    world: { listed: 2, facts: known(3), looks: looks(3, { "10.0.0.1": running(member(0, 4)), "10.0.0.3": gone }) },
    does: [],
    says: ["WaitingForQuorum", /lists other members/],
  },
  {
    name: "does nothing before a new leader may disturb",
    world: { ...three, listed: 1, mayDisturb: false },
    does: [],
    says: ["WaitingForTurn", /took over/],
  },
  {
    name: "does nothing while another intent on control planes is open",
    world: { listed: 2, facts: known(3, 0, { intents: [intentOf("Reboot", 1)] }), looks: looks(3) },
    does: [],
    says: ["WaitingForTurn", /after demo-10\.0\.0\.1 is done \(Reboot\)/],
  },
  {
    name: "wipes nothing while the namespace goes away",
    world: { ...three, listed: 2, namespaceIsTerminating: true },
    does: [],
    says: ["ConfirmationRequired", /confirm-reset: demo/],
  },
  {
    name: "wipes nothing while nobody can say whether it does",
    world: { ...three, listed: 2, namespaceIsTerminating: undefined },
    does: [],
    says: ["ConfirmationRequired", /nobody could say/],
  },
  {
    name: "wipes nothing under an unknown reconcile-mode",
    world: { ...three, listed: 2, unknownMode: "sleepy" },
    does: [],
    says: ["ConfirmationRequired", /"sleepy"/],
  },
  {
    name: "lets one go that answers in maintenance mode and is no member any more",
    world: {
      listed: 2,
      facts: known(3, 0, { intents: [intentOf("Reset", 3)] }),
      looks: { ...looks(2), "10.0.0.3": inMaintenance("10.0.0.3", { spki: "other" }) },
    },
    does: ["close Reset demo-10.0.0.3", "release demo-10.0.0.3"],
  },
  {
    name: "does not take another machine at its address for the proof of a wipe",
    world: {
      listed: 2,
      facts: known(3, 0, { intents: [intentOf("Reset", 3)] }),
      looks: { ...looks(2), "10.0.0.3": inMaintenance("10.0.0.3", { uuid: "other" }) },
    },
    does: [],
    says: ["Resetting", /is being wiped/],
  },
  {
    name: "closes the reset of one that is wiped and still listed by etcd, to remove its member",
    world: {
      listed: 2,
      facts: known(3, 0, { intents: [intentOf("Reset", 3)] }),
      looks: looks(3, { "10.0.0.3": inMaintenance("10.0.0.3") }),
    },
    does: ["close Reset demo-10.0.0.3"],
  },
  {
    name: "removes the member of one that is wiped and still listed by etcd",
    world: { listed: 2, facts: known(3), looks: looks(3, { "10.0.0.3": inMaintenance("10.0.0.3") }) },
    does: ["open RemoveMember demo-10.0.0.3", "remove 3 of demo-10.0.0.3 via demo-10.0.0.1"],
  },
  {
    name: "waits for the proof while etcd's members do not agree",
    world: {
      listed: 2,
      facts: known(3, 0, { intents: [intentOf("Reset", 3)] }),
      looks: { "10.0.0.1": gone, "10.0.0.2": gone, "10.0.0.3": inMaintenance("10.0.0.3") },
    },
    does: [],
    says: ["WaitingForQuorum", /is wiped; it is released once/],
  },
  {
    name: "does not let one go that is wiped, and that nobody asked to be, while etcd's members are not known",
    world: {
      listed: 2,
      facts: known(3),
      looks: { "10.0.0.1": gone, "10.0.0.2": gone, "10.0.0.3": inMaintenance("10.0.0.3", { spki: "other" }) },
    },
    does: [],
  },
  {
    name: "gives up waiting for one that went silent in its reset, when its time is over",
    world: { listed: 2, facts: known(3, 0, { intents: [intentOf("Reset", 3, { deadline: NOW })] }), looks: looks(3, { "10.0.0.3": gone }) },
    does: ["close Reset demo-10.0.0.3"],
  },
  {
    name: "does not reset one that is listed again, and waits for what may still come",
    world: { ...three, facts: known(3, 0, { intents: [intentOf("Reset", 3, { deadline: NOW - 1 })] }) },
    does: [],
    says: ["Resetting", /is listed again/],
  },
  {
    name: "closes the reset of one that is listed again when nothing can come any more",
    world: { ...three, facts: known(3, 0, { intents: [intentOf("Reset", 3, { deadline: NOW - 600_000 })] }) },
    does: ["close Reset demo-10.0.0.3"],
  },
  {
    name: "closes a removal that took place",
    world: {
      listed: 2,
      facts: known(3, 0, { intents: [intentOf("RemoveMember", 3, { memberId: "0000000000000003" })] }),
      looks: { ...looks(2), "10.0.0.3": gone },
    },
    does: ["close RemoveMember demo-10.0.0.3"],
  },
  {
    name: "does not go on with the removal of a member that is back",
    world: { listed: 2, facts: known(3, 0, { intents: [intentOf("RemoveMember", 3, { memberId: "0000000000000003" })] }), looks: looks(3) },
    does: [],
    says: ["RemovingMember", /is back or listed again/],
  },
  {
    name: "does not go on with the removal of a member whose machine is listed again",
    world: {
      listed: 3,
      facts: known(3, 0, { intents: [intentOf("RemoveMember", 3, { memberId: "0000000000000003" })] }),
      looks: looks(3, { "10.0.0.3": gone }),
    },
    does: [],
    says: ["RemovingMember", /is back or listed again/],
  },
  {
    name: "waits for what may still come of the removal of one that is back, also when its time is over",
    world: {
      listed: 2,
      facts: known(3, 0, { intents: [intentOf("RemoveMember", 3, { memberId: "0000000000000003", deadline: NOW - 599_999 })] }),
      looks: looks(3),
    },
    does: [],
    says: ["RemovingMember", /is back or listed again/],
  },
  {
    name: "closes the removal of one that is back ten minutes after its time is over",
    world: {
      listed: 2,
      facts: known(3, 0, { intents: [intentOf("RemoveMember", 3, { memberId: "0000000000000003", deadline: NOW - 600_000 })] }),
      looks: looks(3),
    },
    does: ["close RemoveMember demo-10.0.0.3"],
  },
  {
    name: "names one that is gone and no member any more, with the way out",
    world: { listed: 2, facts: known(3), looks: { ...looks(2), "10.0.0.3": gone } },
    does: [],
    says: ["MachineUnreachable", /abandon-machine: uuid-10\.0\.0\.3\.$/],
  },
  {
    name: "lets one go that a person gives up, and takes the word off",
    world: { listed: 2, facts: known(3), looks: { ...looks(2), "10.0.0.3": gone }, controlPlane: abandoning("uuid-10.0.0.3") },
    does: ["release demo-10.0.0.3", "answer uuid-10.0.0.3"],
  },
  ...["uuid-10.0.0.", "uuid-10.0.0.33", "UUID-10.0.0.3", "demo-10.0.0.3"].map((word) => ({
    name: `lets nobody go whose word is another one: ${word}`,
    world: { listed: 2, facts: known(3), looks: { ...looks(2), "10.0.0.3": gone }, controlPlane: abandoning(word) },
    does: [],
    says: ["MachineUnreachable", /abandon-machine: uuid-10\.0\.0\.3\.$/] as const,
  })),
  {
    name: "resets one that is no member without asking etcd to let it go",
    world: { listed: 2, facts: known(3), looks: { ...looks(2), "10.0.0.3": running({ ...preparing, service: "Failed" }) } },
    does: ["open Reset demo-10.0.0.3", "reset demo-10.0.0.3 no-voter"],
  },
  {
    name: "resets one that waits for etcd gracefully, for it may have a vote by then",
    world: { listed: 2, facts: known(3), looks: { ...looks(2), "10.0.0.3": running(preparing) } },
    does: ["open Reset demo-10.0.0.3", "reset demo-10.0.0.3 gracefully no-voter"],
  },
  {
    name: "resets a control plane that left before etcd was bootstrapped and holds none",
    world: {
      listed: 2,
      facts: { ...known(3), bootstrapDone: undefined },
      looks: { "10.0.0.1": running(preparing), "10.0.0.2": running(preparing), "10.0.0.3": running(preparing) },
    },
    does: ["open Reset demo-10.0.0.3", "reset demo-10.0.0.3 no-etcd"],
  },
  {
    name: "leaves the machine alone on which etcd is being bootstrapped",
    world: {
      listed: 2,
      facts: {
        ...known(3),
        bootstrapDone: undefined,
        bootstrapIntent: { machine: "demo-10.0.0.3", address: "10.0.0.3", uuid: "uuid-10.0.0.3", at: NOW, deadline: NOW },
      },
      looks: { "10.0.0.1": running(preparing), "10.0.0.2": running(preparing), "10.0.0.3": running(preparing) },
    },
    does: [],
    says: ["WaitingForQuorum", /holds no etcd data/],
  },
  {
    name: "resets workers that left their list as far as maxUnavailable allows",
    world: {
      listed: 3,
      facts: known(3, 3),
      looks: { ...looks(3), "10.0.1.1": running(), "10.0.1.2": running(), "10.0.1.3": running() },
      pools: [{ name: "w", workers: 1 }],
    },
    does: ["open Reset w-10.0.1.2", "reset w-10.0.1.2 gracefully worker"],
    says: ["Resetting", /w-10\.0\.1\.2/],
  },
  {
    name: "waits for the boot of a worker that leaves: a wipe would be forgotten in it",
    world: {
      listed: 3,
      facts: {
        ...known(3, 2),
        intents: [
          {
            what: "Reboot",
            role: "worker",
            machine: "w-10.0.1.2",
            address: "10.0.1.2",
            uuid: "uuid-10.0.1.2",
            at: NOW,
            deadline: NOW + 600_000,
            why: "",
          },
        ],
      },
      looks: { ...looks(3), "10.0.1.1": running(), "10.0.1.2": running() },
      pools: [{ name: "w", workers: 1 }],
    },
    does: [],
    says: ["WaitingForTurn", /w-10\.0\.1\.2 leaves once it has booted/],
  },
  {
    name: "counts a listed worker that is down",
    world: {
      listed: 3,
      facts: known(3, 2),
      looks: { ...looks(3), "10.0.1.1": silent, "10.0.1.2": running() },
      pools: [{ name: "w", workers: 1 }],
    },
    does: [],
    says: ["WaitingForTurn", /is removed after w-10\.0\.1\.1 \(maxUnavailable of w: 1\)/],
  },
  {
    name: "takes away a worker that is down itself, beside one that is down",
    world: {
      listed: 3,
      facts: known(3, 2),
      looks: { ...looks(3), "10.0.1.1": silent, "10.0.1.2": running(undefined, { ready: false }) },
      pools: [{ name: "w", workers: 1 }],
    },
    does: ["open Reset w-10.0.1.2", "reset w-10.0.1.2 gracefully worker"],
  },
  {
    name: "takes no worker away while a control plane is missing and none to spare",
    world: {
      listed: 3,
      facts: known(3, 2),
      looks: { ...looks(3, { "10.0.0.3": silent }), "10.0.1.1": running(), "10.0.1.2": running() },
      pools: [{ name: "w", workers: 1 }],
    },
    does: [],
    says: ["WaitingForTurn", /2 of 3 control planes are healthy/],
  },
  {
    name: "wipes no machine of a pool that lists none any more, and names them, their data and the word",
    world: { ...emptied, pools: [{ name: "w", workers: 0 }] },
    does: [],
    says: [
      "ConfirmationRequired",
      /w lists no machine any more, .* destroys their data: w-10\.0\.1\.1, w-10\.0\.1\.2\..*annotate the TalosWorker with talos-operator\.dev\/confirm-reset: w\.$/,
    ],
  },
  {
    name: "wipes the machines of a pool that lists none any more when a person confirms it",
    world: { ...emptied, pools: [{ name: "w", workers: 0, annotations: { "talos-operator.dev/confirm-reset": "w" } }] },
    does: ["open Reset w-10.0.1.1", "reset w-10.0.1.1 gracefully worker"],
  },
  {
    name: "wipes none of them by the word for another pool",
    world: { ...emptied, pools: [{ name: "w", workers: 0, annotations: { "talos-operator.dev/confirm-reset": "v" } }] },
    does: [],
    says: ["ConfirmationRequired", /confirm-reset: w\.$/],
  },
  {
    name: "goes on with a wipe that is under way when the pool is emptied",
    world: {
      ...emptied,
      facts: known(3, 2, { intents: [intentOf("Reset", 1, {}, "worker")] }),
      pools: [{ name: "w", workers: 0 }],
    },
    does: ["reset w-10.0.1.1 gracefully worker"],
  },
  {
    name: "takes no worker away whose pool is not there",
    world: { listed: 3, facts: known(3, 1), looks: { ...looks(3), "10.0.1.1": running() } },
    does: [],
    says: ["ConfirmationRequired", /is no wish to wipe it/],
  },
  {
    name: "takes no worker away whose pool has something wrong in its spec",
    world: {
      listed: 3,
      facts: known(3, 1),
      looks: { ...looks(3), "10.0.1.1": running() },
      pools: [{ name: "w", workers: 0 }],
      unsoundPools: ["w"],
    },
    does: [],
    says: ["ConfirmationRequired", /something wrong in it/],
  },
];

/** A control plane that a record which was made anew knows from its TalosMachine alone, and that was released. */
const toldGhost = configured("10.0.0.3", "controlplane", "demo", {
  macs: [],
  spki: undefined,
  platform: undefined,
  installDisk: undefined,
  releasedAt: NOW - 1,
});
const withGhost = (isMadeAnew: boolean): ClusterFacts => {
  const { memberId: _never, ...ghost } = toldGhost;
  const bundle = { ...facts().bundle, wasFound: isMadeAnew };
  return known(2, 0, { machines: [...known(2).machines, ghost], bundle });
};
const memberId = "0000000000000003";
const addedByHand: SeenMachine["declared"] = {
  name: "",
  role: "controlplane",
  address: "",
  owner: { kind: "TalosControlPlane", name: "demo" },
  field: "x",
  version: "v1.13.9",
  machineSpec: {},
};
const ghosts: typeof cases = [
  {
    name: "removes the member of a control plane that was released before a record that was made anew knew its member",
    world: { listed: 2, facts: withGhost(true), looks: { "10.0.0.1": running(member(0, 3)), "10.0.0.2": running(member(1, 3)) } },
    does: ["open RemoveMember demo-10.0.0.3", "remove 3 of demo-10.0.0.3 via demo-10.0.0.1"],
  },
  {
    name: "removes no member of one that was let go while a machine shows it",
    world: {
      listed: 2,
      facts: known(2, 0, {
        machines: [...known(2).machines, configured("10.0.0.3", "controlplane", "demo", { memberId, releasedAt: NOW - 1 })],
      }),
      looks: { "10.0.0.1": running(member(0, 3)), "10.0.0.2": running(member(1, 3)), "10.0.0.9": running(member(2, 3)) },
      former: [{ declared: { ...addedByHand, name: "demo-10.0.0.9", address: "10.0.0.9" }, look: running(member(2, 3)) }],
    },
    does: [],
  },
  {
    name: "removes the member of one that was let go and that no machine shows",
    world: {
      listed: 2,
      facts: known(2, 0, {
        machines: [...known(2).machines, configured("10.0.0.3", "controlplane", "demo", { memberId, releasedAt: NOW - 1 })],
      }),
      looks: { "10.0.0.1": running(member(0, 3)), "10.0.0.2": running(member(1, 3)) },
    },
    does: ["open RemoveMember demo-10.0.0.3", "remove 3 of demo-10.0.0.3 via demo-10.0.0.1"],
  },
  {
    name: "removes no member by its address alone where the record was there all the time",
    world: { listed: 2, facts: withGhost(false), looks: { "10.0.0.1": running(member(0, 3)), "10.0.0.2": running(member(1, 3)) } },
    does: [],
  },
];

/** Every member tells an alarm of the first one, that it is full, or of the member that it names; and one of three is on its way out since so long. */
function alarmed(
  what: "Reset" | "RemoveMember",
  beganMs: number,
  over: Partial<Case> = {},
  alarm: SeenAlarm = { member: "0000000000000001", kind: "no-space" },
): Case {
  const raised = { alarms: ["x"], raised: [alarm] };
  const told = (n: number): Look => running({ ...member(n - 1, 3), ...raised });
  const at = NOW - beganMs;
  const open = intentOf(what, 3, { at, deadline: at + 60_000, ...(what === "RemoveMember" ? { memberId } : {}) });
  return {
    listed: 2,
    facts: known(3, 0, { intents: [open] }),
    looks: { "10.0.0.1": told(1), "10.0.0.2": told(2), "10.0.0.3": what === "Reset" ? told(3) : gone },
    ...over,
  };
}
const sentAt = (key: string, at: number, outcome: SentEffect["outcome"] = "unknown"): Pick<Observed, "sent"> => ({
  sent: new Map([[key, { at, outcome, detail: "" }]]),
});
const MINUTES = 60_000;
const corrupt: SeenAlarm = { member: "0000000000000001", kind: "corrupt" };
const lateWipe: Case = alarmed("Reset", 11 * MINUTES, { watchedSince: NOW - 30 * MINUTES });
const wipe = "Reset/demo-10.0.0.3";
const givenUp: typeof cases = [
  { name: "gives way to the cure of an alarm at once where nothing was sent", world: lateWipe, does: ["close Reset demo-10.0.0.3"] },
  {
    name: "gives way where all that was sent was refused",
    world: { ...lateWipe, ...sentAt(wipe, NOW - MINUTES, "refused") },
    does: ["close Reset demo-10.0.0.3"],
  },
  {
    name: "gives way where what was sent was for an earlier intent",
    world: { ...lateWipe, ...sentAt(wipe, NOW - 12 * MINUTES) },
    does: ["close Reset demo-10.0.0.3"],
  },
  { name: "does not give way while a wipe that was sent may arrive", world: { ...lateWipe, ...sentAt(wipe, NOW - 9 * MINUTES) }, does: [] },
  {
    name: "does not give way while the wish to leave that was sent may arrive",
    world: { ...lateWipe, ...sentAt("LeaveEtcd/demo-10.0.0.3", NOW - 9 * MINUTES) },
    does: [],
  },
  {
    name: "does not give way before the deadline of what was sent, and ten minutes, have passed",
    world: { ...alarmed("Reset", 10 * MINUTES, { watchedSince: NOW - 30 * MINUTES }), ...sentAt(wipe, NOW - 10 * MINUTES) },
    does: [],
  },
  {
    name: "gives way when nothing that was sent can arrive any more",
    world: { ...alarmed("Reset", 15 * MINUTES, { watchedSince: NOW - 30 * MINUTES }), ...sentAt(wipe, NOW - 10 * MINUTES) },
    does: ["close Reset demo-10.0.0.3"],
  },
  {
    name: "does not give way while something of the process before may arrive",
    world: alarmed("Reset", 15 * MINUTES, { watchedSince: NOW - 9 * MINUTES }),
    does: [],
  },
  {
    name: "gives way when nothing of the process before can arrive",
    world: alarmed("Reset", 15 * MINUTES, { watchedSince: NOW - 10 * MINUTES }),
    does: ["close Reset demo-10.0.0.3"],
  },
  {
    name: "gives way with the removal of a dead member while data differ",
    world: alarmed("RemoveMember", 15 * MINUTES, { watchedSince: NOW - 10 * MINUTES }, corrupt),
    does: ["close RemoveMember demo-10.0.0.3"],
  },
  {
    name: "does not give way while the removal of a dead member may arrive",
    world: {
      ...alarmed("RemoveMember", 15 * MINUTES, { watchedSince: NOW - 30 * MINUTES }, corrupt),
      ...sentAt(`RemoveMember/${memberId}`, NOW - 9 * MINUTES),
    },
    does: [],
  },
  {
    name: "goes on with the removal of a dead member while files are full, for it may be what their cure waits for",
    world: alarmed("RemoveMember", 15 * MINUTES, { watchedSince: NOW - 10 * MINUTES }),
    does: ["remove 3 of demo-10.0.0.3 via demo-10.0.0.1"],
  },
  {
    name: "begins the removal of a dead member while files are full",
    world: alarmed("RemoveMember", 15 * MINUTES, { facts: known(3) }),
    does: ["open RemoveMember demo-10.0.0.3", "remove 3 of demo-10.0.0.3 via demo-10.0.0.1"],
  },
  ...[corrupt, { ...corrupt, member: "00000000000000aa" }].map((alarm) => ({
    name: `begins no removal of a dead member while an alarm tells of data that differ: ${alarm.member}`,
    world: alarmed("RemoveMember", 15 * MINUTES, { facts: known(3) }, alarm),
    does: [],
    says: ["WaitingForQuorum", /raises an alarm/] as const,
  })),
  {
    name: "begins no removal while an alarm stands",
    world: { ...lateWipe, facts: known(3) },
    does: [],
    says: ["WaitingForQuorum", /raises an alarm/],
  },
];

for (const { name, world, does, says } of [...cases, ...ghosts, ...givenUp]) {
  test(`membership: ${name}`, () => {
    const seen = seenIn(world);
    const before = world.facts ?? facts();
    assert.deepEqual(done(changeMembership.decide(assess(seen))?.actions ?? [], before), does);
    if (says === undefined) return;
    const [first] = removalsOf(assess(seen));
    assert.equal(first?.reason, says[0], first?.message);
    assert.match(first?.message ?? "", says[1]);
  });
}

test("what is unlisted, wiped and released has its TalosMachine deleted, and nobody else's", () => {
  const left = configured("10.0.0.3", "controlplane", "demo", { releasedAt: NOW - 1 });
  const seen = seenIn({ listed: 2, facts: known(2, 0, { machines: [...known(2).machines, left] }), looks: looks(2) });
  const object = {
    ...seen.machineObjects[0],
    metadata: { namespace: "default", name: "demo-10.0.0.3" },
  } as (typeof seen.machineObjects)[number];
  const verdict = changeMembership.decide(assess({ ...seen, machineObjects: [...seen.machineObjects, object] }));
  assert.deepEqual(verdict?.actions, [{ kind: "DeleteMachine", name: "demo-10.0.0.3" }]);
});

test("members are written down once, when all of them agree", () => {
  const fresh = known(3, 0, { machines: known(3).machines.map(({ memberId: _none, ...fact }) => fact) });
  const write = (world: Case): readonly (string | undefined)[] | undefined => {
    const action = rememberMembers.decide(assess(seenIn(world)))?.actions[0];
    return action?.kind === "WriteRecord" ? action.facts.machines.map(({ memberId }) => memberId) : undefined;
  };
  assert.deepEqual(write({ facts: fresh, looks: looks(3) }), ["0000000000000001", "0000000000000002", "0000000000000003"]);
  assert.equal(write({ facts: fresh, looks: looks(3, { "10.0.0.3": running(preparing) }) }), undefined);
  assert.equal(write({ facts: fresh, looks: looks(3, { "10.0.0.3": silent }) }), undefined);
  assert.equal(write({ facts: known(3), looks: looks(3) }), undefined);
});

test("a control plane that waits in maintenance mode joins alone, and none while a member is away", () => {
  const configures = (over: Record<string, Look>, intents: readonly IntentFact[] = []): readonly string[] => {
    const seen = seenIn({ listed: 5, facts: known(3, 0, { intents }), looks: looks(3, over) });
    return (configureMachines.decide(assess(seen))?.actions ?? []).flatMap((action) =>
      action.kind === "ConfigureMachine" ? [action.machine.name] : [],
    );
  };
  const waiting = { "10.0.0.4": inMaintenance("10.0.0.4"), "10.0.0.5": inMaintenance("10.0.0.5") };
  assert.deepEqual(configures(waiting), ["demo-10.0.0.4"]);
  assert.deepEqual(configures({ ...waiting, "10.0.0.3": silent }), []);
  assert.deepEqual(configures(waiting, [intentOf("Reboot", 1)]), []);
});

/** A control plane that lists these machines. */
function listing(...numbers: readonly number[]): ReturnType<typeof controlPlane> {
  const pool = controlPlane(3);
  const machines = numbers.map((n) => ({ address: `10.0.0.${n}` }));
  return { ...pool, spec: { ...pool.spec, metalSpec: { ...pool.spec?.metalSpec, machines } } } as typeof pool;
}

function abandoning(word: string): ReturnType<typeof controlPlane> {
  return controlPlane(2, {}, { annotations: { "talos-operator.dev/abandon-machine": word } });
}

function withMember(before: ClusterFacts, n: number, memberOf: number): ClusterFacts {
  const machines = before.machines.map((fact) =>
    fact.address === `10.0.0.${n}` ? { ...fact, memberId: String(memberOf).padStart(16, "0") } : fact,
  );
  return { ...before, machines };
}
