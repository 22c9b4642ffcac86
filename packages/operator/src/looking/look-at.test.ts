import assert from "node:assert/strict";
import { test } from "node:test";
import type { TalosChannel } from "@talos-operator/ports";
import { MachineConnections } from "./connections.ts";
import type { EtcdStatusFacts, TalosLooks } from "@talos-operator/talos/client";
import { TalosError } from "@talos-operator/talos/client";
import { Steady } from "./steady.ts";
import type { Look, SeenEtcd } from "../model/look.ts";
import { isSameLook } from "./look.ts";
import { LOOK_TIMEOUT_MS, lookAt, lookThrough, seenEtcd } from "./look-at.ts";

const credentials = { kind: "mutual", ca: "CA", certificate: "CERTIFICATE", key: "KEY" } as const;

/** Looks at a machine that answers nothing. */
async function look(mayBeConfigured: boolean): Promise<{ readonly kind: string; readonly limits: ReadonlyMap<string, number> }> {
  const limits = new Map<string, number>();
  const dial = (): TalosChannel => ({
    target: { address: "10.0.0.1" },
    unary: (method, _request, options) => {
      limits.set(method.path, options.timeoutMs);
      return Promise.reject(Object.assign(new Error("no answer"), { name: "TalosCallFailure" as const, code: 4 }));
    },
    serverStream: () => {
      throw new Error("not asked for");
    },
    upload: () => Promise.reject(new Error("not asked for")),
    // Known, so that nothing waits for a first answer.
    peerSpki: () => "KEY",
    close: () => undefined,
  });
  const connections = new MachineConnections(
    { dial, reaches: async () => true, hold: async () => assert.fail("not asked for") },
    "10.0.0.1",
  );
  const { kind } = await lookAt({ connections, role: "controlplane", credentials, mayBeConfigured, now: () => 1 });
  return { kind, limits };
}

for (const mayBeConfigured of [true, false]) {
  const what = mayBeConfigured ? "a configured machine" : "an unknown machine";
  test(`${what} that answers nothing is silent`, async () => assert.equal((await look(mayBeConfigured)).kind, "silent"));
  test(`every call of a look at ${what} has an end (W26)`, async () => {
    const { limits } = await look(mayBeConfigured);
    assert.ok(limits.size > 0);
    for (const [path, limit] of limits) assert.ok(limit <= LOOK_TIMEOUT_MS && limit <= 5_000, `${path} takes ${limit} ms`);
  });
}

const healthyStatus = {
  memberId: "a",
  leaderId: "a",
  isLearner: false,
  errors: [],
  alarms: [],
  dbSizeBytes: 20_480,
  dbSizeInUseBytes: 16_384,
};

/** A control plane that is seen through another one: what it says of etcd, and what it was asked. */
function settled(): {
  readonly asked: string[];
  readonly look: (at: number, status?: Partial<EtcdStatusFacts>) => Promise<readonly string[]>;
  /** What the last look showed of etcd. */
  readonly seen: () => SeenEtcd | undefined;
} {
  const asked: string[] = [];
  let says: Partial<EtcdStatusFacts> = {};
  let last: SeenEtcd | undefined;
  const answer = <T>(what: string, value: T): Promise<T> => {
    asked.push(what);
    return Promise.resolve(value);
  };
  const looks = {
    resources: {
      get: ({ type }: { readonly type: string }) =>
        type.startsWith("MachineStatuses")
          ? Promise.resolve({ spec: { stage: "running", isReady: true, unmetConditions: [] } })
          : type.startsWith("EtcdMembers")
            ? answer("own member", { spec: { memberId: "a" } })
            : type.startsWith("EtcdSpecs")
              ? answer("quota", { spec: { extraArguments: { "quota-backend-bytes": ["4096000"], "corrupt-check-time": ["10m"] } } })
              : Promise.resolve({ spec: { uuid: "uuid" } }),
      list: () => Promise.resolve([]),
    },
    version: () => Promise.resolve({ tag: "v1.13.9" }),
    serviceList: () => answer("services", [{ id: "etcd", state: "Running", isHealthy: true }]),
    etcdMemberList: () => answer("members", [{ id: "a", hostname: "one", isLearner: false, peerUrls: [] }]),
    etcdStatus: () => answer("status", { ...healthyStatus, leaderId: "b", ...says }),
  } as unknown as TalosLooks;
  const dialer = {
    dial: () => assert.fail("not asked for"),
    reaches: async () => assert.fail("not asked for"),
    hold: async () => assert.fail("not asked for"),
  };
  const connections = new MachineConnections(dialer, "10.0.0.1");
  return {
    asked,
    seen: () => last,
    async look(at, status = {}) {
      says = status;
      asked.length = 0;
      const seen = await lookThrough(looks, { connections, role: "controlplane", credentials, mayBeConfigured: true, now: () => at });
      assert.equal(seen?.etcd?.localMember, "a");
      last = seen.etcd;
      return [...asked];
    },
  };
}

