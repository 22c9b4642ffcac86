import assert from "node:assert/strict";
import { test } from "node:test";
import { upgradePendingOf } from "./upgrade-pending.ts";
import type { VersionsSeen } from "./upgrade-pending.ts";

const cases: readonly { readonly name: string; readonly seen: VersionsSeen; readonly reason?: string; readonly says?: RegExp }[] = [
  { name: "nothing is pending while everything runs", seen: { machines: [] } },
  {
    name: "both versions of Talos are named, machines with the same two together",
    seen: {
      machines: [
        { name: "a", runs: "v1.13.8", asked: "v1.13.9" },
        { name: "b", runs: "v1.13.8", asked: "v1.13.9" },
        { name: "c", runs: "v1.13.7", asked: "v1.13.9" },
      ],
    },
    reason: "VersionDiffers",
    says: /^a, b run Talos v1\.13\.8, the spec asks for v1\.13\.9; c runs Talos v1\.13\.7, the spec asks for v1\.13\.9\.$/,
  },
  {
    name: "what is done about another Talos is told with it, and gives the reason",
    seen: { machines: [{ name: "a", runs: "v1.13.8", asked: "v1.13.9" }], step: { reason: "Upgrading", says: "a boots Talos v1.13.9." } },
    reason: "Upgrading",
    says: /^a runs Talos v1\.13\.8, the spec asks for v1\.13\.9\. a boots Talos v1\.13\.9\.$/,
  },
  {
    name: "what failed comes first, and no way is shown that nobody goes",
    seen: {
      machines: [{ name: "a", runs: "v1.13.8", asked: "v1.13.9" }],
      way: "in 1 hop: Talos v1.13.8 → v1.13.9",
      step: { reason: "VersionFailed", says: "Talos v1.13.9 failed on a." },
    },
    reason: "VersionFailed",
    says: /^Talos v1\.13\.9 failed on a\. a runs Talos v1\.13\.8, the spec asks for v1\.13\.9\.$/,
  },
  {
    name: "what is proved is told once",
    seen: {
      machines: [{ name: "b", runs: "v1.13.8", asked: "v1.13.9" }],
      proving: ["a"],
      step: { reason: "Upgrading", says: "a runs Talos v1.13.9 and is watched for its bake time." },
    },
    reason: "Upgrading",
    says: /^b runs Talos v1\.13\.8, the spec asks for v1\.13\.9\. a runs Talos v1\.13\.9 and is watched for its bake time\.$/,
  },
  {
    name: "the last one that is proved is told by what is done about it alone",
    seen: { machines: [], proving: ["a"], step: { reason: "Upgrading", says: "a runs Talos v1.13.9 and is watched for its bake time." } },
    reason: "Upgrading",
    says: /^a runs Talos v1\.13\.9 and is watched for its bake time\.$/,
  },
  {
    name: "where nobody says what is done, what is proved is told all the same",
    seen: { machines: [], proving: ["a"] },
    reason: "ImageDiffers",
    says: /^a shows what the spec asks for/,
  },
  {
    name: "a downgrade of Talos is named as that, with the annotation it needs",
    seen: { machines: [{ name: "a", runs: "v1.13.9", asked: "v1.12.4" }] },
    reason: "DowngradeAsked",
    says: /v1\.12\.4 \(a downgrade\)\..*talos-operator\.dev\/allow-downgrade: v1\.12\.4/,
  },
  {
    name: "a downgrade of Kubernetes is, too",
    seen: { machines: [], kubernetes: { runs: "v1.36.3", asked: "v1.36.1" } },
    reason: "DowngradeAsked",
    says: /^Kubernetes runs v1\.36\.3, the spec asks for v1\.36\.1 \(a downgrade\)\..*allow-downgrade: v1\.36\.1/,
  },
  {
    name: "but nobody is told to allow a minor back, for nobody can",
    seen: { machines: [], kubernetes: { runs: "v1.36.3", asked: "v1.35.0" }, way: "no way leads there" },
    reason: "DowngradeAsked",
    says: /^Kubernetes runs v1\.36\.3, the spec asks for v1\.35\.0 \(a downgrade\)\. No way leads there\. Kubernetes keeps what it runs: its upgrades are not supported yet\.$/,
  },
  {
    name: "a pre-release comes before its release",
    seen: { machines: [{ name: "a", runs: "v1.14.0", asked: "v1.14.0-beta.1" }] },
    reason: "DowngradeAsked",
  },
  {
    name: "a pool that asks for another Kubernetes than its control plane is told who decides, and it is no downgrade",
    seen: { machines: [], kubernetes: { runs: "v1.36.3", asked: "v1.35.1", isOverruled: true } },
    reason: "ControlPlaneDecides",
    says: /the kubeVersion of the TalosControlPlane decides for every pool/,
  },
  {
    name: "an image alone is no version",
    seen: { machines: [], images: ["a: installed from x, the spec asks for y"] },
    reason: "ImageDiffers",
  },
  {
    name: "a container with another Talos is told of, and what a person does: nobody upgrades it",
    seen: { machines: [], containers: [{ name: "a", runs: "v1.13.9", asked: "v1.13.8" }] },
    reason: "VersionDiffers",
    says: /^a runs Talos v1\.13\.9 in a container, the spec asks for v1\.13\.8\. A container keeps the Talos of its image: recreate it from the image /,
  },
  { name: "a version of a component is one", seen: { machines: [], components: ["a: kube-proxy v1 runs"] }, reason: "VersionDiffers" },
];

for (const { name, seen, reason, says } of cases) {
  test(`upgrade pending: ${name}`, () => {
    const [condition] = upgradePendingOf(seen, 7);
    assert.equal(condition?.reason, reason);
    if (condition !== undefined) assert.equal(condition.observedGeneration, 7);
    if (says !== undefined) assert.match(condition?.message ?? "", says);
  });
}
