import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import { assess } from "../assess/assess.ts";
import { decide } from "../decide.ts";
import {
  configured,
  controlPlane,
  facts,
  founded,
  inMaintenance,
  intent,
  member,
  NOW,
  observed,
  preparing,
  running,
  silent,
  worker,
} from "../testing/builders.ts";
import { changedQuota } from "../testing/config-change.ts";
import type { World } from "../testing/builders.ts";
import { machinesOf } from "../spec/declared.ts";
import { brokenBy, passInvariants } from "./broken.ts";
import type { Rule } from "../model/decision.ts";
import type { Action } from "../model/effect.ts";
import type { KnownConfig } from "../model/config.ts";
import type { Look, SeenAlarm, SeenEtcd } from "../model/look.ts";
import type { Observed } from "../model/observation.ts";
import type { ClusterFacts, IntentFact } from "../model/record.ts";

const cp = (n: number): string => `demo-10.0.0.${n}`;
const wk = (n: number): string => `demo-workers-10.0.1.${n}`;
const id = (n: number): string => String(n).padStart(16, "0");

function open(machine: string, what: IntentFact["what"] = "Reboot", over: Partial<IntentFact> = {}): IntentFact {
  const address = machine.replace(/^demo-(workers-)?/, "");
  const role = machine.startsWith("demo-workers") ? "worker" : "controlplane";
  return { what, machine, role, address, uuid: `uuid-${address}`, at: NOW, deadline: NOW + 60_000, why: "", ...over };
}

const known = facts({
  bootstrapIntent: intent,
  bootstrapDone: founded,
  machines: [1, 2, 3]
    .map((n) => configured(`10.0.0.${n}`))
    .concat([1, 2, 3].map((n) => configured(`10.0.1.${n}`, "worker", "demo-workers", { pool: "demo-workers" }))),
});
const young: ClusterFacts = { ...known, bootstrapIntent: undefined, bootstrapDone: undefined };
const healthy = {
  "10.0.0.1": running(member(0, 3)),
  "10.0.0.2": running(member(1, 3)),
  "10.0.0.3": running(member(2, 3)),
  "10.0.1.1": running(),
  "10.0.1.2": running(),
  "10.0.1.3": running(),
};
const waiting = { "10.0.0.1": running(preparing), "10.0.0.2": running(preparing), "10.0.0.3": running(preparing) };

const another = { talosVersion: "v1.13.9", talosBefore: "v1.13.8" };

/** Two voters, and what a person says of an outage; the spec asks for v1.13.9. */
function pair(outage: string): Given {
  return {
    controlPlane: controlPlane(3, {}, { annotations: { [annotations.approveOutage]: outage } }),
    looks: { ...healthy, "10.0.0.1": running(member(0, 2)), "10.0.0.2": running(member(1, 2)), "10.0.0.3": silent },
  };
}

interface Given extends World {
  /** Machines that no spec lists any more. */
  readonly left?: readonly string[];
}

function seenOf({ left = [], ...world }: Given): Observed {
  const all = observed({
    facts: known,
    controlPlane: controlPlane(3),
    workers: [worker(3)],
    looks: healthy,
    namespaceIsTerminating: false,
    ...world,
  });
  const hasLeft = ({ declared }: Observed["machines"][number]): boolean => left.includes(declared.name);
  return { ...all, machines: all.machines.filter((one) => !hasLeft(one)), former: all.machines.filter(hasLeft) };
}

