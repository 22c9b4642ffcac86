import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bringsNetwork } from "./pod-network.ts";
import type { NetworkedPod } from "./pod-network.ts";

const daemon = { ownerReferences: [{ kind: "DaemonSet", controller: true }] };
const at = (path: string, hostNetwork = true): NonNullable<NetworkedPod["spec"]> => ({
  hostNetwork,
  volumes: [{}, { hostPath: { path } }],
});

const cases: readonly (readonly [string, NetworkedPod, boolean])[] = [
  ["a daemon that writes the configuration of a plugin", { metadata: daemon, spec: at("/etc/cni/net.d") }, true],
  ["one that installs the programs, with a slash at the end", { metadata: daemon, spec: at("/opt/cni/bin/") }, true],
  ["one that is not on the host's network", { metadata: daemon, spec: at("/etc/cni/net.d", false) }, false],
  ["one with other folders of the host", { metadata: daemon, spec: at("/etc/cni/net.d.old") }, false],
  ["a pod of nobody", { metadata: {}, spec: at("/etc/cni/net.d") }, false],
  ["a pod of a Job", { metadata: { ownerReferences: [{ kind: "Job", controller: true }] }, spec: at("/etc/cni/net.d") }, false],
  [
    "a daemon that has the DaemonSet as another owner",
    { metadata: { ownerReferences: [{ kind: "DaemonSet" }] }, spec: at("/etc/cni/net.d") },
    false,
  ],
  ["a daemon without volumes", { metadata: daemon, spec: { hostNetwork: true } }, false],
];

describe("what brings a Node its network", () => {
  for (const [name, pod, wanted] of cases) it(`${wanted ? "" : "not "}${name}`, () => assert.equal(bringsNetwork(pod), wanted));
});
