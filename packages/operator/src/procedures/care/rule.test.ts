import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations } from "@talos-operator/api";
import { assess } from "../../assess/assess.ts";
import { waitingOf } from "../../gates/wait.ts";
import { withOutlook } from "../../controllers/shared/outlook.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running } from "../../testing/builders.ts";
import { defragmentEtcd } from "./rule.ts";
import type { Look, SeenAlarm, SeenEtcd } from "../../model/look.ts";
import type { Observed } from "../../model/observation.ts";
import type { IntentFact } from "../../model/record.ts";

const MIB = 1_048_576;
const loose: Partial<SeenEtcd> = { dbSizeBytes: 200 * MIB, dbInUseBytes: 40 * MIB };

/** Three control planes with large files of which little is in use. @param unready number of one whose Node is not Ready */
function world(
  told: Partial<SeenEtcd> = loose,
  { unready, open, asked, mayDisturb = true }: { unready?: number; open?: IntentFact; asked?: string; mayDisturb?: boolean } = {},
): Observed {
  const looks: Record<string, Look> = Object.fromEntries(
    [0, 1, 2].map((index) => [
      `10.0.0.${index + 1}`,
      running({ ...member(index, 3), ...told }, index + 1 === unready ? { ready: false } : {}),
    ]),
  );
  const known = facts({
    bootstrapDone: founded,
    machines: [1, 2, 3].map((n) => configured(`10.0.0.${n}`)),
    intents: open === undefined ? [] : [open],
  });
  const metadata = asked === undefined ? {} : { annotations: { [annotations.defragment]: asked } };
  return observed({ controlPlane: controlPlane(3, {}, metadata), facts: known, looks, mayDisturb });
}

const asks = (seen: Observed): readonly string[] => (defragmentEtcd.decide(assess(seen))?.actions ?? []).map(({ kind }) => kind);

describe("a member is defragmented although nothing is amiss", () => {
  for (const [what, seen, want] of [
    ["when every control plane is Ready", world(), ["WriteRecord", "DefragmentMember"]],
    ["not while one has booted and its Node is not Ready", world(loose, { unready: 1 }), []],
    [
      "when a person asks",
      world({ dbSizeBytes: 9, dbInUseBytes: 8 }, { asked: "demo-10.0.0.2" }),
      ["WriteRecord", "AnswerAnnotation", "DefragmentMember"],
    ],
    ["not at once when a person asks and a Node is not Ready", world(loose, { unready: 1, asked: "demo-10.0.0.2" }), []],
  ] as const)
    test(what, () => assert.deepEqual(asks(seen), want));
});

test("a member of a machine that is paused is not defragmented, and nothing is written down for it", () => {
  const held = new Set(["demo-10.0.0.2"]);
  assert.deepEqual(asks({ ...world(), held }), []);
});

describe("what Ready says of an etcd that is cared for", () => {
  const raised = (kind: SeenAlarm["kind"]): Partial<SeenEtcd> => ({
    ...loose,
    alarms: ["x"],
    raised: [{ member: "0000000000000002", kind }],
  });
  const disarm: IntentFact = {
    what: "DisarmAlarms",
    role: "controlplane",
    machine: "demo-10.0.0.1",
    address: "10.0.0.1",
    uuid: "",
    at: NOW,
    deadline: NOW + 120_000,
    why: "",
  };
  for (const [what, seen, says] of [
    ["full", world(raised("no-space")), /NOSPACE.*does not report its quota/],
    ["full, and being healed", world(raised("no-space"), { open: disarm }), /NOSPACE.*taken back through demo-10\.0\.0\.1/],
    [
      "full, right after a takeover",
      world({ ...raised("no-space"), quotaBytes: 200 * MIB }, { mayDisturb: false }),
      /just took over.*[^.]\.$/,
    ],
    ["with wrong data", world(raised("corrupt")), /CORRUPT/],
  ] as const)
    test(`names a machine, and no other advice than its own: ${what}`, () => {
      const waiting = waitingOf(assess(seen));
      assert.equal(waiting?.reason, "EtcdUnhealthy");
      const message = withOutlook(waiting);
      assert.match(message, says);
      assert.match(message, /demo-10\.0\.0\.\d/);
      assert.doesNotMatch(message, /To continue|power, network and disk/);
    });
});
