import assert from "node:assert/strict";
import { test } from "node:test";
import { classifyConfigEffects, patchMachineConfig } from "@talos-operator/talos";
import { adoptingPatch } from "./adopting-patch.ts";

const wanted =
  'machine:\n  type: worker\n  sysctls: {vm.swappiness: "1", net.core.somaxconn: "9"}\n  kubelet: {image: example.org/kubelet:v1.35.0}\n';

for (const { name, byHand, want } of [
  {
    name: "a value that was added",
    byHand: '{"machine":{"nodeLabels":{"example.org/rack":"a1"}}}',
    want: '{"machine":{"nodeLabels":{"example.org/rack":"a1"}}}',
  },
  {
    name: "a value that was changed",
    byHand: '{"machine":{"sysctls":{"vm.swappiness":"10"}}}',
    want: '{"machine":{"sysctls":{"vm.swappiness":10}}}',
  },
  {
    name: "a value that was taken away",
    byHand: '{"machine":{"sysctls":{"net.core.somaxconn":{"$patch":"delete"}}}}',
    want: '{"machine":{"sysctls":{"net.core.somaxconn":{"$patch":"delete"}}}}',
  },
])
  test(`adopting: ${name}; the patch makes what runs the wanted state`, () => {
    const live = patchMachineConfig(wanted, [byHand]);
    const patch = adoptingPatch(classifyConfigEffects(live, wanted, "v1.13.0").changes);
    assert.equal(patch, want);
    assert.deepEqual(classifyConfigEffects(live, patchMachineConfig(wanted, [patch ?? ""]), "v1.13.0").changes, []);
  });

test("adopting: secrets, places in lists and what is too long are in no patch", () => {
  const change = { change: "changed", effect: "live", services: [], rebootsItself: false, reason: "", after: undefined } as const;
  const at = (path: string, before: string): Parameters<typeof adoptingPatch>[0][number] => ({
    ...change,
    document: "/v1alpha1/",
    path,
    before,
  });
  assert.equal(adoptingPatch([at("machine.registries.config.x.auth.password", "(secret)")]), undefined);
  assert.equal(adoptingPatch([at("machine.network.interfaces[0].mtu", "9000")]), undefined);
  assert.equal(adoptingPatch([at("machine.nodeLabels.a", "x".repeat(2_000))]), undefined);
  assert.equal(
    adoptingPatch([{ ...at("ntp.enabled", "true"), document: "v1alpha1/TimeSyncConfig/" }]),
    '{"apiVersion":"v1alpha1","kind":"TimeSyncConfig","ntp":{"enabled":true}}',
  );
});
