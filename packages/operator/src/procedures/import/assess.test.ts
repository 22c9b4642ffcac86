import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assess } from "../../assess/assess.ts";
import { controlPlane, member, observed, running } from "../../testing/builders.ts";
import { assessImport } from "./assess.ts";
import type { Look } from "../../model/look.ts";
import type { FoundBundle, MachineReading, SeenAdoption } from "../../model/adoption.ts";

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
  kubernetesVersion: "v1.36.3",
  installDisk: "/dev/sda",
  hasKeysOfBundle: true,
  changes: [],
};

interface Given {
  readonly reading?: Partial<MachineReading> | string;
  readonly look?: Look;
  readonly places?: readonly FoundBundle[] | undefined;
}

/** One control plane that runs, and what is known of it. */
function verify({ reading = {}, look = running(member(0, 1)), ...given }: Given): ReturnType<typeof assessImport> {
  const seen = observed({ controlPlane: controlPlane(1), looks: { "10.0.0.1": look } });
  const adoption: SeenAdoption = {
    isAsked: true,
    places: "places" in given ? given.places : [place],
    readings: new Map([["demo-10.0.0.1", typeof reading === "string" ? reading : { ...whole, ...reading }]]),
  };
  return assessImport(assess(seen), adoption);
}

describe("an import", () => {
  test("is verified when keys, machine and spec fit together", () => assert.equal(verify({}).kind, "verified"));

  test("waits while another machine answers than the one whose configuration was read", () => {
    const hardware = { uuid: "another", macs: [] } as const;
    const state = verify({ look: running(member(0, 1), { hardware }) });
    assert.match(state.kind === "verifying" ? state.pending.join() : state.kind, /another machine answers at 10\.0\.0\.1/);
  });

  test("is verified where the machine has no UUID, as a container has none", () => {
    const hardware = { uuid: undefined, macs: [] } as const;
    assert.equal(verify({ look: running(member(0, 1), { hardware }), reading: { uuid: "" } }).kind, "verified");
  });

  test("is refused while two control planes stand at each other's addresses", () => {
    const looks = { "10.0.0.1": running(member(1, 3)), "10.0.0.2": running(member(0, 3)), "10.0.0.3": running(member(2, 3)) };
    const seen = observed({ controlPlane: controlPlane(3), looks });
    const readings = new Map(Object.keys(looks).map((address) => [`demo-${address}`, whole]));
    const state = assessImport(assess(seen), { isAsked: true, places: [place], readings });
    assert.match(
      state.kind === "refused" ? state.blockers.join("\n") : state.kind,
      /What answers at 10\.0\.0\.1 is the member that etcd knows at 10\.0\.0\.2.*\n.*at 10\.0\.0\.2 is the member that etcd knows at 10\.0\.0\.1/,
    );
  });

  for (const [what, given, says] of [
    ["a machine of another kind", { reading: { machineType: "worker" } }, /runs as worker and is listed as controlplane/],
    ["a machine of another cluster", { reading: { clusterId: "another" } }, /configured with other keys/],
    ["a machine with other keys", { reading: { hasKeysOfBundle: false } }, /configured with other keys/],
    ["another endpoint", { reading: { endpoint: "https://10.0.0.99:6443" } }, /spec\.endpoint/],
    ["other networks", { reading: { podSubnets: ["10.0.0.0/8"] } }, /spec\.podCIDR/],
    ["etcd without its other members", { look: running(member(0, 3)) }, /no machine in the list shows it/],
    ["keys that nobody left", { places: [] }, /were not found: neither Secret [a-z0-9]+-state, [a-z0-9]+-bundle-1 nor/],
    ["keys that differ", { places: [place, { ...place, source: "status.secretBundle", fingerprint: "g" }] }, /different keys/],
    ["keys that are not whole", { places: [{ ...place, problem: "it is no whole bundle" }] }, /no whole bundle/],
  ] as const satisfies readonly (readonly [string, Given, RegExp])[])
    test(`is refused with ${what}`, () => {
      const state = verify(given);
      assert.equal(state.kind, "refused");
      assert.match(state.kind === "refused" ? state.blockers.join(" ") : "", says);
    });

  for (const [what, given] of [
    ["the machine was not read", { reading: "not read yet" }],
    ["the places cannot be read", { places: undefined }],
    ["the machine was not asked", { look: { kind: "not-asked" } }],
  ] as const satisfies readonly (readonly [string, Given])[])
    test(`is not decided while ${what}`, () => assert.equal(verify(given).kind, "verifying"));
});