const everything = ["services", "own member", "members", "status"];

test("what a settled control plane tells of etcd is asked once, and then only whether it is so still", async () => {
  const { look } = settled();
  assert.deepEqual([await look(0), await look(60_000), await look(179_999)], [everything, ["status"], ["status"]]);
  assert.deepEqual(await look(180_000), everything);
});

test("how large the file of a member is is told by each look, and by no call more", async () => {
  const { look, seen } = settled();
  await look(0);
  assert.deepEqual([seen()?.dbSizeBytes, seen()?.dbInUseBytes], [20_480, 16_384]);
  assert.deepEqual(await look(60_000, { dbSizeBytes: 2_147_483_648, dbSizeInUseBytes: 1_000_000 }), ["status"]);
  assert.deepEqual([seen()?.dbSizeBytes, seen()?.dbInUseBytes], [2_147_483_648, 1_000_000]);
});

for (const [what, status] of [
  ["none", { dbSizeBytes: 0, dbSizeInUseBytes: 0 }],
  ["a negative one", { dbSizeBytes: 4_096, dbSizeInUseBytes: -1 }],
  ["one that is not exact", { dbSizeBytes: 2 ** 60, dbSizeInUseBytes: 4_096 }],
] as const)
  test(`a size of etcd that no file has is not told: ${what}`, async () => {
    const { look, seen } = settled();
    await look(0, status);
    assert.deepEqual([seen()?.dbSizeBytes, seen()?.dbInUseBytes], [undefined, undefined]);
  });

test("alarms of etcd are told by member and kind, beside everything that it complains about in its own words", async () => {
  const { look, seen } = settled();
  const errors = ["etcdserver: no leader", "memberID:1 alarm:NOSPACE ", "alarm:CORRUPT "];
  const alarms = [
    { memberId: "0000000000000001", alarm: "no-space" },
    { memberId: "0000000000000000", alarm: "corrupt" },
  ] as const;
  await look(0, { errors, alarms });
  assert.deepEqual(seen()?.alarms, ["memberID:1 alarm:NOSPACE", "alarm:CORRUPT"]);
  assert.deepEqual(seen()?.raised, [
    { member: "0000000000000001", kind: "no-space" },
    { member: "0000000000000000", kind: "corrupt" },
  ]);
  await look(60_000);
  assert.deepEqual([seen()?.alarms, seen()?.raised], [undefined, undefined]);
});

test("what etcd was started with is asked for while a file is full or data differ, and at no other time", async () => {
  const { look, seen } = settled();
  const full = { errors: ["memberID:1 alarm:NOSPACE "], alarms: [{ memberId: "0000000000000001", alarm: "no-space" }] } as const;
  const corrupt = { errors: ["memberID:1 alarm:CORRUPT "], alarms: [{ memberId: "0000000000000001", alarm: "corrupt" }] } as const;
  assert.deepEqual(await look(0, full), [...everything, "quota"]);
  assert.equal(seen()?.quotaBytes, 4_096_000);
  for (const [status, isAsked] of [
    [{}, false],
    [corrupt, true],
  ] as const) {
    assert.equal((await look(60_000, status)).includes("quota"), isAsked);
    assert.deepEqual([seen()?.quotaBytes, seen()?.comparesWithLeader], [undefined, isAsked ? true : undefined]);
  }
});

test("two looks that differ in the size of etcd alone are the same, for it grows all the time", () => {
  const running = (etcd: Partial<SeenEtcd>): Look => {
    const seen: SeenEtcd = { service: "Running", isHealthy: true, localMember: "a", members: [], leader: "a", ...etcd };
    return { kind: "running", at: 0, version: "v1.13.9", platform: undefined, stage: "running", ready: true, unmet: [], etcd: seen };
  };
  const [small, large] = [
    { dbSizeBytes: 20_480, dbInUseBytes: 16_384 },
    { dbSizeBytes: 2_147_483_648, dbInUseBytes: 20_000 },
  ].map(running);
  const alarmed = running({ raised: [{ member: "1".repeat(16), kind: "no-space" }] });
  assert.ok(small !== undefined && large !== undefined);
  assert.deepEqual([isSameLook(small, large), isSameLook(small, alarmed)], [true, false]);
});

