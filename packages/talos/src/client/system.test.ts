import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";

import { inspect, machine, time } from "../protocol.ts";
import type { TalosClient } from "./client.ts";
import { clientOf, collect, rejectsWith } from "./testing/with-client.ts";

const M = "/machine.MachineService";

interface Look {
  readonly name: string;
  readonly path: string;
  readonly reply: unknown;
  readonly look: (client: TalosClient) => Promise<unknown>;
  readonly want: unknown;
}

const NETWORK = { rxBytes: 1n, rxPackets: 2n, rxErrors: 3n, rxDropped: 4n, txBytes: 5n, txPackets: 6n, txErrors: 7n, txDropped: 8n };
const LOOKS: readonly Look[] = [
  {
    name: "memory in bytes",
    path: `${M}/Memory`,
    reply: create(machine.MemoryResponseSchema, {
      messages: [
        { meminfo: { memtotal: 2048n, memfree: 1024n, memavailable: 1536n, buffers: 1n, cached: 2n, swaptotal: 4n, swapfree: 3n } },
      ],
    }),
    look: (client) => client.memory(),
    want: {
      totalBytes: 2_097_152,
      freeBytes: 1_048_576,
      availableBytes: 1_572_864,
      buffersBytes: 1024,
      cachedBytes: 2048,
      swapTotalBytes: 4096,
      swapFreeBytes: 3072,
    },
  },
  {
    name: "mounts",
    path: `${M}/Mounts`,
    reply: create(machine.MountsResponseSchema, {
      messages: [{ stats: [{ filesystem: "/dev/sda6", size: 100n, available: 90n, mountedOn: "/var" }] }],
    }),
    look: (client) => client.mounts(),
    want: [{ filesystem: "/dev/sda6", mountedOn: "/var", sizeBytes: 100, availableBytes: 90 }],
  },
  {
    name: "processes",
    path: `${M}/Processes`,
    reply: create(machine.ProcessesResponseSchema, {
      messages: [
        { processes: [{ pid: 1, ppid: 0, state: "S", threads: 9, cpuTime: 1.5, virtualMemory: 7n, residentMemory: 5n, command: "init" }] },
      ],
    }),
    look: (client) => client.processes(),
    want: [
      {
        pid: 1,
        parentPid: 0,
        state: "S",
        threads: 9,
        cpuSeconds: 1.5,
        virtualMemoryBytes: 7,
        residentMemoryBytes: 5,
        command: "init",
        executable: "",
        args: "",
      },
    ],
  },
  {
    name: "processor times",
    path: `${M}/SystemStat`,
    reply: create(machine.SystemStatResponseSchema, {
      messages: [
        {
          bootTime: 1_795_224_785n,
          cpuTotal: { user: 2, system: 1, idle: 97 },
          cpu: [{ idle: 1 }],
          processRunning: 3n,
          processBlocked: 1n,
        },
      ],
    }),
    look: (client) => client.systemStat(),
    want: {
      bootedAt: 1_795_224_785_000,
      total: { userSeconds: 2, systemSeconds: 1, idleSeconds: 97, ioWaitSeconds: 0, stealSeconds: 0 },
      processors: [{ userSeconds: 0, systemSeconds: 0, idleSeconds: 1, ioWaitSeconds: 0, stealSeconds: 0 }],
      processesRunning: 3,
      processesBlocked: 1,
    },
  },
  {
    name: "load",
    path: `${M}/LoadAvg`,
    reply: create(machine.LoadAvgResponseSchema, { messages: [{ load1: 0.5, load5: 1, load15: 2 }] }),
    look: (client) => client.loadAverage(),
    want: [0.5, 1, 2],
  },
  {
    name: "processors",
    path: `${M}/CPUInfo`,
    reply: create(machine.CPUInfoResponseSchema, { messages: [{ cpuInfo: [{ modelName: "EPYC", cpuMhz: 2400, coreId: "3" }] }] }),
    look: (client) => client.processors(),
    want: [{ modelName: "EPYC", mhz: 2400, coreId: "3" }],
  },
  {
    name: "what disks do",
    path: `${M}/DiskStats`,
    reply: create(machine.DiskStatsResponseSchema, {
      messages: [{ devices: [{ name: "sda", readCompleted: 1n, writeCompleted: 2n, readSectors: 3n, writeSectors: 4n, ioTimeMs: 5n }] }],
    }),
    look: (client) => client.diskStats(),
    want: [{ name: "sda", readsCompleted: 1, writesCompleted: 2, sectorsRead: 3, sectorsWritten: 4, busyMs: 5 }],
  },
  {
    name: "what links do",
    path: `${M}/NetworkDeviceStats`,
    reply: create(machine.NetworkDeviceStatsResponseSchema, { messages: [{ devices: [{ name: "eth0", ...NETWORK }] }] }),
    look: (client) => client.networkDeviceStats(),
    want: [
      {
        name: "eth0",
        receivedBytes: 1,
        receivedPackets: 2,
        receiveErrors: 3,
        receiveDropped: 4,
        sentBytes: 5,
        sentPackets: 6,
        sendErrors: 7,
        sendDropped: 8,
      },
    ],
  },
  {
    name: "the clock",
    path: "/time.TimeService/Time",
    reply: create(time.TimeResponseSchema, {
      messages: [
        { server: "time.cloudflare.com", localtime: timestampFromMs(1_795_224_785_001), remotetime: timestampFromMs(1_795_224_785_000) },
      ],
    }),
    look: (client) => client.time(),
    want: { server: "time.cloudflare.com", localAt: 1_795_224_785_001, remoteAt: 1_795_224_785_000 },
  },
  {
    name: "containers",
    path: `${M}/Containers`,
    reply: create(machine.ContainersResponseSchema, {
      messages: [{ containers: [{ namespace: "system", id: "apid", name: "apid", image: "x", pid: 7, status: "RUNNING", uid: "u" }] }],
    }),
    look: (client) => client.containers("system"),
    want: [{ namespace: "system", id: "apid", name: "apid", podId: "", image: "x", pid: 7, status: "RUNNING" }],
  },
  {
    name: "what containers use",
    path: `${M}/Stats`,
    reply: create(machine.StatsResponseSchema, {
      messages: [{ stats: [{ namespace: "k8s.io", id: "a/b", podId: "a/b", name: "c", memoryUsage: 9n, cpuUsage: 2n ** 60n }] }],
    }),
    look: (client) => client.containerStats("k8s.io"),
    want: [{ namespace: "k8s.io", id: "a/b", podId: "a/b", name: "c", memoryBytes: 9, cpuNanoseconds: 2n ** 60n }],
  },
  {
    name: "frequencies of processors, which the kernel counts in kHz",
    path: `${M}/CPUFreqStats`,
    reply: create(machine.CPUFreqStatsResponseSchema, {
      messages: [
        {
          cpuFreqStats: [{ currentFrequency: 2_400_000n, minimumFrequency: 800_000n, maximumFrequency: 3_000_000n, governor: "powersave" }],
        },
      ],
    }),
    look: (client) => client.processorFrequencies(),
    want: [{ currentHz: 2.4e9, minimumHz: 8e8, maximumHz: 3e9, governor: "powersave" }],
  },
  {
    name: "how full a file system is",
    path: "/machine.StorageService/Statfs",
    reply: create(machine.StorageServiceStatfsResponseSchema, {
      size: 100n,
      used: 40n,
      available: 60n,
      inodes: 9n,
      inodesUsed: 2n,
      inodesFree: 7n,
    }),
    look: (client) => client.fileSystemUsage("/var"),
    want: { sizeBytes: 100, usedBytes: 40, availableBytes: 60, inodes: 9, inodesUsed: 2, inodesFree: 7 },
  },
  {
    name: "what its controllers read and write",
    path: "/inspect.InspectService/ControllerRuntimeDependencies",
    reply: create(inspect.ControllerRuntimeDependenciesResponseSchema, {
      messages: [
        { edges: [{ controllerName: "a.B", edgeType: 3, resourceNamespace: "network", resourceType: "Links", resourceId: "eth0" }] },
      ],
    }),
    look: (client) => client.controllerDependencies(),
    want: [{ controller: "a.B", kind: "output-shared", resourceNamespace: "network", resourceType: "Links", resourceId: "eth0" }],
  },
  {
    name: "its open sockets",
    path: `${M}/Netstat`,
    reply: create(machine.NetstatResponseSchema, {
      messages: [
        {
          connectrecord: [
            {
              l4proto: "tcp",
              localip: "::",
              localport: 50_000,
              remoteip: "::",
              state: 10,
              txqueue: 1n,
              rxqueue: 2n,
              process: { pid: 7, name: "apid" },
            },
            { l4proto: "udp", localip: "10.5.0.2", localport: 9, remoteip: "10.5.0.3", remoteport: 53, state: 99 as never, netns: "pod" },
          ],
        },
      ],
    }),
    look: (client) => client.sockets(),
    want: [
      {
        protocol: "tcp",
        localAddress: "::",
        localPort: 50_000,
        remoteAddress: "::",
        remotePort: 0,
        state: "listen",
        sendQueueBytes: 1,
        receiveQueueBytes: 2,
        process: { pid: 7, name: "apid" },
        namespace: "",
      },
      {
        protocol: "udp",
        localAddress: "10.5.0.2",
        localPort: 9,
        remoteAddress: "10.5.0.3",
        remotePort: 53,
        state: "unknown",
        sendQueueBytes: 0,
        receiveQueueBytes: 0,
        process: undefined,
        namespace: "pod",
      },
    ],
  },
  {
    name: "logs that are kept",
    path: `${M}/LogsContainers`,
    reply: create(machine.LogsContainersResponseSchema, { messages: [{ ids: ["kubelet", "etcd"] }] }),
    look: (client) => client.logsContainers(),
    want: ["kubelet", "etcd"],
  },
];

