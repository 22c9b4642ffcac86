import assert from "node:assert/strict";
import { test } from "node:test";
import { controlPlane, member, observed, running, silent } from "../../testing/builders.ts";
import { importSources } from "./import-sources.ts";
import type { Look } from "../../model/look.ts";
import type { FoundBundle, MachineReading } from "../../model/adoption.ts";

const place: FoundBundle = { source: "Secret demo-state", fingerprint: "f", clusterId: "id" };
const whole: MachineReading = {
  uuid: "uuid",
  machineType: "controlplane",
  clusterId: "id",
  clusterName: "demo",
  endpoint: "https://10.0.0.100:6443",
  dnsDomain: "cluster.local",
  podSubnets: ["10.244.0.0/16"],
  serviceSubnets: ["10.96.0.0/12"],
  kubernetesVersion: "v1.36.2",
  installDisk: "/dev/sda",
  hasKeysOfBundle: true,
  changes: [],
};
const well = { "10.0.0.1": running(member(0, 3)), "10.0.0.2": running(member(1, 3)), "10.0.0.3": running(member(2, 3)) };

interface Given {
  readonly looks?: Readonly<Record<string, Look>>;
  /** Of the second machine. */
  readonly reading?: Partial<MachineReading> | string;
  readonly places?: readonly FoundBundle[] | undefined;
}

/** Three control planes, and what is known of them. */
function sources({ looks = {}, reading = {}, ...given }: Given): ReturnType<typeof importSources> {
  const seen = observed({ controlPlane: controlPlane(3), looks: { ...well, ...looks } });
  const places = "places" in given ? given.places : [place];
  const machines = seen.machines.map(({ declared, look }) => ({
    declared,
    look,
    reading: declared.address !== "10.0.0.2" ? whole : typeof reading === "string" ? reading : { ...whole, ...reading },
  }));
  return importSources(seen.controlPlane, { places }, machines);
}

const voters = (given: Given): readonly string[] => {
  const found = sources(given);
  return typeof found === "object" && "voters" in found ? found.voters.map(({ machine }) => machine) : [];
};

test("a cluster of others is backed up from control planes that hold the keys which were found, the leader last", () => {
  const found = sources({});
  assert.ok(typeof found === "object" && "voters" in found);
  assert.deepEqual(
    [
      found.clusterId,
      found.foundKeys,
      found.talosVersion,
      found.kubernetesVersion,
      found.voters.map(({ machine }) => machine),
      found.others,
    ],
    ["id", "f", "v1.13.9", "v1.36.2", ["demo-10.0.0.2", "demo-10.0.0.3", "demo-10.0.0.1"], []],
  );
});

for (const [what, given] of [
  ["holds other keys", { reading: { hasKeysOfBundle: false } }],
  ["belongs to another cluster", { reading: { clusterId: "another" } }],
  ["runs as a worker", { reading: { machineType: "worker" } }],
  ["was not read yet", { reading: "not read yet" }],
  [
    "is another machine than the one that was read",
    { looks: { "10.0.0.2": running(member(1, 3), { hardware: { uuid: "b", macs: [] } }) } },
  ],
  ["is silent", { looks: { "10.0.0.2": silent } }],
  ["has an alarm", { looks: { "10.0.0.2": running({ ...member(1, 3), alarms: ["CORRUPT"] }) } }],
] as const satisfies readonly (readonly [string, Given])[])
  test(`a control plane is no source while its import is pending that ${what}`, () => {
    const found = sources(given);
    assert.deepEqual(voters(given), ["demo-10.0.0.3", "demo-10.0.0.1"]);
    assert.deepEqual(typeof found === "object" && "others" in found ? found.others : [], ["demo-10.0.0.2"]);
  });

test("where the keys are not found, or differ, nobody is asked, and why is told", () => {
  const whyOf = (places: readonly FoundBundle[]): string => {
    const found = sources({ places });
    return typeof found === "object" && "why" in found ? found.why : "";
  };
  assert.match(whyOf([]), /were not found/);
  assert.match(whyOf([place, { ...place, source: "status.secretBundle", fingerprint: "g" }]), /hold different keys/);
  assert.match(whyOf([{ ...place, problem: "it is no whole bundle" }]), /no whole bundle/);
  assert.equal(sources({ places: undefined }), "not-looked");
});