for (const [what, status] of [
  ["another one leads", { leaderId: "c" }],
  ["nobody leads", { leaderId: undefined }],
  ["it is another member", { memberId: "d" }],
  ["it is a learner", { isLearner: true }],
  ["it complains", { errors: ["NOSPACE"] }],
] as const)
  test(`a settled control plane is asked for everything about etcd when ${what}`, async () => {
    const { look } = settled();
    await look(0);
    assert.deepEqual(await look(60_000, status as Partial<EtcdStatusFacts>), ["status", ...everything]);
  });

/** Looks at one machine now on a connection of its own, now through a control plane, and counts how often it is asked for the name of its Node. */
function namedMachine(): {
  readonly look: (through: "own" | "control plane", bootedAt: number | undefined, version?: string, name?: string) => Promise<number>;
  readonly before: () => string | undefined;
} {
  let bootedAt: number | undefined;
  let version = "1";
  let nodeName = "worker-1";
  let before: string | undefined;
  let asked = 0;
  const looks = {
    resources: {
      get: ({ type }: { readonly type: string }) => {
        if (type.startsWith("Nodenames")) asked += 1;
        if (type.startsWith("MachineStatuses"))
          return Promise.resolve({ createdAt: bootedAt, version, spec: { stage: "running", isReady: true, unmetConditions: [] } });
        return Promise.resolve({ spec: { uuid: "uuid", nodeName } });
      },
      list: () => Promise.resolve([]),
    },
    version: () => Promise.resolve({ tag: "v1.13.9" }),
    peerSpki: () => "KEY",
  };
  const connections = new MachineConnections(
    {
      dial: () => assert.fail("not asked for"),
      reaches: async () => assert.fail("not asked for"),
      hold: async () => assert.fail("not asked for"),
    },
    "10.0.0.1",
  );
  const question = { connections, role: "worker", credentials, mayBeConfigured: true, now: () => 1 } as const;
  connections.mutual = () => looks as unknown as ReturnType<MachineConnections["mutual"]>;
  return {
    before: () => before,
    async look(through, boot, status = "1", name = "worker-1") {
      bootedAt = boot;
      version = status;
      nodeName = name;
      asked = 0;
      const seen = through === "own" ? await lookAt(question) : await lookThrough(looks as unknown as TalosLooks, question);
      assert.equal(seen?.kind === "running" ? seen.nodeName : undefined, name);
      before = seen?.kind === "running" ? seen.nodeNameBefore : undefined;
      return asked;
    },
  };
}

test("the name of a Node is asked for once a boot, whichever way the machine is looked at", async () => {
  const { look } = namedMachine();
  assert.deepEqual([await look("own", 1), await look("control plane", 1), await look("own", 1)], [1, 0, 0]);
  assert.deepEqual([await look("control plane", 2), await look("own", 2)], [1, 0]);
  assert.deepEqual([await look("own", undefined), await look("own", undefined)], [1, 1]);
});

test("the name of a Node is asked for again when the status of the machine changed, as with another host name", async () => {
  const { look, before } = namedMachine();
  assert.deepEqual([await look("own", 1, "3"), await look("own", 1, "3"), before()], [1, 0, undefined]);
  assert.deepEqual([await look("own", 1, "5", "worker-a"), before()], [1, "worker-1"]);
  assert.deepEqual([await look("control plane", 1, "5", "worker-a"), before()], [0, "worker-1"]);
});

test("what a machine was built from is asked for once a boot, and again where it was not told", async () => {
  const id = "5".repeat(64);
  let bootedAt = 1;
  let asked = 0;
  let extensions: readonly { readonly name: string; readonly version: string }[] | undefined;
  const looks = {
    resources: {
      get: ({ type }: { readonly type: string }) =>
        Promise.resolve(
          type.startsWith("MachineStatuses")
            ? { createdAt: bootedAt, spec: { stage: "running", isReady: true, unmetConditions: [] } }
            : { spec: { uuid: "uuid", nodeName: "worker-1" } },
        ),
      list: ({ type }: { readonly type: string }) => {
        if (!type.startsWith("ExtensionStatuses")) return Promise.resolve([]);
        asked += 1;
        if (extensions === undefined)
          return Promise.reject(new TalosError("UNIMPLEMENTED", { node: "10.0.0.1", method: "List" }, "no such resource"));
        return Promise.resolve(extensions.map((spec) => ({ spec })));
      },
    },
    version: () => Promise.resolve({ tag: "v1.13.9" }),
    peerSpki: () => "KEY",
  };
  const connections = new MachineConnections(
    {
      dial: () => assert.fail("not asked for"),
      reaches: async () => assert.fail("not asked for"),
      hold: async () => assert.fail("not asked for"),
    },
    "10.0.0.1",
  );
  const question = { connections, role: "worker", credentials, mayBeConfigured: true, now: () => 1 } as const;
  connections.mutual = () => looks as unknown as ReturnType<MachineConnections["mutual"]>;
  const schematic = async (): Promise<string | undefined> => {
    const seen = await lookAt(question);
    return seen.kind === "running" ? seen.schematic : assert.fail(seen.kind);
  };
  assert.deepEqual([await schematic(), await schematic(), asked], [undefined, undefined, 2]);
  extensions = [
    { name: "qemu-guest-agent", version: "9.0" },
    { name: "schematic", version: id },
  ];
  assert.deepEqual([await schematic(), await schematic(), asked], [id, id, 3]);
  extensions = [];
  bootedAt = 2;
  assert.deepEqual([await schematic(), await schematic(), asked], ["none", "none", 4]);
  extensions = [{ name: "schematic", version: "x".repeat(100_000) }];
  bootedAt = 3;
  assert.deepEqual([await schematic(), asked], [undefined, 5], "what is none is not kept");
});

