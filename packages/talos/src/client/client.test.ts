import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";

import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";

import { common, machine, storage } from "../protocol.ts";
import { createTalosClient } from "./client.ts";
import type { TalosClient } from "./client.ts";
import type { CallOptions } from "./call.ts";
import type { ApplyMode } from "./configuration.ts";
import { parseMemberId, printMemberId } from "./etcd-member-id.ts";
import { isTalosError } from "./errors.ts";
import type { TalosErrorCode } from "./errors.ts";
import { callFailure, createMemoryChannel } from "./testing/memory-channel.ts";
import type { MemoryChannel } from "./testing/memory-channel.ts";

const M = "/machine.MachineService";

function clientOf(handlers: Parameters<typeof createMemoryChannel>[0]): { client: TalosClient; channel: MemoryChannel } {
  const channel = createMemoryChannel(handlers);
  return { client: createTalosClient(channel), channel };
}

async function rejectsWith(promise: Promise<unknown>, code: TalosErrorCode): Promise<void> {
  await assert.rejects(promise, (thrown) => {
    assert.ok(isTalosError(thrown), String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    return true;
  });
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

async function* none(): AsyncGenerator<Uint8Array, void, undefined> {
  // Nothing to upload.
}

const data = (text: string): common.Data => create(common.DataSchema, { bytes: new TextEncoder().encode(text) });
const acknowledged = (): unknown => ({ messages: [{}] });

describe("version", () => {
  const reply = (part: object) => () => create(machine.VersionResponseSchema, { messages: [part] });

  test("tells version and platform of a machine in maintenance mode", async () => {
    const { client } = clientOf({
      [`${M}/Version`]: reply({
        version: { tag: "v1.13.9", sha: "undefined", goVersion: "go1.26.8", os: "linux", arch: "amd64" },
        platform: { name: "container", mode: "container" },
      }),
    });
    assert.deepEqual(await client.version(), {
      tag: "v1.13.9",
      sha: "undefined",
      goVersion: "go1.26.8",
      os: "linux",
      arch: "amd64",
      platform: { name: "container", mode: "container" },
      isRbacEnabled: undefined,
    });
  });

  test("refuses a reply without a version", () =>
    rejectsWith(clientOf({ [`${M}/Version`]: reply({}) }).client.version(), "MALFORMED_REPLY"));
  test("IN71: refuses a reply of nobody", () =>
    rejectsWith(clientOf({ [`${M}/Version`]: () => create(machine.VersionResponseSchema) }).client.version(), "MALFORMED_REPLY"));
  test("IN71: refuses a reply of two machines", async () => {
    const part = { version: { tag: "v1.13.9" } };
    const two = () => create(machine.VersionResponseSchema, { messages: [part, part] });
    await rejectsWith(clientOf({ [`${M}/Version`]: two }).client.version(), "MALFORMED_REPLY");
  });
  test("IN71: refuses a reply that another machine gave", async () => {
    const client = clientOf({ [`${M}/Version`]: reply({ version: { tag: "v1.13.9" }, metadata: { hostname: "10.5.0.77" } }) }).client;
    await rejectsWith(client.version(), "MALFORMED_REPLY");
    await rejectsWith(client.version({ node: "10.5.0.78" }), "MALFORMED_REPLY");
    await rejectsWith(client.version({ node: "10.5.0.7" }), "MALFORMED_REPLY");
    assert.equal((await client.version({ node: "10.5.0.77" })).tag, "v1.13.9");
  });
  test("IN68: takes a reply with fields and values of a newer Talos, and loses nothing that it knows", async () => {
    const known = toBinary(
      machine.VersionResponseSchema,
      create(machine.VersionResponseSchema, { messages: [{ version: { tag: "v1.99.0" } }] }),
    );
    // Field 4000, a text; field 4001, a number; both unknown to us, and the message in an unknown oneof as well.
    const newer = Uint8Array.of(...known, 0x82, 0xfa, 0x01, 0x02, 0x68, 0x69, 0x88, 0xfa, 0x01, 0x07);
    const { client } = clientOf({ [`${M}/Version`]: () => fromBinary(machine.VersionResponseSchema, newer) });
    assert.equal((await client.version()).tag, "v1.99.0");
    assert.equal(fromBinary(machine.VersionResponseSchema, newer).$unknown?.length, 2);
  });
  test("takes the error that a forwarding machine puts into an OK reply for an error", async () => {
    const metadata = { hostname: "10.5.0.77", error: "connection refused", status: { code: 14, message: "connection refused" } };
    await rejectsWith(clientOf({ [`${M}/Version`]: reply({ metadata }) }).client.version(), "UNAVAILABLE");
    await rejectsWith(clientOf({ [`${M}/Version`]: reply({ metadata: { error: "broken" } }) }).client.version(), "NODE_FAILED");
  });
});

describe("options of a call", () => {
  const all: readonly (readonly [string, (client: TalosClient, options?: CallOptions) => Promise<unknown>])[] = [
    ["version", (client, options) => client.version(options)],
    ["applyConfiguration", (client, options) => client.applyConfiguration({ config: "", mode: "auto" }, options)],
    ["bootstrap", (client, options) => client.bootstrap(options)],
    ["etcdMemberList", (client, options) => client.etcdMemberList({}, options)],
    ["etcdStatus", (client, options) => client.etcdStatus(options)],
    ["etcdForfeitLeadership", (client, options) => client.etcdForfeitLeadership(options)],
    ["etcdLeaveCluster", (client, options) => client.etcdLeaveCluster(options)],
    ["etcdRemoveMemberById", (client, options) => client.etcdRemoveMemberById("1", options)],
    ["serviceList", (client, options) => client.serviceList(options)],
    ["reset", (client, options) => client.reset({ graceful: true, reboot: true }, options)],
    ["reboot", (client, options) => client.reboot({}, options)],
    ["disks", (client, options) => client.disks(options)],
    ["kubeconfig", (client, options) => client.kubeconfig(options)],
    ["logs", (client, options) => collect(client.logs({ id: "etcd" }, options))],
    ["readText", (client, options) => client.readText("/etc/os-release", options)],
    ["events", (client, options) => collect(client.events({}, options))],
    ["etcdSnapshot", (client, options) => collect(client.etcdSnapshot(options))],
    ["etcdRecover", (client, options) => client.etcdRecover(none(), options)],
    ["bootstrapFromSnapshot", (client, options) => client.bootstrapFromSnapshot({ hasHash: true }, options)],
    ["etcdAlarmList", (client, options) => client.etcdAlarmList(options)],
    ["etcdAlarmDisarm", (client, options) => client.etcdAlarmDisarm(options)],
    ["etcdDefragment", (client, options) => client.etcdDefragment(options)],
    ["upgrade", (client, options) => client.upgrade({ image: "x", preserve: true }, options)],
    ["lifecycleUpgrade", (client, options) => collect(client.lifecycleUpgrade({ image: "x" }, options))],
    ["rollback", (client, options) => client.rollback(options)],
    ["serviceControl start", (client, options) => client.serviceControl("ext-x", "start", options)],
    ["serviceControl stop", (client, options) => client.serviceControl("ext-x", "stop", options)],
    ["serviceControl restart", (client, options) => client.serviceControl("kubelet", "restart", options)],
    ["metaWrite", (client, options) => client.metaWrite(12, "x", options)],
    ["metaDelete", (client, options) => client.metaDelete(12, options)],
    ["clusterHealth", (client, options) => collect(client.clusterHealth({}, options))],
    ["logsContainers", (client, options) => client.logsContainers(options)],
    ["memory", (client, options) => client.memory(options)],
    ["mounts", (client, options) => client.mounts(options)],
    ["processes", (client, options) => client.processes(options)],
    ["systemStat", (client, options) => client.systemStat(options)],
    ["loadAverage", (client, options) => client.loadAverage(options)],
    ["processors", (client, options) => client.processors(options)],
    ["diskStats", (client, options) => client.diskStats(options)],
    ["networkDeviceStats", (client, options) => client.networkDeviceStats(options)],
    ["dmesg", (client, options) => collect(client.dmesg({}, options))],
    ["list", (client, options) => collect(client.list({ root: "/" }, options))],
    ["resources.get", (client, options) => client.resources.get(KIND, "x", options)],
    ["resources.list", (client, options) => client.resources.list(KIND, options)],
    ["resources.watch", (client, options) => collect(client.resources.watch(KIND, {}, options))],
  ];
  const KIND = { type: "Xs.runtime.talos.dev", namespace: "runtime", parse: () => undefined };
  for (const [name, call] of all) {
    test(`${name} has a default deadline, takes options, and fails with a TalosError that names machine and method`, async () => {
      const { client, channel } = clientOf({});
      await rejectsWith(call(client), "UNIMPLEMENTED");
      const signal = new AbortController().signal;
      await assert.rejects(call(client, { timeoutMs: 7, signal, node: "10.5.0.3" }), (thrown) => {
        assert.ok(isTalosError(thrown));
        assert.deepEqual([thrown.node, thrown.method], ["10.5.0.3", channel.calls[0]?.path]);
        return true;
      });
      const [first, second] = channel.calls.map((seen) => seen.options);
      assert.ok(first !== undefined && first.timeoutMs >= 5_000 && first.timeoutMs <= 3_600_000, `${first?.timeoutMs}`);
      assert.deepEqual(second, { timeoutMs: 7, signal, node: "10.5.0.3" });
    });
  }

  test("closing the client closes the channel", () => {
    const { client, channel } = clientOf({});
    assert.equal(client.peerSpki(), "spki");
    client.close();
    assert.equal(channel.isClosed(), true);
  });
});

describe("applyConfiguration", () => {
  const MODES: readonly (readonly [ApplyMode, number])[] = [
    ["reboot", 0],
    ["auto", 1],
    ["no-reboot", 2],
    ["staged", 3],
    ["try", 4],
  ];
  for (const [mode, number] of MODES) {
    test(`sends mode ${mode} as ${number} and reads it back`, async () => {
      const { client, channel } = clientOf({
        [`${M}/ApplyConfiguration`]: (request: machine.ApplyConfigurationRequest) =>
          create(machine.ApplyConfigurationResponseSchema, {
            messages: [{ mode: request.mode, modeDetails: "Applied", warnings: ["old field"] }],
          }),
      });
      const result = await client.applyConfiguration({ config: "version: v1alpha1\n", mode });
      assert.deepEqual(result, { mode, details: "Applied", warnings: ["old field"] });
      const request = channel.calls[0]?.request as machine.ApplyConfigurationRequest;
      assert.deepEqual(
        { mode: request.mode, dryRun: request.dryRun, timeout: request.tryModeTimeout, text: new TextDecoder().decode(request.data) },
        { mode: number, dryRun: false, timeout: undefined, text: "version: v1alpha1\n" },
      );
    });
  }

  test("sends dry run and the time of a try", async () => {
    const { client, channel } = clientOf({ [`${M}/ApplyConfiguration`]: acknowledged });
    await client.applyConfiguration({ config: "", mode: "try", dryRun: true, tryTimeoutMs: 90_500 }).catch(() => undefined);
    const request = channel.calls[0]?.request as machine.ApplyConfigurationRequest;
    assert.deepEqual([request.dryRun, request.tryModeTimeout?.seconds, request.tryModeTimeout?.nanos], [true, 90n, 500_000_000]);
  });

  test("a silent answer (maintenance mode up to 1.12) is not taken for a reboot", async () => {
    const { client } = clientOf({
      [`${M}/ApplyConfiguration`]: () => create(machine.ApplyConfigurationResponseSchema, { messages: [{}] }),
    });
    assert.equal((await client.applyConfiguration({ config: "", mode: "auto" })).mode, undefined);
  });
});

describe("etcd", () => {
  test("prints member ids as etcd does, beyond what a double holds", async () => {
    const { client, channel } = clientOf({
      [`${M}/EtcdMemberList`]: () =>
        create(machine.EtcdMemberListResponseSchema, {
          messages: [
            {
              legacyMembers: ["n1"],
              members: [
                { id: 14110624312194729768n, hostname: "n1", peerUrls: ["https://10.5.0.2:2380"], clientUrls: ["https://10.5.0.2:2379"] },
                { id: 1n, peerUrls: ["https://10.5.0.3:2380"], isLearner: true },
              ],
            },
          ],
        }),
    });
    assert.deepEqual(await client.etcdMemberList({ queryLocal: true }), [
      {
        id: "c3d3020cf75b8728",
        hostname: "n1",
        peerUrls: ["https://10.5.0.2:2380"],
        clientUrls: ["https://10.5.0.2:2379"],
        isLearner: false,
      },
      { id: "0000000000000001", hostname: "", peerUrls: ["https://10.5.0.3:2380"], clientUrls: [], isLearner: true },
    ]);
    await client.etcdMemberList();
    assert.deepEqual(
      channel.calls.map((call) => (call.request as machine.EtcdMemberListRequest).queryLocal),
      [true, false],
    );
  });

  test("member ids survive printing and parsing, and nothing else is parsed", () => {
    for (const id of [0n, 1n, 2n ** 53n + 1n, 2n ** 64n - 1n]) assert.equal(parseMemberId(printMemberId(id)), id);
    for (const id of ["", "0x1", "-1", "g", "00000000000000001"]) assert.throws(() => parseMemberId(id), RangeError);
  });

  test("tells a member without a leader from one that has one", async () => {
    const reply = (leader: bigint) => () =>
      create(machine.EtcdStatusResponseSchema, {
        messages: [
          {
            memberStatus: {
              memberId: 5n,
              leader,
              dbSize: 20_480n,
              dbSizeInUse: 16_384n,
              raftTerm: 2n,
              raftIndex: 9n,
              raftAppliedIndex: 8n,
              errors: ["memberID:5 alarm:NOSPACE ", "etcdserver: no leader"],
            },
          },
        ],
      });
    const status = await clientOf({ [`${M}/EtcdStatus`]: reply(6n) }).client.etcdStatus();
    assert.deepEqual(
      [
        status.memberId,
        status.leaderId,
        status.dbSizeBytes,
        status.dbSizeInUseBytes,
        status.raftTerm,
        status.raftIndex,
        status.raftAppliedIndex,
        status.errors.length,
        status.alarms,
      ],
      ["0000000000000005", "0000000000000006", 20_480, 16_384, 2n, 9n, 8n, 2, [{ memberId: "0000000000000005", alarm: "no-space" }]],
    );
    assert.equal((await clientOf({ [`${M}/EtcdStatus`]: reply(0n) }).client.etcdStatus()).leaderId, undefined);
    const empty = () => create(machine.EtcdStatusResponseSchema, { messages: [{}] });
    await rejectsWith(clientOf({ [`${M}/EtcdStatus`]: empty }).client.etcdStatus(), "MALFORMED_REPLY");
  });

  test("bootstraps without recovery", async () => {
    const { client, channel } = clientOf({ [`${M}/Bootstrap`]: acknowledged });
    await client.bootstrap();
    const request = channel.calls[0]?.request as machine.BootstrapRequest;
    assert.deepEqual([request.recoverEtcd, request.recoverSkipHashCheck], [false, false]);
  });

  test("a second bootstrap is ALREADY_EXISTS, one on a worker UNIMPLEMENTED", async () => {
    const refusing = (code: number, text: string) => ({
      [`${M}/Bootstrap`]: () => {
        throw callFailure(code, text);
      },
    });
    await rejectsWith(clientOf(refusing(6, "etcd data directory is not empty")).client.bootstrap(), "ALREADY_EXISTS");
    await rejectsWith(clientOf(refusing(12, "bootstrap is only available on control plane nodes")).client.bootstrap(), "UNIMPLEMENTED");
  });

  test("forfeits leadership, leaves, and removes a member by id", async () => {
    const { client, channel } = clientOf({
      [`${M}/EtcdForfeitLeadership`]: () => create(machine.EtcdForfeitLeadershipResponseSchema, { messages: [{ member: "n2" }] }),
      [`${M}/EtcdLeaveCluster`]: acknowledged,
      [`${M}/EtcdRemoveMemberByID`]: acknowledged,
    });
    assert.equal(await client.etcdForfeitLeadership(), "n2");
    await client.etcdLeaveCluster();
    await client.etcdRemoveMemberById("c3d3020cf75b8728");
    assert.equal((channel.calls[2]!.request as machine.EtcdRemoveMemberByIDRequest).memberId, 14110624312194729768n);
    const notLeader = { [`${M}/EtcdForfeitLeadership`]: () => create(machine.EtcdForfeitLeadershipResponseSchema, { messages: [{}] }) };
    assert.equal(await clientOf(notLeader).client.etcdForfeitLeadership(), undefined);
  });
});

test("serviceList keeps unknown health apart from bad health", async () => {
  const { client } = clientOf({
    [`${M}/ServiceList`]: () =>
      create(machine.ServiceListResponseSchema, {
        messages: [
          {
            services: [
              {
                id: "apid",
                state: "Running",
                health: { healthy: true },
                events: { events: [{ msg: "Up", state: "Running", ts: timestampFromMs(1_795_224_785_000) }] },
              },
              { id: "etcd", state: "Running", health: { healthy: false, lastMessage: "no leader" } },
              { id: "machined", state: "Running", health: { unknown: true } },
              { id: "cri", state: "Preparing" },
            ],
          },
        ],
      }),
  });
  assert.deepEqual(await client.serviceList(), [
    {
      id: "apid",
      state: "Running",
      isHealthy: true,
      healthMessage: "",
      events: [{ message: "Up", state: "Running", at: 1_795_224_785_000 }],
    },
    { id: "etcd", state: "Running", isHealthy: false, healthMessage: "no leader", events: [] },
    { id: "machined", state: "Running", isHealthy: undefined, healthMessage: "", events: [] },
    { id: "cri", state: "Preparing", isHealthy: undefined, healthMessage: "", events: [] },
  ]);
});

test("reset and reboot send what they are told and give the actor id", async () => {
  const { client, channel } = clientOf({
    [`${M}/Reset`]: () => create(machine.ResetResponseSchema, { messages: [{ actorId: "a" }] }),
    [`${M}/Reboot`]: () => create(machine.RebootResponseSchema, { messages: [{ actorId: "b" }] }),
  });
  assert.deepEqual(await client.reset({ graceful: false, reboot: true, wipe: "system-disk", systemPartitions: ["STATE", "EPHEMERAL"] }), {
    actorId: "a",
  });
  assert.deepEqual(await client.reboot({ mode: "powercycle" }), { actorId: "b" });
  const [reset, reboot] = channel.calls.map((call) => call.request) as [machine.ResetRequest, machine.RebootRequest];
  assert.deepEqual(
    [reset.graceful, reset.reboot, reset.mode, reset.systemPartitionsToWipe.map(({ label, wipe }) => [label, wipe]), reset.userDisksToWipe],
    [
      false,
      true,
      1,
      [
        ["STATE", true],
        ["EPHEMERAL", true],
      ],
      [],
    ],
  );
  assert.equal(reboot.mode, 1);
});

test("lists disks of the older storage API", async () => {
  const { client } = clientOf({
    "/storage.StorageService/Disks": () =>
      create(storage.DisksResponseSchema, {
        messages: [{ disks: [{ deviceName: "/dev/nvme0n1", size: 512_110_190_592n, type: 3, systemDisk: true, model: "X" }] }],
      }),
  });
  const [disk] = await client.disks();
  assert.deepEqual(
    [disk?.deviceName, disk?.sizeBytes, disk?.type, disk?.isSystemDisk, disk?.isReadonly],
    ["/dev/nvme0n1", 512_110_190_592, "nvme", true, false],
  );
});

describe("byte streams", () => {
  test("logs asks for all history unless told otherwise", async () => {
    const { client, channel } = clientOf({ [`${M}/Logs`]: () => [data("one\ntw"), data(""), data("o\n")] });
    assert.equal(Buffer.concat(await collect(client.logs({ id: "etcd" }))).toString(), "one\ntwo\n");
    await collect(client.logs({ id: "kube-system/x:y:z", namespace: "k8s.io", tailLines: 5, follow: true }));
    const requests = channel.calls.map((call) => call.request as machine.LogsRequest);
    assert.deepEqual(
      requests.map(({ id, namespace, driver, tailLines, follow }) => [id, namespace, driver, tailLines, follow]),
      [
        ["etcd", "system", 0, -1, false],
        ["kube-system/x:y:z", "k8s.io", 1, 5, true],
      ],
    );
  });

  test("reads the boot id", async () => {
    const { client, channel } = clientOf({ [`${M}/Read`]: () => [data("0f7b"), data("a2c4\n")] });
    assert.equal(await client.bootId(), "0f7ba2c4");
    assert.equal((channel.calls[0]!.request as machine.ReadRequest).path, "/proc/sys/kernel/random/boot_id");
  });

  test("takes a text of 1 MiB and gives up on a longer one", async () => {
    const chunk = create(common.DataSchema, { bytes: new Uint8Array(65_536).fill(0x61) });
    const answering = (chunks: readonly common.Data[]): TalosClient => clientOf({ [`${M}/Read`]: () => chunks }).client;
    assert.equal((await answering(Array.from({ length: 16 }, () => chunk)).readText("/x")).length, 1_048_576);
    await rejectsWith(answering([...Array.from({ length: 16 }, () => chunk), data("a")]).readText("/x"), "RESOURCE_EXHAUSTED");
  });

  test("takes the error inside a chunk for an error", async () => {
    const chunks = [data("ok"), create(common.DataSchema, { metadata: { error: "gone" } })];
    await rejectsWith(clientOf({ [`${M}/Read`]: () => chunks }).client.readText("/x"), "NODE_FAILED");
  });
});

describe("kubeconfig", () => {
  const archive = readFileSync(new URL("../../testdata/kubeconfig/without-end.tar.gz", import.meta.url));
  const expected = readFileSync(new URL("../../testdata/kubeconfig/expected.yaml", import.meta.url), "utf8");
  const answering = (...chunks: readonly Uint8Array[]) =>
    clientOf({ [`${M}/Kubeconfig`]: () => chunks.map((bytes) => create(common.DataSchema, { bytes })) }).client;

  test("is read from an archive that lacks its end, in one message or several", async () => {
    assert.equal(await answering(archive).kubeconfig(), expected);
    assert.equal(await answering(archive.subarray(0, 50), archive.subarray(50)).kubeconfig(), expected);
  });

  test("is read from an archive that has its padding and end", async () => {
    const tar = gunzipSync(archive);
    const whole = Buffer.concat([tar, Buffer.alloc(512 - (tar.length % 512) + 1024)]);
    assert.equal(await answering(gzipSync(whole)).kubeconfig(), expected);
  });

  const damaged = (): Buffer => {
    const tar = gunzipSync(archive);
    tar[0] = 0x4b;
    return gzipSync(tar);
  };
  const BROKEN: readonly (readonly [string, Uint8Array])[] = [
    ["an archive with a damaged header", damaged()],
    ["an archive that ends inside the file", gzipSync(gunzipSync(archive).subarray(0, 600))],
    ["compressed text", gzipSync(Buffer.alloc(1024, "a"))],
    ["nothing", new Uint8Array()],
    ["text", Buffer.from("apiVersion: v1")],
    ["half an archive", archive.subarray(0, archive.length / 2)],
  ];
  for (const [name, bytes] of BROKEN) {
    test(`${name} is a malformed reply`, () => rejectsWith(answering(bytes).kubeconfig(), "MALFORMED_REPLY"));
  }
});

test("events are told by kind, and unknown ones are passed on", async () => {
  const event = <T>(name: string, bytes: Uint8Array, id: string): T =>
    create(machine.EventSchema, {
      id,
      actorId: "actor",
      data: { typeUrl: name === "" ? "" : `talos/runtime/machine.${name}`, value: bytes },
    }) as T;
  const status = create(machine.MachineStatusEventSchema, {
    stage: machine.MachineStatusEvent_MachineStage.SHUTTING_DOWN,
    status: { ready: false, unmetConditions: [{ name: "services", reason: "etcd not running" }] },
  });
  const sequence = create(machine.SequenceEventSchema, { sequence: "reboot", action: 0, error: { code: 1, message: "locked" } });
  const { client, channel } = clientOf({
    [`${M}/Events`]: () => [
      event("", new Uint8Array(), "1"),
      event("MachineStatusEvent", toBinary(machine.MachineStatusEventSchema, status), "2"),
      event("SequenceEvent", toBinary(machine.SequenceEventSchema, sequence), "3"),
      event("PhaseEvent", toBinary(machine.PhaseEventSchema, create(machine.PhaseEventSchema, { phase: "drain", action: 1 })), "4"),
      event("BrandNewEvent", new Uint8Array([1, 2, 3]), "5"),
    ],
  });
  const seen = await collect(client.events({ tailEvents: -1, actorId: "actor" }));
  assert.deepEqual(seen, [
    { id: "1", actorId: "actor", kind: "hello" },
    {
      id: "2",
      actorId: "actor",
      kind: "machine-status",
      stage: "shutting down",
      isReady: false,
      unmetConditions: [{ name: "services", reason: "etcd not running" }],
    },
    { id: "3", actorId: "actor", kind: "sequence", sequence: "reboot", action: "noop", error: "locked" },
    { id: "4", actorId: "actor", kind: "phase", phase: "drain", action: "stop" },
    { id: "5", actorId: "actor", kind: "other", type: "talos/runtime/machine.BrandNewEvent" },
  ]);
  const request = channel.calls[0]?.request as machine.EventsRequest;
  assert.deepEqual([request.tailEvents, request.withActorId], [-1, "actor"]);
});

test("a reboot is an orderly one unless another is asked for", async () => {
  const { client, channel } = clientOf({ [`${M}/Reboot`]: () => create(machine.RebootResponseSchema, { messages: [{ actorId: "b" }] }) });
  await client.reboot({});
  assert.equal((channel.calls[0]?.request as machine.RebootRequest | undefined)?.mode, machine.RebootRequest_Mode.DEFAULT);
});
