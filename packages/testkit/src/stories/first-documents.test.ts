import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { parseKubernetesYaml } from "@talos-operator/kube-runtime/yaml";
import { conditionOf, tellComposition } from "./composition.ts";
import type { CompositionStory } from "./composition.ts";
import { kinds } from "./story.ts";
import type { Conditioned } from "./story.ts";

/** The simple example in the words of an inventory, and the one without. */
const examples: readonly { readonly name: string; readonly text: string; readonly talosVersion: string }[] = [
  {
    name: "with data and topology",
    text: readFileSync(new URL("../../../../examples/simple-kubernetescluster.yaml", import.meta.url), "utf8"),
    talosVersion: "v1.13.9",
  },
  {
    name: "with versions and groups",
    text: readFileSync(new URL("../../testdata/simple-cluster.yaml", import.meta.url), "utf8"),
    talosVersion: "v1.13.9",
  },
];

/** Every condition of what the cluster is made of, but those of machines. */
async function told(world: CompositionStory): Promise<readonly string[]> {
  const lists = await Promise.all(
    [kinds.kubernetesCluster, kinds.controlPlane, kinds.worker].map((kind) => world.client.resource<Conditioned & KubeObject>(kind).list()),
  );
  return lists
    .flatMap(({ items }) => items)
    .flatMap((object) =>
      (object.status?.conditions ?? []).map(
        ({ type, status, reason, message }) =>
          `${object.kind ?? ""} ${object.metadata?.name ?? ""} ${type}=${status}/${reason}: ${message}`,
      ),
    );
}

describe("the simple example of the first documents", () => {
  for (const { name, text, talosVersion } of examples)
    test(`${name} ends Ready, and nothing of it waits for a person`, () =>
      tellComposition(
        { machines: Array.from({ length: 6 }, (_, index) => ({ address: `10.5.0.${index + 1}`, talosVersion })) },
        async (world) => {
          const [object] = parseKubernetesYaml(text) as readonly KubeObject[];
          assert.ok(object !== undefined);
          await world.client
            .resource(kinds.kubernetesCluster)
            .create({ ...object, metadata: { namespace: "default", ...object.metadata } });
          await world.start();
          await world.time.advance(1_800_000);
          const all = await told(world);
          assert.equal(conditionOf(await world.cluster("simple-cluster"), "Ready")?.status, "True", all.join("\n"));
          assert.deepEqual(
            all.filter((line) => / (Stalled|Reconciling)=True/.test(line)),
            [],
            all.join("\n"),
          );
        },
      ));
});
