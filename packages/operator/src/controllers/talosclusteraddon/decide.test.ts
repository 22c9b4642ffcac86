import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, labels, rfc3339 } from "@talos-operator/api";
import type {
  Condition,
  HelmSpec,
  ManifestsSpec,
  ReadyReason,
  TalosCluster,
  TalosClusterAddon,
  TalosClusterAddonRelease,
  TalosControlPlane,
} from "@talos-operator/api";
import { releaseFor } from "./compose.ts";
import { decideAddon } from "./decide.ts";
import type { AddonDecision } from "./decide.ts";
import type { AddonSeen } from "./seen.ts";
import { clustersOf } from "./selection.ts";

const API = "talos.alperen.cloud/v1alpha1" as const;
const DAY_MS = 86_400_000;
const cilium: HelmSpec = { chartName: "cilium", repoURL: "https://helm.cilium.io", releaseName: "cilium", namespace: "kube-system" };
const csi: HelmSpec = { ...cilium, chartName: "csi", releaseName: "csi" };
const production = { matchLabels: { env: "production" } };

type Metadata = Partial<TalosClusterAddon["metadata"]>;

function addon(over: Partial<TalosClusterAddon["spec"]> = {}, metadata: Metadata = {}): TalosClusterAddon {
  return {
    apiVersion: API,
    kind: "TalosClusterAddon",
    metadata: { namespace: "default", name: "cni", uid: "addon-1", generation: 2, creationTimestamp: rfc3339(DAY_MS), ...metadata },
    spec: { clusterSelector: production, helmSpec: cilium, ...over },
  };
}

function controlPlane(name: string, env?: string, metadata: Metadata = {}): TalosControlPlane {
  return {
    apiVersion: API,
    kind: "TalosControlPlane",
    metadata: { namespace: "default", name, uid: `cp-${name}`, ...(env === undefined ? {} : { labels: { env } }), ...metadata },
    spec: { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal" },
  };
}

function talosCluster(name: string, env: string, controlPlaneRef?: string): TalosCluster {
  return {
    apiVersion: API,
    kind: "TalosCluster",
    metadata: { namespace: "default", name, uid: `tc-${name}`, labels: { env } },
    ...(controlPlaneRef === undefined ? {} : { spec: { controlPlaneRef: { name: controlPlaneRef } } }),
  };
}

/** As a pass makes it; with a server's bookkeeping. */
function made(by: TalosClusterAddon, on: TalosControlPlane, metadata: Metadata = {}, over: Partial<TalosClusterAddonRelease> = {}) {
  const release = releaseFor(by, on, undefined);
  return {
    ...release,
    ...over,
    metadata: {
      ...release.metadata,
      uid: `r-${release.metadata.name}`,
      generation: 1,
      creationTimestamp: rfc3339(2 * DAY_MS),
      ...metadata,
    },
  };
}

const condition = (type: string, status: Condition["status"], reason: string, message = "m"): Condition => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: rfc3339(0),
});
const installed = { conditions: [condition("Ready", "True", "Installed")], observedGeneration: 1 };