describe("a machine tells", () => {
  for (const { name, path, reply, look, want } of LOOKS) {
    test(name, async () => assert.deepEqual(await look(clientOf({ [path]: () => reply }).client), want));
  }

  test("nothing that its reply lacks", async () => {
    const empty = { [`${M}/Memory`]: () => create(machine.MemoryResponseSchema, { messages: [{}] }) };
    await rejectsWith(clientOf(empty).client.memory(), "MALFORMED_REPLY", /no memory/);
  });
});

test("containers of Kubernetes are asked for through CRI, services through containerd", async () => {
  const { client, request } = clientOf({
    [`${M}/Containers`]: () => create(machine.ContainersResponseSchema, { messages: [{}] }),
  });
  await client.containers("k8s.io");
  await client.containers("system");
  const sent = [0, 1].map((index) => request<machine.ContainersRequest>(index));
  assert.deepEqual(
    sent.map(({ namespace, driver }) => [namespace, driver]),
    [
      ["k8s.io", 1],
      ["system", 0],
    ],
  );
});

test("sockets are asked for by protocol, state and namespace", async () => {
  const { client, request } = clientOf({ [`${M}/Netstat`]: () => create(machine.NetstatResponseSchema, { messages: [{}] }) });
  await client.sockets();
  await client.sockets({ filter: "listening", protocols: ["raw6"], withProcesses: true, namespaces: "all" });
  await client.sockets({ namespaces: ["a", "b"] });
  const sent = [0, 1, 2].map((index) => request<machine.NetstatRequest>(index));
  assert.deepEqual(
    sent.map(({ filter, feature, l4proto, netns }) => [
      filter,
      feature?.pid,
      [l4proto?.tcp, l4proto?.udp6, l4proto?.raw6],
      [netns?.hostnetwork, netns?.allnetns, netns?.netns],
    ]),
    [
      [0, false, [true, true, false], [true, false, []]],
      [2, true, [false, false, true], [false, true, []]],
      [0, false, [true, true, false], [false, false, ["a", "b"]]],
    ],
  );
});

