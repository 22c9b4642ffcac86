import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ManifestsSpec, TalosClusterAddonRelease } from "@talos-operator/api";
import { manifestsWishOf } from "../../addons/manifests-wish.ts";
import { validateManifests } from "../../addons/validate-manifests.ts";
import { keptWords, reapplyAt } from "./manifests.ts";

const HOUR = 3_600_000;
const at = Date.parse("2026-01-01T00:00:00Z");
const releaseOf = (uid: string, manifests: ManifestsSpec): TalosClusterAddonRelease => ({
  apiVersion: "talos.alperen.cloud/v1alpha1",
  kind: "TalosClusterAddonRelease",
  metadata: { name: "web", uid },
  spec: { clusterRef: { name: "demo" }, manifests },
  status: { manifests: { inventory: "i", appliedAt: "2026-01-01T00:00:00Z" } },
});
const text = { inline: "a: b" };
const wish = (manifests: ManifestsSpec, read = "a: b") =>
  manifestsWishOf("web", { manifests }, [{ source: { kind: "text", name: "s" }, text: read }]).inputs;

describe("objects of a release", () => {
  test("are applied again an hour later at the soonest, and releases do not meet", () => {
    const uids = ["0a7b3c1d-1111-4222-8333-444455550000", "0a7b3c1d-1111-4222-8333-44445555ffff", "0a7b3c1d-1111-4222-8333-444455558000"];
    const times = uids.map((uid) => ((reapplyAt(releaseOf(uid, { sources: [text] })) ?? 0) - at) / HOUR);
    assert.deepEqual([times[0], times[1]?.toFixed(3)], [1, "1.333"]);
    assert.ok((times[2] ?? 0) > 1.1 && (times[2] ?? 0) < 1.2);
    assert.equal(reapplyAt(releaseOf("x", { sources: [text], mode: "Once" })), undefined);
  });

  test("are other inputs by their texts and settings; with Once by the spec alone", () => {
    const spec: ManifestsSpec = { sources: [text] };
    assert.equal(wish(spec), wish({ mode: "Continuously", namespace: "default", prune: true, sources: [text] }));
    const others = [
      wish(spec, "a: c"),
      wish({ ...spec, namespace: "web" }),
      wish({ ...spec, prune: false }),
      wish({ ...spec, takeOwnership: true }),
    ];
    assert.equal(new Set([wish(spec), ...others]).size, 5);
    assert.equal(wish({ ...spec, mode: "Once" }), wish({ ...spec, mode: "Once" }, "a: c"));
    assert.notEqual(wish({ ...spec, mode: "Once" }), wish({ sources: [{ inline: "b" }], mode: "Once" }));
  });

  test("that are kept are counted", () => {
    assert.equal(keptWords({ total: 0, names: [] }), "");
    assert.equal(
      keptWords({ total: 5, names: ["Namespace a", "Namespace b", "Namespace c", "Namespace d"] }),
      "; kept: Namespace a, Namespace b, Namespace c, and 2 more",
    );
  });

  for (const [what, spec, status, fields] of [
    ["a namespace that is none", { namespace: "Web_1", sources: [text] }, undefined, ["spec.manifests.namespace"]],
    ["an address with a password", { sources: [{ url: "https://a:b@example.org/x" }] }, undefined, ["spec.manifests.sources[0].url"]],
    ["an address by http", { sources: [text, { url: "http://example.org/x" }] }, undefined, ["spec.manifests.sources[1].url"]],
    ["a Helm release before", { sources: [text] }, { releaseName: "web" }, ["spec.manifests"]],
    ["its own set before", { sources: [text] }, { releaseName: "web", manifests: { inventory: "i" } }, []],
  ] as const)
    test(`with ${what}: ${fields.length === 0 ? "taken" : "refused"}`, () =>
      assert.deepEqual(
        validateManifests(spec, status).map(({ field }) => field),
        fields,
      ));
});