/** What is kept of a member list that a control plane tells. */
async function keptOf(members: readonly object[]): Promise<Awaited<ReturnType<typeof seenEtcd>>["members"]> {
  const looks = {
    resources: { get: () => Promise.resolve({ spec: { memberId: "a" } }) },
    serviceList: () => Promise.resolve([{ id: "etcd", state: "Running", isHealthy: true }]),
    etcdMemberList: () => Promise.resolve(members),
    etcdStatus: () => Promise.resolve(healthyStatus),
  } as unknown as TalosLooks;
  return (await seenEtcd(looks, { timeoutMs: 1_000 })).members;
}

test("a member list that is longer than etcd's can be is none, and a member with more addresses than it can have has none", async () => {
  const one = { id: "a", hostname: "one", isLearner: false, peerUrls: ["https://10.0.0.1:2380"] };
  assert.deepEqual(await keptOf([one]), [{ id: "a", name: "one", isLearner: false, peerUrls: ["https://10.0.0.1:2380"] }]);
  assert.equal(await keptOf(Array.from({ length: 65 }, () => one)), undefined);
  const many = Array.from({ length: 17 }, (_, n) => `https://10.0.0.${n}:2380`);
  assert.deepEqual(
    (await keptOf([{ ...one, peerUrls: many }]))?.map(({ peerUrls }) => peerUrls),
    [[]],
  );
  assert.deepEqual(
    (await keptOf([{ ...one, peerUrls: ["x".repeat(301)] }]))?.map(({ peerUrls }) => peerUrls),
    [[]],
  );
});

/** A machine on an open connection without proof, which says that it is in this stage. */
function withoutProof(stage: string): Promise<{ readonly kind: string }> {
  const client = {
    peerSpki: () => "KEY",
    version: async () => ({ tag: "v1.13.9" }),
    resources: { get: async () => ({ spec: { stage } }), list: async () => [] },
  };
  const connections = {
    maintenance: () => client,
    closeMaintenance: () => undefined,
    waiting: new Steady(),
  } as unknown as MachineConnections;
  return lookAt({ connections, role: "controlplane", credentials: undefined, mayBeConfigured: false, now: () => 1 });
}

test("a machine that answers without proof waits only while it says so: one that takes its configuration does not", async () => {
  assert.equal((await withoutProof("maintenance")).kind, "maintenance");
  for (const stage of ["installing", "booting", "running"]) assert.equal((await withoutProof(stage)).kind, "silent");
});

test("a machine that leaves the question for its hardware unanswered is not taken for one that has none", async () => {
  const unanswered = (): Promise<never> =>
    Promise.reject(new TalosError("DEADLINE_EXCEEDED", { node: "10.0.0.1", method: "List" }, "no answer"));
  const looks = {
    resources: { get: async () => ({ spec: { stage: "running", isReady: true, unmetConditions: [] } }), list: unanswered },
    version: async () => ({ tag: "v1.13.9" }),
  } as unknown as TalosLooks;
  const dialer = {
    dial: () => assert.fail("not asked for"),
    reaches: async () => assert.fail("not asked for"),
    hold: async () => assert.fail("not asked for"),
  };
  const connections = new MachineConnections(dialer, "10.0.0.1");
  const question = { connections, role: "worker", credentials, mayBeConfigured: true, needsHardware: true, now: () => 1 } as const;
  assert.equal(await lookThrough(looks, question), undefined);
});
