import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Condition } from "@talos-operator/api";
import type { EndpointAnswer } from "@talos-operator/ports";
import { assess } from "../assess/assess.ts";
import { decide } from "../decide.ts";
import { configured, controlPlane, facts, founded, member, NOW, observed, running } from "../testing/builders.ts";
import type { SeenEndpoint } from "../model/endpoint.ts";
import type { Decision } from "../model/decision.ts";
import type { Look } from "../model/look.ts";

const cps = ["10.0.0.1", "10.0.0.2", "10.0.0.3"] as const;
const healthy = Object.fromEntries(cps.map((address, index) => [address, running(member(index, 3))]));
const machines = cps.map((address) => configured(address));

interface Given {
  readonly url?: string;
  readonly told?: readonly Pick<Condition, "type" | "status" | "reason" | "message">[];
  readonly released?: string;
  readonly looks?: Readonly<Record<string, Look>>;
}

function decided(endpoint: SeenEndpoint, { url = "https://10.0.0.100:6443", told = [], released, looks = healthy }: Given = {}): Decision {
  const left = released === undefined ? [] : [{ ...configured(released), releasedAt: NOW }];
  const known = facts({ machines: [...machines, ...left], bootstrapDone: founded, endpoint: url });
  const status = { conditions: told.map((one) => ({ ...one, lastTransitionTime: "2026-01-01T00:00:00Z" })) };
  return decide(assess(observed({ facts: known, looks, endpoint, controlPlane: { ...controlPlane(), status } })));
}

const word = ({ conditions }: Decision, type: string): string => {
  const found = conditions.find((condition) => condition.type === type);
  return found === undefined ? "nothing" : `${found.status} ${found.reason}`;
};

const answered = (kind: EndpointAnswer["kind"], isSure = true): SeenEndpoint => ({
  kind: "answered",
  answer: { kind, detail: "the detail" },
  isSure,
});

const ready = { type: "Ready", status: "True", reason: "AllReady", message: "" } as const;

describe("what answers at the endpoint decides whether a cluster that is well is ready", () => {
  const cases: readonly (readonly [string, SeenEndpoint, Given, condition: string, ready: string])[] = [
    ["this cluster", answered("reached"), {}, "True Reached", "True AllReady"],
    ["nobody, for the name has no address", answered("unresolvable"), {}, "False NameUnresolved", "False EndpointUnreachable"],
    ["nobody who listens", answered("refused"), {}, "False ConnectionRefused", "False EndpointUnreachable"],
    ["another cluster", answered("foreign"), {}, "False ForeignCertificate", "False EndpointUnreachable"],
    ["a certificate that clients refuse", answered("unfit"), {}, "False CertificateUnfit", "False EndpointUnreachable"],
    ["something else", answered("not-kubernetes"), {}, "False NotKubernetes", "False EndpointUnreachable"],
    ["silence, three times", answered("silent"), {}, "False TimedOut", "False EndpointUnreachable"],
    ["silence, once, of a cluster that was ready", answered("silent", false), { told: [ready] }, "Unknown NoAnswer", "True AllReady"],
    ["silence, once, of one that never was", answered("silent", false), {}, "Unknown NoAnswer", "False EndpointPending"],
    ["nobody asks: a person said so", { kind: "outside" }, {}, "Unknown OutsideOnly", "True AllReady"],
    [
      "nobody was asked, of a cluster that was ready",
      { kind: "not-asked", isAwaited: true },
      { told: [ready] },
      "Unknown NotAsked",
      "True AllReady",
    ],
    ["nobody was asked, of one that never was", { kind: "not-asked", isAwaited: true }, {}, "Unknown NotAsked", "False EndpointPending"],
    [
      "nobody at 443, where no port is named",
      answered("refused"),
      { url: "https://shop.example" },
      "False NoPort",
      "False EndpointUnreachable",
    ],
    [
      "nobody at the address of a machine that left",
      answered("silent"),
      { url: "https://10.0.0.9:6443", released: "10.0.0.9" },
      "False MachineLeft",
      "False EndpointUnreachable",
    ],
    [
      "this cluster at the address of one that left",
      answered("reached"),
      { url: "https://10.0.0.9:6443", released: "10.0.0.9" },
      "True Reached",
      "True AllReady",
    ],
  ];
  for (const [what, endpoint, given, condition, isReady] of cases)
    test(`${what}: ${condition}, Ready ${isReady}`, () => {
      const decision = decided(endpoint, given);
      assert.deepEqual([word(decision, "EndpointReachable"), word(decision, "Ready")], [condition, isReady]);
      assert.equal(decision.state, isReady.startsWith("True") ? "Ready" : "Bootstrapped");
      assert.equal(decision.isMet, true, "nothing is to be done here about an endpoint");
      assert.equal(decision.rule, "waitOrSettle");
    });
});

test("what was said before stays until there is an answer", () => {
  const refused = { type: "EndpointReachable", status: "False", reason: "ConnectionRefused", message: "as before" } as const;
  const decision = decided({ kind: "not-asked", isAwaited: true }, { told: [refused] });
  assert.deepEqual(
    [word(decision, "EndpointReachable"), word(decision, "Ready")],
    ["False ConnectionRefused", "False EndpointUnreachable"],
  );
  assert.equal(decision.conditions.find(({ type }) => type === "Ready")?.message, "as before");
  const ofLater = { ...refused, reason: "SaidByALaterRelease" };
  assert.equal(word(decided({ kind: "not-asked", isAwaited: true }, { told: [ofLater] }), "EndpointReachable"), "Unknown NotAsked");
});

test("what is wrong with machines comes first in Ready", () => {
  const looks = { ...healthy, "10.0.0.2": { kind: "silent" as const, at: NOW, since: NOW, detail: "unreachable" } };
  const decision = decided(answered("refused"), { looks });
  assert.equal(word(decision, "EndpointReachable"), "False ConnectionRefused");
  assert.notEqual(word(decision, "Ready"), "False EndpointUnreachable");
});

test("each message names the endpoint and a cure in at most 300 characters", () => {
  const kinds = ["unresolvable", "refused", "foreign", "unfit", "not-kubernetes", "silent"] as const;
  for (const kind of kinds)
    for (const given of [{}, { url: "https://kubernetes.shop.example.com" }, { url: "https://10.0.0.9:6443", released: "10.0.0.9" }]) {
      const message = decided(answered(kind), given).conditions.find(({ type }) => type === "Ready")?.message ?? "";
      assert.match(message, /https:\/\/\S+/);
      assert.match(message, /Create|Correct|Let |Check|Give/);
      assert.ok(message.length <= 300, `${message.length}: ${message}`);
    }
});