describe("files", () => {
  test("are listed with sizes, modes and errors", async () => {
    const { client, request } = clientOf({
      [`${M}/List`]: () => [
        create(machine.FileInfoSchema, { name: "/var/log", relativeName: ".", isDir: true, modified: 1_795_224_785n, mode: 0o755 }),
        create(machine.FileInfoSchema, { name: "/var/lost", relativeName: "lost", error: "permission denied" }),
      ],
    });
    const found = await collect(client.list({ root: "/var", recurse: true, depth: 2, types: ["regular", "directory", "symlink"] }));
    assert.deepEqual(
      found.map(({ name, isDirectory, modifiedAt, mode, error }) => [name, isDirectory, modifiedAt, mode, error]),
      [
        ["/var/log", true, 1_795_224_785_000, 0o755, ""],
        ["/var/lost", false, 0, 0, "permission denied"],
      ],
    );
    const { root, recurse, recursionDepth, types } = request<machine.ListRequest>();
    assert.deepEqual([root, recurse, recursionDepth, types], ["/var", true, 2, [0, 1, 2]]);
  });

  test("are measured", async () => {
    const { client, request } = clientOf({
      [`${M}/DiskUsage`]: () => [create(machine.DiskUsageInfoSchema, { name: "/var/log", relativeName: "log", size: 4096n })],
    });
    assert.deepEqual(await collect(client.diskUsage({ paths: ["/var"], all: true, depth: 1, thresholdBytes: 10 })), [
      { name: "/var/log", relativeName: "log", sizeBytes: 4096, error: "" },
    ]);
    const { paths, all, recursionDepth, threshold } = request<machine.DiskUsageRequest>();
    assert.deepEqual([paths, all, recursionDepth, threshold], [["/var"], true, 1, 10n]);
  });

  test("are copied, and the kernel's log and packets are streams of bytes", async () => {
    const answer = () => [{ bytes: Buffer.from("x") }];
    const { client, request } = clientOf({ [`${M}/Copy`]: answer, [`${M}/Dmesg`]: answer, [`${M}/PacketCapture`]: answer });
    const text = async (stream: AsyncIterable<Uint8Array>): Promise<string> => Buffer.concat(await collect(stream)).toString();
    assert.deepEqual(
      [
        await text(client.copy("/sys/fs/cgroup")),
        await text(client.dmesg({ follow: true, tail: true })),
        await text(client.packetCapture({ interface: "eth0", filter: [{ op: 6, jt: 0, jf: 0, k: 262_144 }] })),
      ],
      ["x", "x", "x"],
    );
    assert.equal(request<machine.CopyRequest>(0).rootPath, "/sys/fs/cgroup");
    assert.deepEqual([request<machine.DmesgRequest>(1).follow, request<machine.DmesgRequest>(1).tail], [true, true]);
    const capture = request<machine.PacketCaptureRequest>(2);
    assert.deepEqual([capture.interface, capture.promiscuous, capture.snapLen, capture.bpfFilter[0]?.k], ["eth0", false, 4096, 262_144]);
  });
});
