import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { create } from "@bufbuild/protobuf";

import { machine } from "../protocol.ts";
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

  test("and the log of the kernel come as streams", async () => {
    const { client, request } = clientOf({ [`${M}/Dmesg`]: () => [{ bytes: Buffer.from("x") }] });
    assert.equal(Buffer.concat(await collect(client.dmesg({ follow: true, tail: true }))).toString(), "x");
    assert.deepEqual([request<machine.DmesgRequest>().follow, request<machine.DmesgRequest>().tail], [true, true]);
  });
});
