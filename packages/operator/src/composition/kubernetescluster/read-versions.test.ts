import assert from "node:assert/strict";
import { test } from "node:test";
import { normaliseCluster } from "@talos-operator/api";
import type { ClusterDefaults, KubernetesClusterSpec, TalosControlPlane } from "@talos-operator/api";
import { poolAnnotations } from "./keys.ts";
import { printReadVersions, readBefore, sayReadVersions } from "./read-versions.ts";

/** What a release knows. */
const defaultsOf = (talos: readonly string[], kubernetes: readonly string[]): ClusterDefaults => ({
  talosVersion: talos.at(-1) ?? "",
  kubernetesVersion: kubernetes.at(-1) ?? "",
  knownTalosVersions: talos,
  knownKubernetesVersions: kubernetes,
});
const older = defaultsOf(["v1.13.8"], ["v1.33.6", "v1.34.1"]);
const newer = defaultsOf(["v1.13.9", "v1.14.0"], ["v1.33.9", "v1.34.5", "v1.35.0"]);

interface Versions {
  readonly talos?: string;
  readonly kubernetes?: string;
  readonly controlPlane?: string;
}

function specOf({ talos, kubernetes, controlPlane }: Versions): KubernetesClusterSpec {
  const talosVersion = talos === undefined ? {} : { talosVersion: talos };
  const template = { replicas: 1, machineTemplate: { spec: {} } };
  if (controlPlane === undefined)
    return {
      clusterName: "demo",
      clusterEndpoint: "https://10.0.0.100:6443",
      ...talosVersion,
      ...(kubernetes === undefined ? {} : { kubernetesVersion: kubernetes }),
      controlPlane: template,
      workers: [{ name: "a", ...template }],
    };
  const said = {
    clusterUid: "u",
    datacenter: "d",
    environment: "e",
    project: "p",
    provider: "talos",
    region: "r",
    workorder: "w",
    workspace: "s",
    zone: "z",
  };
  return {
    data: { clusterId: "demo-id", ...said },
    clusterEndpoint: "https://10.0.0.100:6443",
    ...talosVersion,
    topology: {
      version: kubernetes ?? "",
      controlplane: { replicas: 1, version: controlPlane },
      workers: { nodePools: [{ name: "a", replicas: 1 }] },
    },
  };
}

/** What a cluster is read as, and the control plane that is composed from it. */
function composed(
  versions: Versions,
  defaults: ClusterDefaults,
  before?: TalosControlPlane,
  isTakenOver = false,
): { readonly reads: readonly string[]; readonly controlPlane: TalosControlPlane; readonly says: string } {
  const { model, resolvedVersions, problems } = normaliseCluster(
    { metadata: { name: "demo" }, spec: specOf(versions) },
    defaults,
    readBefore(before, isTakenOver),
  );
  assert.ok(model !== undefined, JSON.stringify(problems));
  return {
    reads: [model.talosVersion, model.kubernetesVersion, model.groups[1]?.kubernetesVersion ?? ""],
    says: sayReadVersions(resolvedVersions),
    controlPlane: {
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosControlPlane",
      metadata: { name: "demo", annotations: { [poolAnnotations.readVersions]: printReadVersions(resolvedVersions) } },
      spec: { version: model.talosVersion, mode: "metal", kubeVersion: model.kubernetesVersion },
    },
  };
}

const withoutAnnotation = (object: TalosControlPlane): TalosControlPlane => ({ ...object, metadata: { name: "demo" } });

test("versions without a patch, and none at all, are read once: a newer release moves nothing", () => {
  for (const versions of [
    {},
    { talos: "1.13", kubernetes: "1.33" },
    { talos: "v1.13", kubernetes: "1.33", controlPlane: "1.34" },
    { kubernetes: "" },
  ]) {
    const first = composed(versions, older);
    const again = composed(versions, newer, first.controlPlane);
    assert.deepEqual(again.reads, first.reads, JSON.stringify(versions));
    assert.deepEqual(again.controlPlane, first.controlPlane);
  }
});