const write = (next: ClusterFacts): Action => ({ kind: "WriteRecord", ifResourceVersion: "7", facts: next, why: "x" });
const withOpen = (...intents: readonly IntentFact[]): Action => write({ ...known, intents });
const at = (machine: string): { readonly machine: string; readonly address: string; readonly ifUuid: string } => {
  const address = machine.replace(/^demo-(workers-)?/, "");
  return { machine, address, ifUuid: `uuid-${address}` };
};
const boot = (machine: string): Action => ({
  kind: "RebootMachine",
  ...at(machine),
  role: machine.startsWith("demo-workers") ? "worker" : "controlplane",
  ifBootId: "b",
});
const rollBack = (machine: string): Action => ({
  kind: "RollBackTalos",
  ...at(machine),
  role: "controlplane",
  ifBootId: "b",
  ifVersion: "v1.13.9",
  back: "v1.13.8",
});
const givenUp = (n: number): Action => withOpen(open(cp(n), "Reboot", { ...another, rollsBackFrom: "b" }));
/** The etcd of the first does not run, or runs and is not healthy, and the third is dead. */
const unwell = (etcd: Partial<SeenEtcd>): Given => ({
  looks: { ...healthy, "10.0.0.1": running({ ...member(0, 3), isHealthy: false, ...etcd }), "10.0.0.3": silent },
});
const install = (machine: string, version: string): Action => ({
  kind: "InstallTalos",
  ...at(machine),
  role: machine.startsWith("demo-workers") ? "worker" : "controlplane",
  ifBootId: "b",
  ifVersion: "v1.13.9",
  version,
  image: "",
});
const wipe = (machine: string): Action => ({ kind: "ResetMachine", ...at(machine), isGraceful: true });
const removal = (n: number, via = 1): Action => ({ kind: "RemoveMember", machine: cp(n), memberId: id(n), via: at(cp(via)) });
const drain = (machine: string): Action => ({ kind: "CordonAndDrain", ...at(machine) });
const bootstrap = (n: number, asked = [1, 2, 3]): Action => ({
  kind: "BootstrapEtcd",
  ...at(cp(n)),
  probe: asked.map((one) => ({ machine: cp(one), address: `10.0.0.${one}`, wasConfigured: true, spki: undefined, uuid: "" })),
  onlyAfterReboot: false,
  imageAwaitedSince: undefined,
});
const [declared] = machinesOf(worker(1));
assert.ok(declared !== undefined);
const configure = (ifSpki: string): Action => ({ kind: "ConfigureMachine", machine: declared, ifSpki, installDisk: undefined });
const drains = (...names: readonly string[]): World => ({
  drains: new Map(names.map((name) => [name, { startedAt: NOW, askedAt: NOW, ranMs: 0, unreachableMs: 0, state: undefined }])),
});
const defragment = (n: number): Action => ({ kind: "DefragmentMember", ...at(cp(n)), ifLarger: 1, mayLead: n === 1 });
const disarm = (n: number): Action => ({ kind: "DisarmAlarms", ...at(cp(n)) });
/** Every member tells of this alarm, and has a file of so many bytes of 100. */
const alarmedBy = (kind: SeenAlarm["kind"], dbSizeBytes = 100): Given => {
  const etcd = { alarms: ["x"], raised: [{ member: id(1), kind }], dbSizeBytes, dbInUseBytes: 1, quotaBytes: 100 };
  const looks = [0, 1, 2].map((index) => [`10.0.0.${index + 1}`, running({ ...member(index, 3), ...etcd })] as const);
  return { looks: { ...healthy, ...Object.fromEntries(looks) } };
};
const tried = (n: number): Action => ({ kind: "ApplyConfig", ...at(cp(n)), mode: "try", settings: "new", ifActiveHash: "" });
/** Its settings ask for a larger quota. */
const larger = {
  configs: new Map<string, KnownConfig>([
    [
      cp(1),
      {
        kind: "known",
        at: NOW,
        settings: "new",
        bootId: "b",
        version: "v1.13.9",
        activeHash: "",
        onDisk: "wanted",
        changes: [changedQuota(undefined, "4294967296")],
      },
    ],
  ]),
} satisfies Given;
const stray = (n: number): Action => ({ kind: "RemoveStray", ...at(cp(1)), memberId: id(n) });
/** Every member lists one more, which is nobody's. */
const strange = {
  looks: {
    ...healthy,
    ...Object.fromEntries(
      [0, 1, 2].map((index) => {
        const own = member(index, 3);
        const nobodys = { id: id(9), name: "x", isLearner: false, peerUrls: ["https://10.0.0.9:2380"] };
        return [`10.0.0.${index + 1}`, running({ ...own, members: [...(own.members ?? []), nobodys] })];
      }),
    ),
  },
  strays: new Set([id(9)]),
} satisfies Given;
/** Every member tells that the data of this one are wrong. @param listed members that etcd has */
const wrongAt = (n: number, listed = [1, 2, 3]): Given & { readonly looks: Readonly<Record<string, Look>> } => ({
  looks: {
    ...healthy,
    ...Object.fromEntries(
      listed.map((index) => {
        const own = member(index - 1, 3);
        const members = (own.members ?? []).filter((one) => listed.some((number) => one.id === id(number)));
        return [`10.0.0.${index}`, running({ ...own, members, alarms: ["x"], raised: [{ member: id(n), kind: "corrupt" }] })];
      }),
    ),
  },
});
const leave = (n: number): Action => ({ kind: "ReplaceMember", ...at(cp(n)), memberId: id(n) });
const leaver = { left: [cp(3)] };
const dead = { left: [cp(3)], looks: { ...healthy, "10.0.0.3": silent } };

