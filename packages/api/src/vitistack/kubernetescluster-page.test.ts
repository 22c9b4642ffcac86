import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadAll } from "js-yaml";
import { crds, normaliseCluster } from "../index.ts";
import type { JsonSchema, KubernetesCluster } from "../index.ts";
import { defaults } from "./testing/clusters.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/reference/kubernetescluster.md"), "utf8");

/** Words that a row of the page names a field by. */
const named = new Set([...page.matchAll(/`([^`\n]+)`/g)].flatMap(([, words = ""]) => words.split(/[.[\] :]+/)));

/** Names of the fields of `spec`, each once; what is below a template is the spec of a Machine. */
function namesOf(schema: JsonSchema): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) =>
    name === "machineTemplate" ? [name] : [name, ...namesOf(child), ...(child.items === undefined ? [] : namesOf(child.items))],
  );
}

describe("the page about KubernetesCluster", () => {
  it("says of every field what it does", () => {
    const spec = crds.find(({ spec: { names } }) => names.kind === "KubernetesCluster")?.spec.versions[0]?.schema.openAPIV3Schema
      .properties?.["spec"];
    assert.ok(spec);
    // Rows speak of these as a whole.
    const parts = new Set(["enabled", "maxReplicas", "minReplicas", "scalingRules", "effect", "key", "value", "crt"]);
    const inRows = new Set(["disk", "image", "bootloader", "wipe", "extraKernelArgs", "extraArgs", "dnsDomain"]);
    const missing = [...new Set(namesOf(spec))].filter((name) => !named.has(name) && !parts.has(name) && !inRows.has(name));
    assert.deepEqual(missing, []);
  });

  it("shows clusters that can be made", () => {
    const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(
      ([, yaml = ""]) => loadAll(yaml) as readonly KubernetesCluster[],
    );
    assert.equal(examples.length, 2);
    for (const example of examples) assert.deepEqual(normaliseCluster(example, defaults).problems, []);
  });
});