/** As the operator that published these kinds makes it: owner, and neither label nor kind of the cluster. */
function published(by: TalosClusterAddon, on: TalosControlPlane): TalosClusterAddonRelease {
  return {
    apiVersion: API,
    kind: "TalosClusterAddonRelease",
    metadata: {
      namespace: "default",
      name: `${on.metadata.name}-${by.metadata.name}-addonrelease`,
      uid: `p-${on.metadata.name}`,
      ownerReferences: [
        {
          apiVersion: API,
          kind: "TalosClusterAddon",
          name: by.metadata.name,
          uid: by.metadata.uid ?? "",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: { clusterRef: { name: on.metadata.name, namespace: "default" }, helmSpec: cilium },
  };
}

interface World {
  readonly addon?: TalosClusterAddon;
  readonly controlPlanes?: readonly TalosControlPlane[];
  readonly talosClusters?: readonly TalosCluster[];
  readonly releases?: readonly TalosClusterAddonRelease[];
  readonly others?: readonly TalosClusterAddon[];
  readonly namespaces?: AddonSeen["namespaces"];
  readonly problems?: AddonSeen["problems"];
}

function decide(world: World): AddonDecision {
  const one = world.addon ?? addon();
  return decideAddon({
    addon: one,
    problems: world.problems ?? [],
    clusters: clustersOf(world.controlPlanes ?? [], world.talosClusters ?? []),
    releases: world.releases ?? [],
    addons: [one, ...(world.others ?? [])],
    namespaces: world.namespaces ?? new Map(),
  });
}

const created = ({ create }: AddonDecision): readonly string[] =>
  create.map(({ controlPlane: { metadata } }) => `${metadata.namespace ?? ""}/${metadata.name}`);
const removed = ({ remove }: AddonDecision): readonly string[] => remove.map(({ release, why }) => `${release.metadata.name} ${why}`);
const ready = ({ conditions }: AddonDecision): ReadyReason | undefined =>
  conditions.find(({ type }) => type === "Ready")?.reason as ReadyReason | undefined;
const message = ({ conditions }: AddonDecision, type = "Ready"): string => conditions.find((one) => one.type === type)?.message ?? "";
const touched = ({ create, fit, mark, remove }: AddonDecision): number => create.length + fit.length + mark.length + remove.length;

describe("which clusters an addon selects", () => {
  const a = controlPlane("a", "production");
  const b = controlPlane("b", "test");

  test("those whose TalosControlPlane has the labels, and no other", () => {
    assert.deepEqual(created(decide({ controlPlanes: [a, b] })), ["default/a"]);
  });

  test("those whose TalosCluster has them: by the one that names the control plane, and by the one that made it", () => {
    const owned = controlPlane("made", undefined, {
      ownerReferences: [{ apiVersion: API, kind: "TalosCluster", name: "made", uid: "tc-made", controller: true }],
    });
    const decision = decide({
      controlPlanes: [b, owned],
      talosClusters: [talosCluster("t", "production", "b"), talosCluster("made", "production")],
    });
    assert.deepEqual(created(decision), ["default/b", "default/made"]);
  });

  test("one release where both match", () => {
    const decision = decide({ controlPlanes: [a], talosClusters: [talosCluster("t", "production", "a")] });
    assert.deepEqual(created(decision), ["default/a"]);
    assert.equal(decision.fields.clusters, 1);
  });

  test("what is excluded is met by none of the cluster's labels", () => {
    const selector = { matchExpressions: [{ key: "env", operator: "NotIn", values: ["production"] }] };
    const decision = decide({
      addon: addon({ clusterSelector: selector }),
      controlPlanes: [controlPlane("plain"), controlPlane("c", "test")],
      talosClusters: [talosCluster("t", "production", "c")],
    });
    assert.deepEqual(created(decision), ["default/plain"]);
  });

  for (const [operator, values, expected] of [
    ["In", ["test"], ["default/b"]],
    ["NotIn", ["test"], ["default/a", "default/none"]],
    ["Exists", [], ["default/a", "default/b"]],
    ["DoesNotExist", [], ["default/none"]],
  ] as const)
    test(operator, () => {
      const selector = { matchExpressions: [{ key: "env", operator, values }] };
      const decision = decide({ addon: addon({ clusterSelector: selector }), controlPlanes: [a, b, controlPlane("none")] });
      assert.deepEqual(created(decision), expected);
    });

  test("one that is being deleted gets nothing any more, and what it has stays as it is", () => {
    const going = controlPlane("a", "production", { deletionTimestamp: rfc3339(DAY_MS) });
    assert.deepEqual(created(decide({ controlPlanes: [going] })), []);
    assert.equal(touched(decide({ addon: addon({ onDeselect: "uninstall" }), controlPlanes: [going], releases: [made(addon(), a)] })), 0);
  });

  for (const selector of [
    { matchExpressions: [{ key: "env", operator: "in", values: ["x"] }] },
    { matchExpressions: [{ key: "env", operator: "In" }] },
    { matchExpressions: [{ key: "env", operator: "Exists", values: ["x"] }] },
    { matchExpressions: [{ key: "", operator: "Exists" }] },
  ])
    test(`a selector that cannot be understood touches nothing: ${JSON.stringify(selector)}`, () => {
      const decision = decide({
        addon: addon({ clusterSelector: selector, onDeselect: "uninstall" }),
        controlPlanes: [a, b],
        releases: [made(addon(), a)],
      });
      assert.equal(ready(decision), "ListClustersFailed");
      assert.equal(touched(decision), 0);
    });
});

describe("clusters of other namespaces", () => {
  const far = controlPlane("a", "production", { namespace: "tenant" });
  const granting = (value: string): AddonSeen["namespaces"] => new Map([["tenant", { [annotations.addonsFrom]: value }]]);

  for (const [value, counts] of [
    ["default", true],
    ["other, default", true],
    ["*", true],
    ["", false],
    ["defaults", false],
    ["other", false],
  ] as const)
    test(`addons-from ${JSON.stringify(value)}: ${counts ? "counts" : "does not count"}`, () => {
      const decision = decide({ controlPlanes: [far], namespaces: granting(value) });
      assert.deepEqual(created(decision), counts ? ["tenant/a"] : []);
      assert.equal(ready(decision), counts ? "ReleasesNotReady" : "NoClusterSelected");
    });

  test("the release there has no owner reference, for an owner is in the same namespace", () => {
    assert.equal(releaseFor(addon(), far, undefined).metadata.ownerReferences, undefined);
    assert.equal(releaseFor(addon(), controlPlane("a"), undefined).metadata.ownerReferences?.[0]?.uid, "addon-1");
  });

  test("nothing is applied there that would read its ConfigMaps, and texts are", () => {
    const setOf = (sources: ManifestsSpec["sources"]): TalosClusterAddon => {
      const { helmSpec: _chart, ...spec } = addon().spec;
      return { ...addon(), spec: { ...spec, manifests: { sources } } };
    };
    const near = controlPlane("near", "production");
    const seen = { controlPlanes: [far, near], namespaces: granting("*") };
    const reads = decide({ ...seen, addon: setOf([{ configMapRef: { name: "set" } }]) });
    assert.deepEqual([created(reads), ready(reads)], [["default/near"], "ReferencesNotShared"]);
    assert.equal(created(decide({ ...seen, addon: setOf([{ inline: "a: b" }]) })).length, 2);
  });

  for (const helmSpec of [
    { ...cilium, credentials: { key: "password", secret: { name: "s" } } },
    { ...cilium, tlsConfig: { caSecret: { name: "s" } } },
    { ...cilium, valuesFrom: [{ kind: "Secret" as const, name: "s" }] },
  ])
    test(`nothing is installed there that would read its Secrets: ${Object.keys(helmSpec).at(-1) ?? ""}`, () => {
      const near = controlPlane("near", "production");
      const decision = decide({ addon: addon({ helmSpec }), controlPlanes: [far, near], namespaces: granting("*") });
      assert.deepEqual(created(decision), ["default/near"]);
      assert.equal(ready(decision), "ReferencesNotShared");
      assert.match(message(decision), /tenant\/a is in another namespace/);
      assert.equal(decision.fields.failed, 1);
    });

  test("a grant that is taken back is no word to uninstall, unless the addon says so", () => {
    const release = made(addon(), far);
    const kept = decide({ controlPlanes: [far], releases: [release] });
    assert.deepEqual(kept.mark, [release]);
    assert.deepEqual(removed(kept), []);
    const gone = decide({ addon: addon({ onDeselect: "uninstall" }), controlPlanes: [far], releases: [release] });
    assert.deepEqual(removed(gone), ["a-cni-addonrelease deselected"]);
  });
});

describe("an empty selector", () => {
  const a = controlPlane("a", "production");
  for (const clusterSelector of [undefined, {}, { matchLabels: {} }, { matchExpressions: [] }])
    test(`W31: selects nothing and says so: ${JSON.stringify(clusterSelector)}`, () => {
      const { clusterSelector: _none, ...spec } = addon().spec;
      const empty = { ...addon(), spec: { ...spec, ...(clusterSelector === undefined ? {} : { clusterSelector }) } };
      const decision = decide({ addon: empty, controlPlanes: [a] });
      assert.equal(touched(decision), 0);
      assert.equal(ready(decision), "NoClusterSelected");
      assert.match(message(decision), /empty/);
    });

  test("keeps what the published operator made, adopts it, and makes none beside it", () => {
    const one = addon({ clusterSelector: {}, onDeselect: "uninstall" });
    const old = published(one, a);
    const decision = decide({ addon: one, controlPlanes: [a, controlPlane("b")], releases: [old] });
    assert.deepEqual(
      decision.fit.map(({ release }) => release),
      [old],
    );
    assert.equal(touched(decision), 1);
    const adopted = releaseFor(one, a, old);
    assert.equal(adopted.metadata.labels?.[labels.addon], "default.cni");
    assert.equal(adopted.metadata.annotations?.[annotations.addonAdopted], "published");
    const later = decide({ addon: one, controlPlanes: [a], releases: [adopted] });
    assert.equal(touched(later), 0);
    assert.equal(later.fields.clusters, 1);
  });

  test("lets go of what was selected by labels before", () => {
    const decision = decide({ addon: addon({ clusterSelector: {} }), controlPlanes: [a], releases: [made(addon(), a)] });
    assert.equal(decision.mark.length, 1);
    assert.equal(decision.fields.notSelected, 1);
  });
});

describe("whose a release is", () => {
  const a = controlPlane("a", "production");
  const b = controlPlane("b", "test");

  test("W12: releases of other addons are never touched, whatever they select", () => {
    const other = addon({ clusterSelector: { matchLabels: { env: "test" } }, helmSpec: csi }, { name: "csi", uid: "addon-2" });
    const old = published(addon({}, { name: "old", uid: "addon-3" }), b);
    const theirs = [made(other, b), made(other, a), old];
    const decision = decide({ addon: addon({ onDeselect: "uninstall" }), controlPlanes: [a, b], releases: theirs, others: [other] });
    assert.deepEqual(created(decision), ["default/a"]);
    assert.equal(touched(decision), 1);
  });

  test("one that is settled costs no write", () => {
    const decision = decide({ controlPlanes: [a], releases: [made(addon(), a, {}, { status: installed })] });
    assert.equal(touched(decision), 0);
    assert.equal(ready(decision), "Reconciled");
    assert.deepEqual(decision.fields, { clusters: 1, ready: 1, failed: 0, notSelected: 0 });
  });

  test("an edit of the addon reaches it, and an edit of the release by hand is put right", () => {
    const edited = decide({
      addon: addon({ helmSpec: { ...cilium, version: "1.18.2" } }),
      controlPlanes: [a],
      releases: [made(addon(), a)],
    });
    assert.equal(edited.fit.length, 1);
    const release = made(addon(), a);
    for (const clusterRef of [{ name: "b" }, { name: "nowhere" }, { name: "a", namespace: "other" }]) {
      const decision = decide({ controlPlanes: [a, b], releases: [{ ...release, spec: { ...release.spec, clusterRef } }] });
      assert.equal(decision.fit.length, 1, JSON.stringify(clusterRef));
      assert.equal(touched(decision), 1, JSON.stringify(clusterRef));
    }
  });

  test("that of an earlier addon of the same name is taken over", () => {
    const decision = decide({ controlPlanes: [a], releases: [made(addon({}, { uid: "addon-0" }), a, { ownerReferences: [] })] });
    assert.equal(decision.fit.length, 1);
    const [owner] = releaseFor(addon(), a, decision.fit[0]?.release).metadata.ownerReferences ?? [];
    assert.equal(owner?.uid, "addon-1");
  });

  test("one that a person made by the published name is adopted when it is the same chart and release", () => {
    const byHand = { ...published(addon(), a), metadata: { namespace: "default", name: "a-cni-addonrelease", uid: "h" } };
    assert.equal(decide({ controlPlanes: [a], releases: [byHand] }).fit.length, 1);
  });

  for (const [what, spec] of [
    ["another chart", { clusterRef: { name: "a" }, helmSpec: { ...cilium, chartName: "calico" } }],
    ["another release", { clusterRef: { name: "a" }, helmSpec: { ...cilium, releaseName: "net" } }],
    ["another cluster", { clusterRef: { name: "b" }, helmSpec: cilium }],
  ] as const)
    test(`one that a person made by that name with ${what} is left alone, and the addon says so`, () => {
      const byHand = { ...made(addon(), a), metadata: { namespace: "default", name: "a-cni-addonrelease", uid: "h" }, spec };
      const decision = decide({ controlPlanes: [a, b], releases: [byHand] });
      assert.equal(touched(decision), 0);
      assert.equal(ready(decision), "CreateOrUpdateReleaseFailed");
      assert.equal(decision.fields.failed, 1);
    });

  test("names that meet: the cluster x-y with the addon z, and x with y-z", () => {
    const z = addon({}, { name: "z", uid: "addon-z" });
    const yz = addon({}, { name: "y-z", uid: "addon-yz" });
    const [x, xy] = [controlPlane("x", "production"), controlPlane("x-y", "production")];
    const decision = decide({ addon: yz, controlPlanes: [x, xy], releases: [made(z, xy)], others: [z] });
    assert.deepEqual(created(decision), []);
    assert.equal(ready(decision), "CreateOrUpdateReleaseFailed");
  });
});

describe("clusters that are not selected any more, or gone", () => {
  const a = controlPlane("a", "test");
  const release = made(addon(), controlPlane("a", "production"));

  test("the release stays and is marked once", () => {
    const decision = decide({ controlPlanes: [a], releases: [release] });
    assert.deepEqual(decision.mark, [release]);
    assert.deepEqual(decision.fields, { clusters: 0, ready: 0, failed: 0, notSelected: 1 });
    const marked = {
      ...release,
      metadata: { ...release.metadata, annotations: { ...release.metadata.annotations, [annotations.addonNotSelected]: "true" } },
    };
    assert.equal(touched(decide({ controlPlanes: [a], releases: [marked] })), 0);
    const back = decide({ controlPlanes: [controlPlane("a", "production")], releases: [marked] });
    assert.equal(back.fit.length, 1);
    assert.equal(releaseFor(addon(), a, marked).metadata.annotations?.[annotations.addonNotSelected], undefined);
  });

  test("onDeselect: uninstall removes it", () => {
    const decision = decide({ addon: addon({ onDeselect: "uninstall" }), controlPlanes: [a], releases: [release] });
    assert.deepEqual(removed(decision), ["a-cni-addonrelease deselected"]);
  });

  test("W31: the release of a cluster that is gone is let go, even while the addon cannot be carried out", () => {
    assert.deepEqual(removed(decide({ releases: [release] })), ["a-cni-addonrelease cluster-gone"]);
    const problems = [{ field: "spec", message: "m", remedy: "r", reason: "SpecRefused" as const }];
    assert.deepEqual(removed(decide({ releases: [release], problems })), ["a-cni-addonrelease cluster-gone"]);
  });

  test("another cluster of the same name gets a release of its own, once that of the earlier one is gone", () => {
    const anew = controlPlane("a", "production", { uid: "cp-a-2" });
    const first = decide({ controlPlanes: [anew], releases: [release] });
    assert.deepEqual(removed(first), ["a-cni-addonrelease cluster-gone"]);
    assert.deepEqual(created(first), []);
    const going = { ...release, metadata: { ...release.metadata, deletionTimestamp: rfc3339(DAY_MS) } };
    assert.equal(touched(decide({ controlPlanes: [anew], releases: [going] })), 0);
    assert.deepEqual(created(decide({ controlPlanes: [anew] })), ["default/a"]);
  });
});

describe("two that ask for one Helm release on a cluster", () => {
  const a = controlPlane("a", "production");
  const far = controlPlane("far", "production", { namespace: "tenant" });
  const older = addon({}, { name: "old", uid: "addon-0", creationTimestamp: rfc3339(0) });
  const disputed = (decision: AddonDecision): string => message(decision, "ReleaseDisputed");

  test("the younger addon is refused, and both hear of it", () => {
    const younger = decide({ controlPlanes: [a], others: [older] });
    assert.equal(ready(younger), "ReleaseNotOurs");
    assert.equal(touched(younger), 0);
    assert.match(disputed(younger), /TalosClusterAddon default\/old/);
    const elder = decide({ addon: older, controlPlanes: [a], others: [addon()] });
    assert.deepEqual(created(elder), ["default/a"]);
    assert.match(disputed(elder), /TalosClusterAddon default\/cni/);
  });

  test("of the same age they are told apart by name", () => {
    const twin = addon({}, { name: "bni", uid: "addon-2" });
    assert.equal(ready(decide({ controlPlanes: [a], others: [twin] })), "ReleaseNotOurs");
    assert.deepEqual(created(decide({ addon: twin, controlPlanes: [a], others: [addon()] })), ["default/a"]);
  });

  test("what exists comes before what is older: an edit takes nobody's release away", () => {
    const ours = made(addon(), a);
    const before = made(addon({ helmSpec: { ...cilium, releaseName: "net" } }, older.metadata), a);
    const elder = decide({ addon: older, controlPlanes: [a], releases: [ours, before], others: [addon()] });
    assert.equal(ready(elder), "ReleaseNotOurs");
    assert.equal(touched(elder), 0);
    assert.equal(touched(decide({ controlPlanes: [a], releases: [ours, before], others: [older] })), 0);
  });

  test("one that was made by hand has it, too", () => {
    const byHand = { ...published(addon(), a), metadata: { namespace: "default", name: "mine", uid: "h" } };
    const decision = decide({ controlPlanes: [a], releases: [byHand] });
    assert.equal(ready(decision), "ReleaseNotOurs");
    assert.match(disputed(decision), /TalosClusterAddonRelease default\/mine/);
  });

  for (const [what, world, says] of [
    ["an addon of its own namespace by its name", { others: [older] }, "TalosClusterAddon default/old."],
    [
      "an addon of another namespace by its kind alone",
      { others: [addon({}, { ...older.metadata, namespace: "secret" })] },
      "a TalosClusterAddon in another namespace.",
    ],
    [
      "what an addon of its own namespace made in another one by its name",
      { releases: [made(older, far)] },
      "TalosClusterAddonRelease tenant/far-old-addonrelease.",
    ],
    [
      "what somebody made in another namespace by its kind alone",
      { releases: [made(addon({}, { ...older.metadata, namespace: "secret" }), far)] },
      "a TalosClusterAddonRelease in another namespace.",
    ],
  ] as const)
    test(`an addon hears of ${what}`, () => {
      const namespaces = new Map([["tenant", { [annotations.addonsFrom]: "*" }]]);
      const decision = decide({ controlPlanes: [far], namespaces, ...world });
      assert.equal(ready(decision), "ReleaseNotOurs");
      assert.ok(message(decision).includes(`is that of ${says}`), message(decision));
      assert.ok(disputed(decision).endsWith(`on tenant/far: ${says}`), disputed(decision));
    });

  for (const [what, other] of [
    ["on another cluster", addon({ clusterSelector: { matchLabels: { env: "test" } } }, older.metadata)],
    ["by another name", addon({ helmSpec: { ...cilium, releaseName: "net" } }, older.metadata)],
    ["in another namespace", addon({ targetNamespace: "net" }, older.metadata)],
    ["while it is being deleted", addon({}, { ...older.metadata, deletionTimestamp: rfc3339(DAY_MS) })],
    ["while it is paused", addon({}, { ...older.metadata, annotations: { [annotations.reconcileMode]: "disable" } })],
  ] as const)
    test(`an older addon is in nobody's way ${what}`, () => {
      const decision = decide({ controlPlanes: [a, controlPlane("b", "test")], others: [other] });
      assert.deepEqual(created(decision), ["default/a"]);
      assert.equal(disputed(decision), "");
    });

  test("without a name the release is called like its chart (W31)", () => {
    const { releaseName: _none, ...unnamed } = cilium;
    for (const helmSpec of [unnamed, { ...cilium, releaseName: "" }])
      assert.equal(ready(decide({ addon: addon({ helmSpec }), controlPlanes: [a], others: [older] })), "ReleaseNotOurs");
  });
});

describe("what a release says, and what the addon says of it", () => {
  const a = controlPlane("a", "production");
  const b = controlPlane("b", "production");

  test("everything that the cluster needs to know is on it", () => {
    const one = addon({
      targetNamespace: "net",
      dependsOn: ["crds"],
      rollback: "lastGood",
      namespaceLabels: { "pod-security.kubernetes.io/enforce": "privileged" },
    });
    const { metadata, spec } = releaseFor(one, a, undefined);
    assert.equal(metadata.name, "a-cni-addonrelease");
    assert.deepEqual(metadata.labels, { [labels.addon]: "default.cni", [labels.cluster]: "a" });
    assert.deepEqual(metadata.annotations, { [annotations.addonUid]: "addon-1" });
    assert.deepEqual(spec, {
      clusterRef: { apiVersion: API, kind: "TalosControlPlane", name: "a", namespace: "default", uid: "cp-a" },
      helmSpec: { ...cilium, namespace: "net" },
      dependsOn: ["a-crds-addonrelease"],
      rollback: "lastGood",
      namespaceLabels: { "pod-security.kubernetes.io/enforce": "privileged" },
    });
  });

  test("long names are cut and do not meet", () => {
    const long = "n".repeat(200);
    const names = ["a", "b"].map((end) => releaseFor(addon({}, { name: `${long}${end}` }), controlPlane(long), undefined).metadata);
    assert.ok(names.every(({ name, labels: own }) => name.length <= 253 && Object.values(own ?? {}).every((value) => value.length <= 63)));
    assert.notEqual(names[0]?.name, names[1]?.name);
    assert.notEqual(names[0]?.labels?.[labels.addon], names[1]?.labels?.[labels.addon]);
  });

  test("ready are those whose status speaks of the newest spec", () => {
    const old = made(addon(), b, { generation: 2 }, { status: installed });
    const decision = decide({ controlPlanes: [a, b], releases: [made(addon(), a, {}, { status: installed }), old] });
    assert.equal(ready(decision), "ReleasesNotReady");
    assert.match(message(decision), /^1 of 2 selected clusters run it\. default\/b-cni-addonrelease: Nothing is known/);
  });

  test("one that only a person helps on counts as failed, and its words are told", () => {
    const status = { conditions: [condition("Ready", "False", "ChartNotFound", "There is no chart.")], observedGeneration: 1 };
    const decision = decide({ controlPlanes: [a], releases: [made(addon(), a, {}, { status })] });
    assert.equal(decision.fields.failed, 1);
    assert.match(message(decision), /ChartNotFound: There is no chart/);
    assert.equal(decision.parts.length, 1);
  });

  for (const [what, needs] of [
    ["itself", { cni: ["cni"] }],
    ["others", { cni: ["x"], x: ["y", "z"], z: ["cni"] }],
  ] as const)
    test(`dependsOn that leads back by ${what} is refused, and nothing is touched`, () => {
      const of = (name: string): TalosClusterAddon =>
        addon({ dependsOn: [...((needs as Readonly<Record<string, readonly string[]>>)[name] ?? [])] }, { name, uid: name });
      const decision = decide({ addon: of("cni"), controlPlanes: [a], others: ["x", "y", "z"].map(of) });
      assert.equal(ready(decision), "DependencyCycle");
      assert.match(message(decision), /cni → /);
      assert.equal(touched(decision), 0);
    });

  test("one that others' circle is beside is not in it", () => {
    const circle = ["x", "y"].map((name) =>
      addon({ dependsOn: [name === "x" ? "y" : "x"], helmSpec: { ...cilium, releaseName: name } }, { name, uid: name }),
    );
    assert.deepEqual(created(decide({ addon: addon({ dependsOn: ["x"] }), controlPlanes: [a], others: circle })), ["default/a"]);
  });
});