const cases: readonly (readonly [string, Given, readonly Action[], string | undefined])[] = [
  ["does nothing", {}, [], undefined],
  ["boots a control plane under its intent", {}, [withOpen(open(cp(1))), boot(cp(1))], undefined],
  ["wipes one that left", leaver, [withOpen(open(cp(3), "Reset")), wipe(cp(3))], undefined],
  ["removes the member of a dead one", dead, [withOpen(open(cp(3), "RemoveMember", { memberId: id(3) })), removal(3)], undefined],
  ...(["no-space", "corrupt", "unknown"] as const).map(
    (kind) =>
      [
        `removes the member of a dead one while an alarm stands: ${kind}`,
        { ...dead, looks: { ...alarmedBy(kind).looks, "10.0.0.3": silent } },
        [withOpen(open(cp(3), "RemoveMember", { memberId: id(3) })), removal(3)],
        kind === "no-space" ? undefined : "S10",
      ] as const,
  ),
  [
    "removes the member of a dead one while an alarm tells of wrong data of one that is gone",
    { ...dead, looks: { ...wrongAt(9).looks, "10.0.0.3": silent } },
    [withOpen(open(cp(3), "RemoveMember", { memberId: id(3) })), removal(3)],
    "S10",
  ],
  ["boots a worker and a control plane", {}, [withOpen(open(cp(1)), open(wk(1))), boot(cp(1)), boot(wk(1))], undefined],
  [
    "hands over what one of two leads that leaves",
    { controlPlane: controlPlane(2), left: [cp(2)], looks: { "10.0.0.1": running(member(0, 2)), "10.0.0.2": running(member(1, 2)) } },
    [withOpen(open(cp(2), "Reset")), { kind: "ForfeitLeadership", ...at(cp(2)) }],
    undefined,
  ],
  ["bootstraps", { facts: young, looks: waiting }, [write({ ...young, bootstrapIntent: intent }), bootstrap(1)], undefined],

  [
    "bootstraps twice at once",
    { facts: young, looks: waiting },
    [write({ ...young, bootstrapIntent: intent }), bootstrap(1), bootstrap(2)],
    "S1",
  ],
  ["bootstraps what is bootstrapped", { looks: waiting }, [bootstrap(1)], "S1"],
  ["forgets that etcd is bootstrapped", {}, [write({ ...known, bootstrapDone: undefined })], "S1"],
  [
    "bootstraps beside data",
    { facts: young, looks: { ...waiting, "10.0.0.2": running(member(1, 3)) } },
    [write({ ...young, bootstrapIntent: intent }), bootstrap(1)],
    "S2",
  ],
  [
    "bootstraps beside one that is out of sight",
    { facts: young, looks: { ...waiting, "10.0.0.2": silent } },
    [write({ ...young, bootstrapIntent: intent }), bootstrap(1)],
    "S2",
  ],
  [
    "bootstraps without asking all",
    { facts: young, looks: waiting },
    [write({ ...young, bootstrapIntent: intent }), bootstrap(1, [1, 2])],
    "S2",
  ],
  ["bootstraps where nothing is written down", { facts: young, looks: waiting }, [bootstrap(1)], "S3"],
  [
    "names another one to bootstrap",
    { facts: { ...young, bootstrapIntent: intent }, looks: waiting },
    [write({ ...young, bootstrapIntent: { ...intent, machine: cp(2) } })],
    "S3",
  ],
  ["takes a call for a bootstrap", { facts: young, looks: waiting }, [write({ ...young, bootstrapDone: founded })], "S4"],
  ["makes keys anew", {}, [{ kind: "CreateBundle", secret: "demo-bundle-2" }], "S5"],
  ["names other keys", {}, [write({ ...known, bundle: { ...known.bundle, fingerprint: "other" } })], "S5"],
  ["sends without keys", { bundle: { kind: "absent" } }, [withOpen(open(cp(1))), boot(cp(1))], "S6"],
  ["boots one of three while another is dead", { looks: { ...healthy, "10.0.0.3": silent } }, [withOpen(open(cp(1))), boot(cp(1))], "S10"],
  ["boots one of a full etcd for other settings", alarmedBy("no-space"), [withOpen(open(cp(1))), boot(cp(1))], "S10"],
  ["boots one of a full etcd for a larger quota", { ...alarmedBy("no-space"), ...larger }, [withOpen(open(cp(1))), boot(cp(1))], undefined],
  [
    "tries a larger quota on one of a full etcd",
    { ...alarmedBy("no-space"), ...larger },
    [withOpen(open(cp(1), "ApplyConfig")), tried(1)],
    "S10",
  ],
  ["boots one for a larger quota while data differ", { ...alarmedBy("corrupt"), ...larger }, [withOpen(open(cp(1))), boot(cp(1))], "S10"],
  ["boots one while nobody knows etcd", { looks: { ...healthy, "10.0.0.1": running() } }, [withOpen(open(cp(1))), boot(cp(1))], "S10"],
  ["rolls one back whose etcd does not run", unwell({ service: "Waiting" }), [givenUp(1), rollBack(cp(1))], undefined],
  ["boots one whose etcd does not run", unwell({ service: "Waiting" }), [withOpen(open(cp(1))), boot(cp(1))], "S10"],
  ["rolls one back whose etcd runs while another is dead", unwell({}), [givenUp(1), rollBack(cp(1))], "S10"],
  ["rolls one back whose etcd nobody knows", unwell({ service: undefined }), [givenUp(1), rollBack(cp(1))], "S10"],
  [
    "rolls the only one back whose etcd runs and tells nothing",
    { controlPlane: controlPlane(1), looks: { "10.0.0.1": running({ ...member(0, 1), isHealthy: false, members: undefined }) } },
    [givenUp(1), rollBack(cp(1))],
    undefined,
  ],
  ["boots one of two with a word for it", pair("v1.13.9"), [withOpen(open(cp(1), "Reboot", another)), boot(cp(1))], undefined],
  ["boots one of two with another word", pair("v1.14.0"), [withOpen(open(cp(1), "Reboot", another)), boot(cp(1))], "S10"],
  ["boots one of two for its settings, whatever is said", pair("v1.13.9"), [withOpen(open(cp(1))), boot(cp(1))], "S10"],
  ["opens two intents on control planes", {}, [withOpen(open(cp(1)), open(cp(2))), boot(cp(1))], "S11"],
  ["boots two control planes", {}, [withOpen(open(cp(1))), boot(cp(1)), boot(cp(2))], "S11"],
  ["boots one without an intent", {}, [boot(cp(1))], "S11"],
  ["boots one under the intent on another", { facts: { ...known, intents: [open(cp(2))] } }, [boot(cp(1))], "S11"],
  ["removes the member of one that is listed", {}, [withOpen(open(cp(3), "RemoveMember", { memberId: id(3) })), removal(3)], "S12"],
  ["removes a member that no intent names", dead, [withOpen(open(cp(3), "RemoveMember", { memberId: id(9) })), removal(3)], "S13"],
  [
    "removes a member that etcd does not list",
    { left: [cp(3)] },
    [withOpen(open(cp(3), "Reset")), { ...removal(3), memberId: id(9) } as Action],
    "S15",
  ],
  ["removes a member that is nobody's", strange, [withOpen(open(cp(1), "RemoveStray", { memberId: id(9) })), stray(9)], undefined],
  [
    "removes a stray beside another one that is down",
    { looks: { ...strange.looks, "10.0.0.3": silent }, strays: new Set([id(9)]) },
    [withOpen(open(cp(1), "RemoveStray", { memberId: id(9) })), stray(9)],
    "S10",
  ],
  ["removes a stray without an intent", strange, [stray(9)], "S11"],
  [
    "takes a member for a stray that a machine shows",
    { strays: new Set([id(3)]) },
    [withOpen(open(cp(1), "RemoveStray", { memberId: id(3) })), stray(3)],
    "S12",
  ],
  [
    "takes a member for a stray that is that of a machine which is silent",
    { ...dead, strays: new Set([id(3)]) },
    [withOpen(open(cp(1), "RemoveStray", { memberId: id(3) })), stray(3)],
    "S12",
  ],
  [
    "removes a stray under the intent of another removal",
    strange,
    [withOpen(open(cp(1), "RemoveMember", { memberId: id(9) })), stray(9)],
    "S13",
  ],
  [
    "removes a stray that was not seen for long",
    { looks: strange.looks },
    [withOpen(open(cp(1), "RemoveStray", { memberId: id(9) })), stray(9)],
    "S13",
  ],
  ["replaces a member with wrong data", wrongAt(2), [withOpen(open(cp(2), "ReplaceMember", { memberId: id(2) })), leave(2)], undefined],
  [
    "boots a machine that has left etcd to join anew",
    { looks: { ...wrongAt(2, [1, 3]).looks, "10.0.0.2": running(preparing) } },
    [withOpen(open(cp(2), "ReplaceMember", { memberId: id(2) })), { kind: "RejoinEtcd", ...at(cp(2)) }],
    undefined,
  ],
  [
    "replaces a member beside another one that is away",
    { looks: { ...wrongAt(2).looks, "10.0.0.3": silent } },
    [withOpen(open(cp(2), "ReplaceMember", { memberId: id(2) })), leave(2)],
    "S10",
  ],
  ["replaces a member without an intent", wrongAt(2), [leave(2)], "S11"],
  [
    "replaces a member that a leader may have named by itself",
    { looks: { ...wrongAt(2).looks, "10.0.0.3": running({ ...member(2, 3), comparesWithLeader: true }) } },
    [withOpen(open(cp(2), "ReplaceMember", { memberId: id(2) })), leave(2)],
    "S12",
  ],
  ["replaces a member that no alarm names", {}, [withOpen(open(cp(2), "ReplaceMember", { memberId: id(2) })), leave(2)], "S12"],
  [
    "replaces another member than the machine shows",
    wrongAt(2),
    [withOpen(open(cp(1), "ReplaceMember", { memberId: id(2) })), { kind: "ReplaceMember", ...at(cp(1)), memberId: id(2) }],
    "S12",
  ],
  ["replaces a member under another intent", wrongAt(2), [withOpen(open(cp(2), "Reset", { memberId: id(2) })), leave(2)], "S12"],
  ["takes alarms back while the member that one names is there", wrongAt(2), [withOpen(open(cp(1), "DisarmAlarms")), disarm(1)], "S18"],
  [
    "takes an alarm back that outlived its member",
    { looks: { ...wrongAt(2, [1, 3]).looks, "10.0.0.2": running(preparing) } },
    [withOpen(open(cp(1), "DisarmAlarms")), disarm(1)],
    undefined,
  ],
  ["defragments a member while etcd is full", alarmedBy("no-space"), [withOpen(open(cp(1), "Defragment")), defragment(1)], undefined],
  ["takes alarms back while every file has room", alarmedBy("no-space", 1), [withOpen(open(cp(1), "DisarmAlarms")), disarm(1)], undefined],
  [
    "defragments one of three while another is dead",
    { looks: { ...healthy, "10.0.0.3": silent } },
    [withOpen(open(cp(1), "Defragment")), defragment(1)],
    "S10",
  ],
  ["defragments two members", {}, [withOpen(open(cp(1), "Defragment")), defragment(1), defragment(2)], "S11"],
  ["takes alarms back twice at once", {}, [withOpen(open(cp(1), "DisarmAlarms")), disarm(1), disarm(2)], "S18"],
  ["takes alarms back without an intent", {}, [disarm(1)], "S18"],
  ["defragments a member under another intent", {}, [withOpen(open(cp(1))), defragment(1)], "S18"],
  ["takes alarms back while data differ", alarmedBy("corrupt", 1), [withOpen(open(cp(1), "DisarmAlarms")), disarm(1)], "S18"],
  ["takes alarms back while a file is full", alarmedBy("no-space"), [withOpen(open(cp(1), "DisarmAlarms")), disarm(1)], "S18"],
  ["wipes one that is listed", {}, [withOpen(open(wk(1), "Reset")), wipe(wk(1))], "S19"],
  ["wipes one without an intent", { left: [wk(1)] }, [wipe(wk(1))], "S19"],
  ["wipes one whose namespace goes", { left: [wk(1)], namespaceIsTerminating: true }, [withOpen(open(wk(1), "Reset")), wipe(wk(1))], "S19"],
  ["wipes by a word that nobody knows", { left: [wk(1)], unknownMode: "off" }, [withOpen(open(wk(1), "Reset")), wipe(wk(1))], "S19"],
  [
    "boots other hardware than was written down",
    { looks: { ...healthy, "10.0.0.1": running(member(0, 3), { hardware: { uuid: "other", macs: [] } }) } },
    [withOpen(open(cp(1))), boot(cp(1))],
    "S20",
  ],
  ["configures by another key", { looks: { ...healthy, "10.0.1.1": inMaintenance("10.0.1.1") } }, [configure("another")], "S20"],
  ["installs another Talos under its intent", {}, [withOpen(open(cp(1), "InstallTalos")), install(cp(1), "v1.14.0")], undefined],
  ["installs what runs", {}, [withOpen(open(cp(1), "InstallTalos")), install(cp(1), "v1.13.9")], "S21"],
  [
    "installs what runs for kernel arguments that do not run",
    {
      configs: new Map([
        [cp(1), { kind: "known", arguments: { bySettings: true, asked: ["quiet"], lacks: ["quiet"] } } as unknown as KnownConfig],
      ]),
    },
    [withOpen(open(cp(1), "UpgradeTalos")), { ...install(cp(1), "v1.13.9"), kind: "UpgradeTalos" } as Action],
    undefined,
  ],
  ["goes back without a word", {}, [withOpen(open(wk(1), "InstallTalos")), install(wk(1), "v1.13.8")], "S21"],
  [
    "installs what failed",
    { facts: { ...known, quarantine: [{ version: "v1.14.0", machine: wk(2), at: NOW, why: "" }] } },
    [withOpen(open(wk(1), "InstallTalos")), install(wk(1), "v1.14.0")],
    "S21",
  ],
  [
    "upgrades a control plane beside one that is not back",
    { looks: { ...healthy, "10.0.0.3": running(member(2, 3), { ready: false }) } },
    [withOpen(open(cp(1), "UpgradeTalos")), { ...install(cp(1), "v1.14.0"), kind: "UpgradeTalos" } as Action],
    "S21",
  ],
  [
    "installs on two control planes",
    {},
    [withOpen(open(cp(1), "InstallTalos")), install(cp(1), "v1.14.0"), install(cp(2), "v1.14.0")],
    "S11",
  ],
  ["takes two workers down", {}, [withOpen(open(wk(1)), open(wk(2))), boot(wk(1)), boot(wk(2))], "S24"],
  ["takes one down beside one that is down", { looks: { ...healthy, "10.0.1.3": silent } }, [withOpen(open(wk(1)))], "S24"],
  ["drains two workers", {}, [drain(wk(1)), drain(wk(2))], "S24"],
  ["drains one beside one that is drained", drains(wk(3)), [drain(wk(1))], "S24"],
  ["goes on with a drain beside another", drains(wk(1), wk(3)), [drain(wk(1))], undefined],
  [
    "takes down one that is down",
    { looks: { ...healthy, "10.0.1.1": running(undefined, { ready: false }), "10.0.1.3": silent } },
    [withOpen(open(wk(1)))],
    undefined,
  ],
  ["boots right after a takeover", { mayDisturb: false }, [withOpen(open(cp(1))), boot(cp(1))], "S32"],
  ["drains right after a takeover", { mayDisturb: false }, [drain(wk(1))], "S32"],
];

