import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { inspect } from "node:util";

import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";

import { createTalosClient } from "../client/client.ts";
import type { TalosClient } from "../client/client.ts";
import { isTalosError } from "../client/errors.ts";
import type { TalosErrorCode } from "../client/errors.ts";
import { callFailure, createMemoryChannel } from "../client/testing/memory-channel.ts";
import type { MemoryChannel } from "../client/testing/memory-channel.ts";
import { configDefinitions, cosi, resourceSpecs } from "../protocol.ts";
import { resourceKinds, untypedKind } from "./kinds.ts";
import type { Resource, ResourceKind } from "./resource.ts";

const STATE = "/cosi.resource.State";

interface Recorded {
  readonly metadata: {
    readonly namespace: string;
    readonly type: string;
    readonly id: string;
    readonly version: string;
    readonly owner: string;
  };
  readonly yamlSpec: string;
}
const RECORDED = (
  JSON.parse(readFileSync(new URL("../../testdata/resources/recorded.json", import.meta.url), "utf8")) as {
    readonly resources: readonly Recorded[];
  }
).resources;

function resourceOf(
  kind: ResourceKind<unknown>,
  yamlSpec: string,
  id = kind.id ?? "x",
  protoSpec: Uint8Array<ArrayBuffer> = new Uint8Array(),
): cosi.Resource {
  const metadata = { namespace: kind.namespace, type: kind.type, id, version: "3", phase: "running", owner: "owner" };
  return create(cosi.ResourceSchema, { metadata, spec: { yamlSpec, protoSpec } });
}

function clientOf(handlers: Parameters<typeof createMemoryChannel>[0]): { client: TalosClient; channel: MemoryChannel } {
  const channel = createMemoryChannel(handlers);
  return { client: createTalosClient(channel), channel };
}

async function specOf<T>(kind: ResourceKind<T>, yaml: string, proto?: Uint8Array<ArrayBuffer>): Promise<T> {
  const resource = resourceOf(kind, yaml, kind.id ?? "x", proto);
  const { client } = clientOf({ [`${STATE}/Get`]: () => create(cosi.GetResponseSchema, { resource }) });
  const seen = await client.resources.get(kind, "x");
  assert.ok(seen !== undefined);
  return seen.spec;
}

