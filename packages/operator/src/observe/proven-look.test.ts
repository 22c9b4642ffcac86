import assert from "node:assert/strict";
import { test } from "node:test";
import { configured, facts, inMaintenance, running, silent } from "../testing/builders.ts";
import { compareIdentity, provenLook } from "./proven-look.ts";
import type { IdentityVerdict } from "./proven-look.ts";
import type { Hardware } from "../model/look.ts";
import type { MachineFact } from "../model/record.ts";

const own = (over: Partial<MachineFact> = {}): MachineFact => configured("10.0.0.1", "controlplane", "demo", over);
const other = (over: Partial<MachineFact> = {}): MachineFact => configured("10.0.0.2", "controlplane", "demo", over);
const vendor = "03000200-0400-0500-0006-000700080009";

const cases: readonly {
  readonly name: string;
  readonly fact: MachineFact;
  readonly others?: readonly MachineFact[];
  readonly shown: Hardware | undefined;
  readonly want: IdentityVerdict;
}[] = [
  {
    name: "the same UUID is the same machine, whatever became of its network card",
    fact: own(),
    shown: { uuid: "uuid-10.0.0.1", macs: ["new"] },
    want: "same",
  },
  { name: "another UUID is another machine", fact: own(), shown: { uuid: "uuid-10.0.0.2", macs: ["mac-10.0.0.1"] }, want: "other" },
  {
    name: "a UUID that only begins alike is another machine",
    fact: own({ uuid: "4c4c4544-0042-4b10-8033-b9c04f4e3533" }),
    shown: { uuid: "4c4c4544-0042-4b10-8033-b9c04f4e3534", macs: ["mac-10.0.0.1"] },
    want: "other",
  },
  { name: "the case of a UUID means nothing", fact: own({ uuid: "ABC" }), shown: { uuid: "abc", macs: [] }, want: "same" },
  { name: "nothing told is nothing known", fact: own(), shown: undefined, want: "unclear" },
  {
    name: "IN62: a UUID that two share and a known card is the machine",
    fact: own({ uuid: "x" }),
    others: [other({ uuid: "x" })],
    shown: { uuid: "x", macs: ["mac-10.0.0.1"] },
    want: "same",
  },
  {
    name: "IN62: a UUID that two share and another card is the other",
    fact: own({ uuid: "x" }),
    others: [other({ uuid: "x" })],
    shown: { uuid: "x", macs: ["mac-10.0.0.2"] },
    want: "other",
  },
  {
    name: "IN62: a UUID that two share and no card says nothing",
    fact: own({ uuid: "x" }),
    others: [other({ uuid: "x" })],
    shown: { uuid: "x", macs: [] },
    want: "unclear",
  },
  {
    name: "a UUID is its own again when the clone was released",
    fact: own({ uuid: "x" }),
    others: [other({ uuid: "x", releasedAt: 1 })],
    shown: { uuid: "x", macs: [] },
    want: "same",
  },
  {
    name: "IN62: a vendor's UUID alone says nothing",
    fact: own({ uuid: vendor, macs: [] }),
    shown: { uuid: vendor, macs: ["a"] },
    want: "unclear",
  },
  {
    name: "IN62: a vendor's UUID and another card is another machine",
    fact: own({ uuid: vendor }),
    shown: { uuid: vendor, macs: ["a"] },
    want: "other",
  },
  {
    name: "without UUIDs, as in containers, cards decide",
    fact: own({ uuid: "" }),
    shown: { uuid: undefined, macs: ["mac-10.0.0.1"] },
    want: "same",
  },
];

for (const { name, fact, others = [], shown, want } of cases)
  test(`identity: ${name}`, () => assert.equal(compareIdentity(facts({ machines: [fact, ...others] }), fact, shown), want));

const declared = {
  name: "demo-10.0.0.1",
  role: "controlplane",
  address: "10.0.0.9",
  owner: { kind: "TalosControlPlane", name: "demo" },
  field: "spec.metalSpec.machines[0]",
  version: "v1.13.9",
  machineSpec: {},
} as const;

test("a machine at a new address that tells no hardware proves nothing, and at its old one is believed", () => {
  const known = facts({ machines: [own()] });
  const moved = provenLook(known, declared, running());
  assert.equal(moved.kind === "silent" && moved.stopped?.reason, "IdentityMismatch");
  assert.equal(provenLook(known, { ...declared, address: "10.0.0.1" }, running()).kind, "running");
});

test("looks that claim nothing are left as they are, and so is everything about a machine that was released", () => {
  const known = facts({ machines: [own()] });
  for (const look of [silent, inMaintenance("10.0.0.9")]) assert.equal(provenLook(known, declared, look), look);
  const stranger = running(undefined, { hardware: { uuid: "someone", macs: [] } });
  assert.equal(provenLook(facts({ machines: [own({ releasedAt: 1 })] }), declared, stranger), stranger);
  assert.equal(provenLook(undefined, declared, stranger), stranger);
});

test("a container that runs with this cluster's certificate and another card says whom to vouch for, with its whole key; a machine with a UUID does not", () => {
  const known = facts({ machines: [own({ uuid: "" })] });
  const anew = running(undefined, { hardware: { uuid: undefined, macs: ["new"] }, spki: "key-of-now" });
  const look = provenLook(known, { ...declared, address: "10.0.0.1" }, anew);
  assert.ok(look.kind === "silent");
  assert.deepEqual([look.stopped?.reason, look.claimed], ["IdentityMismatch", { spki: "key-of-now", macs: ["new"] }]);
  assert.match(
    look.stopped?.message ?? "",
    /shows the hardware addresses new where mac-10\.0\.0\.1 were written down.*accept-identity: key-of-now\.$/,
  );
  const withUuid = provenLook(
    facts({ machines: [own()] }),
    { ...declared, address: "10.0.0.1" },
    running(undefined, { hardware: { uuid: "someone", macs: ["new"] }, spki: "k" }),
  );
  assert.equal(withUuid.kind === "silent" && withUuid.claimed, undefined);
});

test("a machine without a UUID that lost one of its network cards is the same machine", () => {
  const fact = own({ uuid: "", macs: ["mac-a", "mac-b"] });
  assert.equal(compareIdentity(facts({ machines: [fact] }), fact, { uuid: undefined, macs: ["mac-b"] }), "same");
});

test("what answers at the new address of a machine without a UUID, and tells no hardware, is not taken for it", () => {
  const known = facts({ machines: [own({ uuid: "", macs: ["mac-a"] })] });
  const unreported = running(undefined, { hardware: { uuid: undefined, macs: [] } });
  const look = provenLook(known, { ...declared, address: "10.0.0.77" }, unreported);
  assert.equal(look.kind === "silent" && look.stopped?.reason, "IdentityMismatch");
  assert.equal(provenLook(known, { ...declared, address: "10.0.0.1" }, unreported), unreported);
});