describe("what no pass may break", () => {
  for (const [what, given, actions, want] of cases)
    test(`${want ?? "nothing"} is broken by a pass that ${what}`, () => {
      assert.equal(brokenBy(assess(seenOf(given)), actions)?.id, want);
    });

  test("S14 is broken by a pass that removes two members", () => {
    const twice = { ...dead, left: [cp(2), cp(3)] };
    const s14 = passInvariants.find((invariant) => invariant.id === "S14");
    assert.match(
      s14?.broken({ assessed: assess(seenOf(twice)), actions: [removal(2), removal(3)], before: known, after: known }) ?? "",
      /^2 members/,
    );
  });

  test("every one that stays on in production is there, and each is broken by something", () => {
    const ids = passInvariants.map((invariant) => invariant.id);
    assert.deepEqual(ids, [
      "S1",
      "S2",
      "S3",
      "S4",
      "S5",
      "S6",
      "S10",
      "S11",
      "S12",
      "S13",
      "S14",
      "S15",
      "S18",
      "S19",
      "S20",
      "S21",
      "S24",
      "S32",
    ]);
    const tried = new Set(["S14", ...cases.map(([, , , want]) => want)]);
    assert.deepEqual(
      ids.filter((one) => !tried.has(one)),
      [],
    );
    for (const { says } of passInvariants) assert.match(says, /^(etcd|[A-Z]).*\.$/);
  });

  test("a decision that would break one does nothing, and says what a person needs", () => {
    const rule: Rule = { name: "wrong", decide: () => ({ actions: [withOpen(open(cp(1)), open(cp(2))), boot(cp(1))] }) };
    const { actions, broken, conditions, requeueAfterMs } = decide(assess(seenOf({})), [rule]);
    assert.deepEqual(actions, []);
    assert.equal(broken?.id, "S11");
    const ready = conditions.find(({ type }) => type === "Ready");
    assert.equal(ready?.reason, "InvariantBroken");
    assert.match(
      ready?.message ?? "",
      /Nothing is sent: what was decided \(wrong\) would break S11: .* demo-10\.0\.0\.1, demo-10\.0\.0\.2\./,
    );
    assert.equal(requeueAfterMs, 10_000);
  });
});
