import assert from "node:assert/strict";
import test, { describe } from "node:test";
import { classifyConfigEffects } from "./classify.ts";
import { barredEncryption } from "./encryption.ts";

const base = "machine: {type: worker}\n";
const legacy = (volumes: string): string => `machine: {type: worker, systemDiskEncryption: {${volumes}}}\n`;
const document = (members: string, kind = "VolumeConfig", name = "EPHEMERAL"): string =>
  `${base}---\napiVersion: v1alpha1\nkind: ${kind}\nname: ${name}\n${members}`;
const luks = (keys: string): string => `encryption: {provider: luks2, keys: [${keys}]}\n`;
const first = "{static: {passphrase: one}, slot: 0}";
const second = "{slot: 1, nodeID: {}}";

const barred = (before: string, after: string): readonly string[] =>
  barredEncryption(before, after, classifyConfigEffects(before, after, "v1.13.9").changes).map(({ volume, why, changes }) =>
    `${volume} ${why} ${changes.length > 0 ? "" : "nowhere"}`.trim(),
  );

describe("a volume that exists", () => {
  for (const [name, before, after, want] of [
    ["gets encryption by a document", base, document(luks(first)), ["EPHEMERAL added"]],
    ["loses its document with the encryption", document(luks(first)), base, ["EPHEMERAL removed"]],
    ["gets encryption in its document", document("mount: {secure: true}\n"), document(luks(first)), ["EPHEMERAL added"]],
    ["gets encryption in the old form", base, legacy(`state: {provider: luks2, keys: [${first}]}`), ["STATE added"]],
    ["loses encryption in the old form", legacy(`state: {provider: luks2, keys: [${first}]}`), base, ["STATE removed"]],
    ["gets a further key", document(luks(first)), document(luks(`${first}, ${second}`)), []],
    ["loses one of two keys", document(luks(`${first}, ${second}`)), document(luks(second)), []],
    ["has its keys in another order and spelling", document(luks(first)), document(luks("{slot: 0, static: {passphrase: 'one'}}")), []],
    ["has no key in common any more", document(luks(first)), document(luks(second)), ["EPHEMERAL all-keys-changed"]],
    [
      "has another passphrase in the same slot",
      document(luks(first)),
      document(luks(first.replace("one", "two"))),
      ["EPHEMERAL all-keys-changed"],
    ],
    ["changes without its encryption", document("mount: {secure: true}\n"), document("mount: {secure: false}\n"), []],
    ["comes with encryption: a user's", base, document(luks(first), "UserVolumeConfig", "data"), []],
    [
      "gets encryption: a user's",
      document("minSize: 1GiB\n", "UserVolumeConfig", "data"),
      document(luks(first), "UserVolumeConfig", "data"),
      ["UserVolumeConfig/data added"],
    ],
    [
      "goes from the old form to a document with its key",
      legacy(`ephemeral: {provider: luks2, keys: [${first}]}`),
      document(luks(first)),
      [],
    ],
  ] as const)
    test(name, () => assert.deepEqual(barred(before, after), want));
});
