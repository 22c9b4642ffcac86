import assert from "node:assert/strict";
import test, { describe } from "node:test";
import { opens, volumeKeysOf } from "./disk-encryption.ts";

const luks = (passphrase: string, slot: number): object => ({ static: { passphrase }, slot });
const document = (name: string, ...keys: readonly object[]): string =>
  JSON.stringify({ apiVersion: "v1alpha1", kind: "VolumeConfig", name, encryption: { provider: "luks2", keys } });

describe("a volume that was made", () => {
  const { EPHEMERAL: one } = volumeKeysOf(document("EPHEMERAL", luks("a", 0)));
  const { EPHEMERAL: two } = volumeKeysOf(document("EPHEMERAL", luks("a", 0), luks("b", 1)));
  const { EPHEMERAL: other } = volumeKeysOf(document("EPHEMERAL", luks("b", 1)));
  for (const [name, made, asked, want] of [
    ["without encryption opens without", [], [], true],
    ["without encryption does not open with", [], one, false],
    ["with encryption does not open without", one, [], false],
    ["opens with a further key", one, two, true],
    ["opens without one of two keys", two, other, true],
    ["does not open with other keys", one, other, false],
  ] as const)
    test(name, () => assert.equal(opens(made, asked), want));
});

test("both forms of configuration say the same", () =>
  assert.deepEqual(
    volumeKeysOf(JSON.stringify({ machine: { systemDiskEncryption: { state: { provider: "luks2", keys: [luks("a", 0)] } } } })),
    volumeKeysOf(document("STATE", luks("a", 0))),
  ));