test("an edit reads them anew, and only what was edited", () => {
  const first = composed({ talos: "1.13", kubernetes: "1.33", controlPlane: "1.33" }, older);
  assert.deepEqual(first.reads, ["v1.13.8", "v1.33.6", "v1.33.6"]);
  const edited = composed({ talos: "1.13", kubernetes: "1.33", controlPlane: "1.34" }, newer, first.controlPlane);
  assert.deepEqual(edited.reads, ["v1.13.8", "v1.34.5", "v1.33.6"]);
  const back = composed({ talos: "v1.13", kubernetes: "1.33", controlPlane: "v1.33" }, newer, edited.controlPlane);
  assert.deepEqual(back.reads, ["v1.13.8", "v1.33.6", "v1.33.6"], "one group asked for it all the time, and v is a spelling");
  const whole = composed({ talos: "v1.13.7", kubernetes: "v1.34.0" }, newer, back.controlPlane);
  assert.deepEqual(whole.reads, ["v1.13.7", "v1.34.0", "v1.34.0"]);
  const short = composed({ talos: "1.13", kubernetes: "1.33" }, newer, whole.controlPlane);
  assert.deepEqual(short.reads, ["v1.13.9", "v1.33.9", "v1.33.9"], "nobody asked for these since");
  assert.deepEqual(composed({}, newer, whole.controlPlane).reads, ["v1.14.0", "v1.35.0", "v1.35.0"]);
});

test("what the release before composed keeps the versions that its pools ask for", () => {
  const before = withoutAnnotation(composed({ talos: "1.13", kubernetes: "1.33" }, older).controlPlane);
  for (const versions of [{ talos: "1.13", kubernetes: "1.33" }, {}]) {
    const first = composed(versions, newer, before);
    assert.deepEqual(first.reads.slice(0, 2), ["v1.13.8", "v1.33.6"], JSON.stringify(versions));
    assert.deepEqual(composed(versions, newer, first.controlPlane).reads, first.reads);
  }
  assert.deepEqual(composed({ talos: "1.14", kubernetes: "1.34" }, newer, before).reads.slice(0, 2), ["v1.14.0", "v1.34.5"]);
});

test("a cluster that is taken over runs what a spec without versions means, until it is edited", () => {
  const first = composed({ kubernetes: "1.33" }, newer, undefined, true);
  assert.deepEqual(first.reads, ["v1.14.0", "v1.33.9", "v1.33.9"], "nobody has looked yet");
  const looked = { ...first.controlPlane, status: { observedVersion: "v1.12.4", observedKubeVersion: "v1.33.2" } };
  const open = composed({ kubernetes: "1.33" }, newer, looked, true);
  assert.deepEqual(open.reads, ["v1.12.4", "v1.33.2", "v1.33.2"]);
  const over = { ...open.controlPlane, status: { observedVersion: "v1.12.5", observedKubeVersion: "v1.33.3" } };
  assert.deepEqual(composed({ kubernetes: "1.33" }, newer, over).reads, ["v1.12.4", "v1.33.2", "v1.33.2"]);
  const mixed = { ...first.controlPlane, status: { observedVersion: "v1.12.4, v1.13.0" } };
  assert.deepEqual(composed({}, newer, mixed, true).reads[0], "v1.14.0", "machines differ: what was read stays");
});

test("words in the annotation that are none of ours count as if it were not there", () => {
  const { controlPlane } = composed({ talos: "1.13", kubernetes: "1.33" }, older);
  for (const text of ["", "{", "[]", "null", "1", '"x"', "x".repeat(20_000), `{"talos":"${"x".repeat(20_000)}"}`]) {
    const metadata = { name: "demo", annotations: { [poolAnnotations.readVersions]: text } };
    assert.deepEqual(
      composed({ talos: "1.13", kubernetes: "1.33" }, newer, { ...controlPlane, metadata }).reads.slice(0, 2),
      ["v1.13.8", "v1.33.6"],
      text,
    );
  }
  for (const text of [
    '{"talos":{"1.13":"v9.9.9"}}',
    '{"talos":{"1.13":["v1.13.1"]}}',
    '{"talos":{"1.13":"latest"}}',
    '{"talos":["1.13"]}',
    "{}",
  ]) {
    const metadata = { name: "demo", annotations: { [poolAnnotations.readVersions]: text } };
    assert.deepEqual(composed({ talos: "1.13" }, newer, { ...controlPlane, metadata }).reads[0], "v1.13.9", text);
  }
});

test("a person is told what is read as what", () => {
  assert.equal(composed({ talos: "v1.13.8", kubernetes: "v1.33.6" }, older).says, "");
  assert.equal(
    composed({ kubernetes: "1.33" }, older).says,
    " spec.talosVersion is not set and is read as v1.13.8; spec.kubernetesVersion 1.33 is read as v1.33.6. An edit of it moves that, and no other release of the operator does.",
  );
});
