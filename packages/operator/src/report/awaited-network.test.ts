import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Cni, TalosControlPlane } from "@talos-operator/api";
import { configured, controlPlane, facts, member, observed, running } from "../testing/index.ts";
import { awaitedNetwork, withoutAwaited } from "./awaited-network.ts";

const machines = ["10.0.0.1", "10.0.0.2"].map((address) => configured(address));
const unready = { ready: false, unmet: [{ name: "nodeReady", reason: 'node "a" is not ready' }] };

interface Case {
  readonly name: string;
  readonly made?: Cni;
  readonly asked?: Cni;
  readonly patches?: readonly unknown[];
  readonly first?: object;
  readonly second?: object;
  readonly isSaid: boolean;
}

const cases: readonly Case[] = [
  { name: "is said of a cluster that was made with none", made: { name: "none" }, asked: { name: "none" }, isSaid: true },
  { name: "is said where a patch says none", patches: [{ cluster: { network: { cni: { name: "none" } } } }], isSaid: true },
  { name: "is not said where Talos brings one", isSaid: false },
  { name: "is not said where manifests bring one", made: { name: "custom", urls: ["https://example.org/cni.yaml"] }, isSaid: false },
  { name: "goes by how the cluster was made, which an edit does not change", made: {}, asked: { name: "none" }, isSaid: false },
  { name: "is not said where a Node is Ready, and so has one", made: { name: "none" }, second: { ready: true, unmet: [] }, isSaid: false },
  {
    name: "is not said while more than Nodes is amiss",
    made: { name: "none" },
    first: { ready: false, unmet: [{ name: "services", reason: "kubelet not running" }, ...unready.unmet] },
    second: { ready: false, unmet: [{ name: "services", reason: "kubelet not running" }] },
    isSaid: false,
  },
];

describe("that a network plugin is missing", () => {
  for (const { name, made = {}, asked, patches, first = unready, second = unready, isSaid } of cases)
    it(name, () => {
      const { spec, ...object } = controlPlane(2);
      if (spec?.mode !== "metal") throw new TypeError("the builder gives a spec");
      const machineSpec = { ...spec.metalSpec?.machineSpec, ...(patches === undefined ? {} : { configPatches: patches }) };
      const wanted = { ...spec, ...(asked === undefined ? {} : { cni: asked }), metalSpec: { ...spec.metalSpec, machineSpec } };
      const known = facts({ machines, cni: made });
      const looks = { "10.0.0.1": running(member(0, 2), first), "10.0.0.2": running(member(1, 2), second) };
      const seen = observed({ controlPlane: { ...object, spec: wanted } as TalosControlPlane, facts: known, looks });
      const words = awaitedNetwork(seen, known);
      assert.equal(words.length, isSaid ? 1 : 0);
      if (isSaid) assert.match(words[0] ?? "", /^No CNI: with cni none .* TalosClusterAddon/);
      const [met] = seen.machines;
      if (met?.look.kind !== "running") throw new TypeError("it runs");
      assert.equal(withoutAwaited(seen, known, met) === met, !isSaid, "nobody demands of a machine what it cannot have");
      const booting = { ...met, look: { ...met.look, stage: "booting" } };
      const { look } = withoutAwaited(seen, known, booting);
      assert.equal(look.kind === "running" ? look.stage : "", isSaid ? "running" : "booting");
    });
});
