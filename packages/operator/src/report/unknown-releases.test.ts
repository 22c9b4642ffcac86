import assert from "node:assert/strict";
import { test } from "node:test";
import { builtInCatalogue, extendCatalogue } from "@talos-operator/talos";
import { configured, controlPlane, facts, founded, member, observed, running } from "../testing/builders.ts";
import { unknownReleases } from "./unknown-releases.ts";
import type { World } from "../testing/builders.ts";

const founding = facts({ bootstrapDone: founded, machines: [configured("10.0.0.1")] });
const at = (version: string) => ({ "10.0.0.1": running(member(0, 1), { version }) });

const cases: readonly { readonly name: string; readonly world: World; readonly says: RegExp | undefined }[] = [
  { name: "says nothing of releases that are known", world: { controlPlane: controlPlane(1) }, says: undefined },
  {
    name: "names a Talos that is newer, and the newest that is known",
    world: { controlPlane: controlPlane(1, { version: "v1.13.99" }) },
    says: /^Talos v1\.13\.99 is not known to this operator: v1\.13\.9 is the newest of v1\.13\. It is used as asked for\. Check that the release exists\.$/,
  },
  {
    name: "names a Talos of a minor without a release",
    world: { controlPlane: controlPlane(1, { version: "v1.14.0" }) },
    says: /^Talos v1\.14\.0 is not known to this operator: it knows no release of v1\.14\./,
  },
  {
    name: "names a Kubernetes that is newer",
    world: { controlPlane: controlPlane(1, { kubeVersion: "v1.36.99" }), facts: founding },
    says: /^Kubernetes v1\.36\.99 is not known to this operator: v1\.36\.3 is the newest of v1\.36\./,
  },
  {
    name: "says nothing any more of a Talos that a machine runs",
    world: { controlPlane: controlPlane(1, { version: "v1.13.99" }), facts: founding, looks: at("v1.13.99") },
    says: undefined,
  },
  {
    name: "says nothing of one that a person added to the catalogue",
    world: {
      controlPlane: controlPlane(1, { version: "v1.13.99" }),
      facts: founding,
      looks: at("v1.13.9"),
      releases: { catalogue: extendCatalogue(builtInCatalogue, "talos: [{ release: v1.13.99 }]") },
    },
    says: undefined,
  },
];

for (const { name, world, says } of cases)
  test(`releases: ${name}`, () => {
    const [condition] = unknownReleases(observed(world));
    if (says === undefined) assert.equal(condition, undefined);
    else assert.match(condition?.message ?? "", says);
  });