async function rejectsWith(promise: Promise<unknown>, code: TalosErrorCode): Promise<string> {
  let message = "";
  await assert.rejects(promise, (thrown) => {
    assert.ok(isTalosError(thrown), String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    message = thrown.message;
    return true;
  });
  return message;
}

test("every typed kind lives where the API facts say", () => {
  for (const [name, kind] of Object.entries(resourceKinds)) {
    const facts = resourceSpecs[kind.type];
    assert.ok(facts !== undefined, `${name}: ${kind.type} is not in the API facts`);
    assert.equal(kind.namespace, facts.namespace, name);
    if (kind.id !== undefined && facts.ids.length > 0) assert.ok(facts.ids.includes(kind.id), `${name}: ${kind.id}`);
  }
});

describe("get", () => {
  test("gives metadata and spec", async () => {
    const resource = resourceOf(resourceKinds.machineType, "controlplane\n");
    resource.metadata!.created = timestampFromMs(1_795_224_780_045);
    resource.metadata!.updated = timestampFromMs(1_795_224_785_123);
    resource.metadata!.labels = { a: "b" };
    const { client, channel } = clientOf({ [`${STATE}/Get`]: () => create(cosi.GetResponseSchema, { resource }) });
    assert.deepEqual(await client.resources.get(resourceKinds.machineType), {
      namespace: "config",
      type: "MachineTypes.config.talos.dev",
      id: "machine-type",
      version: "3",
      phase: "running",
      owner: "owner",
      labels: { a: "b" },
      createdAt: 1_795_224_780_045,
      updatedAt: 1_795_224_785_123,
      spec: "controlplane",
    } satisfies Resource<string>);
    const request = channel.calls[0]?.request as cosi.GetRequest;
    assert.deepEqual([request.namespace, request.type, request.id], ["config", "MachineTypes.config.talos.dev", "machine-type"]);
  });

  const refusing = (code: number, text: string): TalosClient =>
    clientOf({
      [`${STATE}/Get`]: () => {
        throw callFailure(code, text);
      },
    }).client;

  test("a resource that does not exist is undefined", async () => {
    const client = refusing(5, "resource EtcdMembers.etcd.talos.dev(etcd/local@undefined) doesn't exist");
    assert.equal(await client.resources.get(resourceKinds.etcdMember), undefined);
  });

  test("nobody answering is not the same as not existing", async () => {
    await rejectsWith(refusing(14, "connect ECONNREFUSED").resources.get(resourceKinds.etcdMember), "UNAVAILABLE");
    await rejectsWith(refusing(7, "not authorized").resources.get(resourceKinds.machineConfig), "PERMISSION_DENIED");
  });

  test("an id is needed where the kind has none", async () => {
    await assert.rejects(clientOf({}).client.resources.get(resourceKinds.linkStatus), TypeError);
  });

  const MALFORMED: readonly (readonly [string, string, RegExp])[] = [
    ["a field of another type", "stage: [s3cret]\n", /stage is not a string/],
    ["a nested field of another type", "stage: running\nstatus:\n  unmetConditions: s3cret\n", /status\.unmetConditions is not a list/],
    ["a spec that is no mapping", "- s3cret\n", /spec is not a mapping/],
    ["broken YAML", "stage: 's3cret\n", /spec is not valid YAML/],
    ["two documents", "stage: s3cret\n---\nstage: running\n", /spec is not valid YAML/],
    ["aliases", "stage: &a s3cret\nstatus: *a\n", /spec is not valid YAML/],
    ["far too many values", `s3cret: [${"a,".repeat(150_001)}]\n`, /spec is too large/],
    ["a tag", "stage: !!js/function s3cret\n", /spec is not valid YAML/],
  ];
  for (const [name, yaml, text] of MALFORMED) {
    test(`${name} is a malformed reply that quotes no value`, async () => {
      const message = await rejectsWith(specOf(resourceKinds.machineStatus, yaml), "MALFORMED_REPLY");
      assert.match(message, text);
      assert.doesNotMatch(message, /s3cret/);
    });
  }

  test("a reply without a resource is malformed", async () => {
    const { client } = clientOf({ [`${STATE}/Get`]: () => create(cosi.GetResponseSchema) });
    await rejectsWith(client.resources.get(resourceKinds.machineStatus), "MALFORMED_REPLY");
  });
});

test("list gives all, in the machine's order", async () => {
  const { client } = clientOf({
    [`${STATE}/List`]: () =>
      ["sdb", "sda"].map((id) =>
        create(cosi.ListResponseSchema, { resource: resourceOf(resourceKinds.disk, `dev_path: /dev/${id}\nsize: 10\n`, id) }),
      ),
  });
  const disks = await client.resources.list(resourceKinds.disk);
  assert.deepEqual(
    disks.map((disk) => [disk.id, disk.spec.devicePath, disk.spec.sizeBytes]),
    [
      ["sdb", "/dev/sdb", 10],
      ["sda", "/dev/sda", 10],
    ],
  );
  assert.deepEqual(await clientOf({ [`${STATE}/List`]: () => [] }).client.resources.list(resourceKinds.disk), []);
});

describe("watch", () => {
  const replies = (...events: readonly Parameters<typeof create<typeof cosi.EventSchema>>[1][]) => ({
    [`${STATE}/Watch`]: () => [
      create(cosi.WatchResponseSchema),
      ...events.map((event) => create(cosi.WatchResponseSchema, { event: [create(cosi.EventSchema, event)] })),
    ],
  });

  test("of a kind asks for what is there and says when that is all", async () => {
    const { client, channel } = clientOf(
      replies(
        { resource: resourceOf(resourceKinds.service, "running: true\nhealthy: false\nunknown: true\n", "cri") },
        { eventType: cosi.EventType.BOOTSTRAPPED },
        { resource: resourceOf(resourceKinds.service, "running: true\nhealthy: true\n", "cri"), eventType: cosi.EventType.UPDATED },
        { eventType: cosi.EventType.NOOP },
        { resource: resourceOf(resourceKinds.service, "", "cri"), eventType: cosi.EventType.DESTROYED },
        { eventType: cosi.EventType.ERRORED, error: "buffer overrun" },
      ),
    );
    const seen: unknown[] = [];
    for await (const event of client.resources.watch(resourceKinds.service)) {
      seen.push(event.kind === "current" ? [event.resource.id, event.resource.spec] : event);
    }
    assert.deepEqual(seen, [
      ["cri", { isRunning: true, isHealthy: undefined }],
      { kind: "bootstrapped" },
      ["cri", { isRunning: true, isHealthy: true }],
      { kind: "destroyed", id: "cri" },
      { kind: "failed", reason: "buffer overrun" },
    ]);
    const request = channel.calls[0]?.request as cosi.WatchRequest;
    assert.deepEqual([request.id, request.options?.bootstrapContents, request.apiVersion], [undefined, true, 1]);
  });

  test("of a missing id begins with destroyed, without a spec to read", async () => {
    const { client, channel } = clientOf(
      replies({
        resource: create(cosi.ResourceSchema, { metadata: { id: "local", version: "undefined" }, spec: {} }),
        eventType: cosi.EventType.DESTROYED,
      }),
    );
    const seen = [];
    for await (const event of client.resources.watch(resourceKinds.etcdMember)) seen.push(event);
    assert.deepEqual(seen, [{ kind: "destroyed", id: "local" }]);
    const request = channel.calls[0]?.request as cosi.WatchRequest;
    assert.deepEqual([request.id, request.options, request.apiVersion], ["local", undefined, 1]);
  });
});

describe("kinds, as a genuine machine answered them", () => {
  const WANT: Readonly<Record<string, unknown>> = {
    "MachineStatuses.runtime.talos.dev@5": { stage: "maintenance", isReady: true, unmetConditions: [] },
    "MachineStatuses.runtime.talos.dev@7": {
      stage: "booting",
      isReady: false,
      unmetConditions: [
        { name: "services", reason: "kubelet not running, etcd not running" },
        { name: "nodeReady", reason: 'node "n1" status is not available yet' },
      ],
    },
    "MachineTypes.config.talos.dev@2": "controlplane",
    "HostnameStatuses.net.talos.dev@1": { hostname: "n1", domainname: "" },
    "TimeStatuses.v1alpha1.talos.dev@1": { isSynced: true, isSyncDisabled: true },
    "Services.v1alpha1.talos.dev@2": { isRunning: true, isHealthy: true },
    "EtcdMembers.etcd.talos.dev@1": { memberId: "c3d3020cf75b8728" },
  };
  for (const [key, want] of Object.entries(WANT)) {
    test(key, async () => {
      const [type, version] = key.split("@");
      const recorded = RECORDED.find((entry) => entry.metadata.type === type && entry.metadata.version === version);
      const kind = Object.values(resourceKinds).find((candidate) => candidate.type === type);
      assert.ok(recorded !== undefined && kind !== undefined);
      assert.deepEqual(await specOf(kind as ResourceKind<unknown>, recorded.yamlSpec), want);
    });
  }
});

describe("kinds, by the field names of the API facts", () => {
  const CASES: readonly (readonly [string, ResourceKind<unknown>, string, unknown])[] = [
    [
      "an empty machine status is of an unknown stage",
      resourceKinds.machineStatus,
      "",
      { stage: "unknown", isReady: false, unmetConditions: [] },
    ],
    [
      "a stage of a newer Talos is unknown",
      resourceKinds.machineStatus,
      "stage: hibernating\n",
      { stage: "unknown", isReady: false, unmetConditions: [] },
    ],
    ["a machine without a config has an unknown type", resourceKinds.machineType, "unknown\n", "unknown"],
    [
      "a control plane among the members",
      resourceKinds.member,
      "nodeId: abc\naddresses:\n    - 10.5.0.2\nhostname: n1\nmachineType: controlplane\noperatingSystem: Talos (v1.13.9)\ncontrolPlane:\n    port: 6443\n",
      {
        nodeId: "abc",
        addresses: ["10.5.0.2"],
        hostname: "n1",
        machineType: "controlplane",
        operatingSystem: "Talos (v1.13.9)",
        apiServerPort: 6443,
      },
    ],
    [
      "a worker among the members",
      resourceKinds.member,
      "nodeId: abc\naddresses: []\nhostname: n2\nmachineType: worker\noperatingSystem: Talos (v1.13.9)\n",
      {
        nodeId: "abc",
        addresses: [],
        hostname: "n2",
        machineType: "worker",
        operatingSystem: "Talos (v1.13.9)",
        apiServerPort: undefined,
      },
    ],
    ["addresses of a machine", resourceKinds.nodeAddress, "addresses:\n    - 10.5.0.2/24\n", { addresses: ["10.5.0.2/24"] }],
    [
      "a physical link",
      resourceKinds.linkStatus,
      'index: 2\ntype: ether\nlinkIndex: 0\nflags: UP,RUNNING\nhardwareAddr: 02:42:0a:05:00:02\npermanentAddr: 02:42:0a:05:00:02\nmtu: 1500\noperationalState: up\nkind: ""\nbusPath: 0000:00:03.0\nlinkState: true\n',
      {
        type: "ether",
        kind: "",
        hardwareAddress: "02:42:0a:05:00:02",
        permanentAddress: "02:42:0a:05:00:02",
        operationalState: "up",
        hasCarrier: true,
        mtu: 1500,
        busPath: "0000:00:03.0",
      },
    ],
    [
      "a disk",
      resourceKinds.disk,
      "dev_path: /dev/sda\nsize: 6442450944\npretty_size: 6.4 GB\nio_size: 512\nsector_size: 512\nreadonly: false\ncdrom: false\nmodel: QEMU HARDDISK\nserial: abc\ntransport: virtio\nrotational: true\nsymlinks:\n    - /dev/disk/by-id/x\n",
      {
        devicePath: "/dev/sda",
        sizeBytes: 6_442_450_944,
        model: "QEMU HARDDISK",
        serial: "abc",
        wwid: "",
        uuid: "",
        modalias: "",
        busPath: "",
        transport: "virtio",
        isRotational: true,
        isReadonly: false,
        isCdrom: false,
        symlinks: ["/dev/disk/by-id/x"],
      },
    ],
    ["the system disk", resourceKinds.systemDisk, "diskID: sda\ndevPath: /dev/sda\n", { diskId: "sda", devicePath: "/dev/sda" }],
    [
      "what the firmware says",
      resourceKinds.systemInformation,
      "manufacturer: QEMU\nproductName: Standard PC\nserialnumber: abc\nuuid: 4C4C4544-0042-4D10-8053-B4C04F4C4D32\n",
      { manufacturer: "QEMU", productName: "Standard PC", serialNumber: "abc", uuid: "4c4c4544-0042-4d10-8053-b4c04f4c4d32" },
    ],
    [
      "the node's name",
      resourceKinds.nodeName,
      "nodename: n1\nhostnameVersion: 1\nskipNodeRegistration: false\n",
      { nodeName: "n1", skipsRegistration: false },
    ],
    [
      "the node's status",
      resourceKinds.nodeStatus,
      "nodename: n1\nnodeReady: true\nunschedulable: false\nlabels:\n    a: b\nannotations: {}\n",
      { isReady: true, isUnschedulable: false, labels: { a: "b" }, annotations: {} },
    ],
    [
      "a static pod that is ready",
      resourceKinds.staticPodStatus,
      'phase: Running\nconditions:\n    - type: Initialized\n      status: "True"\n    - type: Ready\n      status: "True"\n',
      { isReady: true, podPhase: "Running" },
    ],
    [
      "a static pod that is not ready",
      resourceKinds.staticPodStatus,
      'phase: Pending\nconditions:\n    - type: Ready\n      status: "False"\n',
      { isReady: false, podPhase: "Pending" },
    ],
    [
      "the schematic among the extensions",
      resourceKinds.extensionStatus,
      "image: 0.sqsh\nmetadata:\n    name: schematic\n    version: 376567988ad3\n    author: Image Factory\n",
      { name: "schematic", version: "376567988ad3", author: "Image Factory" },
    ],
    ["the version", resourceKinds.talosVersion, "name: Talos\nversion: v1.13.9\n", { name: "Talos", version: "v1.13.9" }],
    [
      "an address",
      resourceKinds.addressStatus,
      "address: 10.5.0.2/24\nlocal: 10.5.0.2\nlinkIndex: 2\nlinkName: eth0\nfamily: inet4\nscope: global\nflags: permanent\npriority: 0\n",
      { address: "10.5.0.2/24", linkName: "eth0", family: "inet4", scope: "global" },
    ],
    [
      "a default route",
      resourceKinds.routeStatus,
      'family: inet4\ndst: ""\nsrc: ""\ngateway: 10.5.0.1\noutLinkIndex: 2\noutLinkName: eth0\ntable: main\npriority: 1024\n',
      { family: "inet4", destination: "", gateway: "10.5.0.1", linkName: "eth0", priority: 1024, table: "main" },
    ],
    [
      "DNS servers",
      resourceKinds.resolverStatus,
      "dnsServers:\n    - 1.1.1.1\nsearchDomains: []\n",
      { dnsServers: ["1.1.1.1"], searchDomains: [] },
    ],
    ["time servers", resourceKinds.timeServerStatus, "timeServers:\n    - time.cloudflare.com\n", { timeServers: ["time.cloudflare.com"] }],
    [
      "the network",
      resourceKinds.networkStatus,
      "addressReady: true\nconnectivityReady: true\nhostnameReady: false\netcFilesReady: true\n",
      { isAddressReady: true, isConnectivityReady: true, isHostnameReady: false, areEtcFilesReady: true },
    ],
    [
      "a volume",
      resourceKinds.volumeStatus,
      "phase: failed\ntype: partition\nlocation: /dev/sda6\nsize: 100\nfilesystem: xfs\nerrorMessage: no space\n",
      { phase: "failed", type: "partition", location: "/dev/sda6", sizeBytes: 100, filesystem: "xfs", error: "no space" },
    ],
    [
      "a discovered partition",
      resourceKinds.discoveredVolume,
      "dev_path: /dev/sda1\ntype: partition\nparent: sda\nparent_dev_path: /dev/sda\nsize: 100\nname: ext4\nlabel: data\npartition_label: DATA\n",
      {
        devicePath: "/dev/sda1",
        type: "partition",
        parent: "sda",
        parentDevicePath: "/dev/sda",
        sizeBytes: 100,
        content: "ext4",
        label: "data",
        partitionLabel: "DATA",
      },
    ],
    [
      "the platform",
      resourceKinds.platformMetadata,
      "platform: aws\nhostname: n1\nregion: eu\nzone: a\ninstanceType: m5\ninstanceId: i-1\nproviderId: aws://i-1\n",
      { platform: "aws", hostname: "n1", region: "eu", zone: "a", instanceType: "m5", instanceId: "i-1", providerId: "aws://i-1" },
    ],
    [
      "the state of its security",
      resourceKinds.securityState,
      "secureBoot: true\nselinuxState: enforcing\nbootedWithUKI: true\n",
      { isSecureBoot: true, selinux: "enforcing", isBootedWithUki: true },
    ],
    ["a META key", resourceKinds.metaKey, 'value: "{}"\n', { value: "{}" }],
    ["the boot id", resourceKinds.bootId, "bootID: 0f7b\n", { bootId: "0f7b" }],
    [
      "an unattended installation",
      resourceKinds.unattendedInstallStatus,
      "image: x\nphase: failed\nerror: no disk\n",
      { image: "x", phase: "failed", error: "no disk" },
    ],
    ["a trouble", resourceKinds.diagnostic, "message: m\ndetails:\n    - d\n", { message: "m", details: ["d"] }],
    [
      "the schematic of the image",
      resourceKinds.imageFactorySchematic,
      "schematicId: 376567988ad3\nflavor: metal\n",
      { schematicId: "376567988ad3", flavor: "metal" },
    ],
    ["the cluster", resourceKinds.clusterInfo, "clusterId: abc=\nclusterName: alpha\n", { clusterId: "abc=", clusterName: "alpha" }],
    ["an identity", resourceKinds.clusterIdentity, "nodeId: xyz\n", { nodeId: "xyz" }],
    [
      "how etcd is started",
      resourceKinds.etcdSpec,
      "name: n1\nadvertisedAddresses:\n    - 10.5.0.2\nimage: etcd:v3\n",
      { name: "n1", image: "etcd:v3", advertisedAddresses: ["10.5.0.2"], extraArguments: {} },
    ],
    [
      "how etcd is started with arguments of its own",
      resourceKinds.etcdSpec,
      'name: n1\nextraArgs:\n    quota-backend-bytes:\n        values:\n            - "8589934592"\n    snapshot-count:\n        values: []\n',
      { name: "n1", image: "", advertisedAddresses: [], extraArguments: { "quota-backend-bytes": ["8589934592"], "snapshot-count": [] } },
    ],
    [
      "how etcd is started with arguments of its own, by Talos 1.12",
      resourceKinds.etcdSpec,
      'name: n1\nextraArgs:\n    quota-backend-bytes: "8589934592"\n',
      { name: "n1", image: "", advertisedAddresses: [], extraArguments: { "quota-backend-bytes": ["8589934592"] } },
    ],
    ["the API server's image", resourceKinds.apiServerConfig, "image: a:1\nlocalPort: 6443\n", { image: "a:1" }],
    ["the controller manager's image", resourceKinds.controllerManagerConfig, "enabled: true\nimage: c:1\n", { image: "c:1" }],
    ["the scheduler's image", resourceKinds.schedulerConfig, "enabled: true\nimage: s:1\n", { image: "s:1" }],
    [
      "the kubelet that is wanted",
      resourceKinds.kubeletSpec,
      "image: k:1\nexpectedNodename: n1\n",
      { image: "k:1", expectedNodeName: "n1" },
    ],
    ["the kubelet that runs", resourceKinds.kubeletStatus, "image: k:1\n", { image: "k:1" }],
    ["the static pods' files", resourceKinds.staticPodConfigStatus, 'ready: true\nversion: "1"\n', { isReady: true, version: "1" }],
    ["manifests that were applied", resourceKinds.manifestStatus, "manifestsApplied:\n    - a\n", { applied: ["a"] }],
    ["an untyped kind is what the YAML says", untypedKind("Xs.talos.dev", "runtime"), "a: 1\nb: [yes, 0644]\n", { a: 1, b: ["yes", 644] }],
    [
      "keys that JavaScript knows are plain keys",
      resourceKinds.nodeStatus,
      "nodeReady: true\nlabels:\n    __proto__: x\n    constructor: y\n",
      {
        isReady: true,
        isUnschedulable: false,
        labels: Object.fromEntries([
          ["__proto__", "x"],
          ["constructor", "y"],
        ]),
        annotations: {},
      },
    ],
  ];
  for (const [name, kind, yaml, want] of CASES) {
    test(name, async () => assert.deepEqual(await specOf(kind, yaml), want));
  }
});

describe("the machine config", () => {
  const text = "version: v1alpha1 # comment\nmachine:\n    token: s3cret\n---\napiVersion: v1alpha1\nkind: HostnameConfig\n";
  const proto = toBinary(
    configDefinitions.MachineConfigSpecSchema,
    create(configDefinitions.MachineConfigSpecSchema, { yamlMarshalled: new TextEncoder().encode(text) }),
  );

  test("is the text itself in all forms that Talos has used", async () => {
    assert.equal((await specOf(resourceKinds.machineConfig, JSON.stringify(text), proto)).reveal(), text);
    assert.equal((await specOf(resourceKinds.machineConfig, text)).reveal(), text, "bare text (up to 1.11)");
    assert.equal((await specOf(resourceKinds.machineConfig, JSON.stringify(text))).reveal(), text, "a YAML string (from 1.12)");
  });

  test("prints as a placeholder wherever it may be printed", async () => {
    const config = await specOf(resourceKinds.machineConfig, text);
    for (const printed of [JSON.stringify({ config }), String(config), inspect({ config }, { showHidden: true, depth: 9 })]) {
      assert.doesNotMatch(printed, /s3cret/);
    }
  });

  test("broken bytes are a malformed reply", async () => {
    await rejectsWith(specOf(resourceKinds.machineConfig, "", new Uint8Array([0x0a, 0x7f])), "MALFORMED_REPLY");
  });
});
