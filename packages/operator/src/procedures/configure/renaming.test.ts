import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigChange } from "@talos-operator/talos";
import { NOW, running } from "../../testing/builders.ts";
import { renamingByMeta, renamingOf, renamingWords } from "./renaming.ts";
import type { KnownConfig } from "../../model/config.ts";

const config = (over: Partial<KnownConfig>): KnownConfig => ({
  kind: "known",
  at: NOW,
  settings: "",
  bootId: "",
  version: "v1.13.9",
  activeHash: "",
  changes: [],
  onDisk: "other",
  ...over,
});
const withDomain = { document: "/v1alpha1/", path: "machine.kubelet.registerWithFQDN" } as ConfigChange;

for (const { what, over, want } of [
  { what: "another host name", over: { hostname: { runs: "", asked: "Worker-A" } }, want: "Node node-1 becomes worker-a" },
  {
    what: "no host name any more",
    over: { hostname: { runs: "node-1", asked: "" } },
    want: "Node node-1 gets the name that Talos chooses",
  },
  { what: "the name in words that it has", over: { hostname: { runs: "", asked: "node-1" } }, want: undefined },
  { what: "the name that it has with a domain", over: { hostname: { runs: "", asked: "node-1.example.org" } }, want: undefined },
  {
    what: "a domain that the kubelet registers with from now on",
    over: { hostname: { runs: "", asked: "node-1.example.org" }, changes: [withDomain] },
    want: "Node node-1 becomes node-1.example.org",
  },
  {
    what: "that the kubelet registers with its domain",
    over: { changes: [withDomain] },
    want: "Node node-1 gets the name that Talos chooses",
  },
  { what: "nothing about its name", over: {}, want: undefined },
] as const)
  test(`settings with ${what}: ${want ?? "the Node stays"}`, () => {
    const found = renamingOf(running(undefined, { nodeName: "node-1" }), config(over));
    assert.equal(found === undefined ? undefined : renamingWords(found), want);
  });

test("a machine that did not report its Node gets another one as far as anybody knows", () =>
  assert.deepEqual(renamingOf(running(), config({ hostname: { runs: "", asked: "node-1" } })), { from: undefined, to: "node-1" }));

test("settings in META give a machine another Node where they change its host name", () => {
  const meta = { wanted: "new", live: "old" };
  const look = running(undefined, { nodeName: "node-1" });
  assert.equal(renamingByMeta(look, config({ meta })), undefined);
  assert.deepEqual(renamingByMeta(look, config({ meta: { ...meta, hostname: { runs: "node-1", asked: "" } } })), {
    from: "node-1",
    to: undefined,
  });
  assert.deepEqual(renamingByMeta(look, config({ meta: { ...meta, hostname: { runs: "", asked: "worker-a" } } })), {
    from: "node-1",
    to: "worker-a",
  });
});
