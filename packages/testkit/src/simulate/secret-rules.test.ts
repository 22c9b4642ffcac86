import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createSeededRandom } from "@talos-operator/kube-runtime/testing";
import { createMemoryFiles } from "@talos-operator/operator/testing";
import { createValueKeys } from "../world/value-keys.ts";
import { createSecretRules, textOf, type SecretRules } from "./secret-rules.ts";

const token = "kljrjl.4j0wnfn62bbvixof";
const half = token.slice(0, 12);
const stored = { bundle: Buffer.from(`trustdinfo:\n  token: ${token}\n`).toString("base64") };

/** What is reported when something is said after the Secret with the token was stored, or before. */
function reported(say: (rules: SecretRules) => void, when: "after" | "before" = "after"): readonly string[] {
  const told: string[] = [];
  const rules = createSecretRules((invariant, detail) => void told.push(`${invariant} ${detail}`));
  if (when === "before") say(rules);
  rules.inspectWrite({
    method: "POST",
    path: "/api/v1/namespaces/default/secrets",
    body: { metadata: { name: "first-bundle-1" }, data: stored },
  });
  if (when === "after") say(rules);
  return told;
}

const write =
  (path: string, body: unknown, method: "PATCH" | "POST" | "PUT" = "PATCH") =>
  (rules: SecretRules): void =>
    rules.inspectWrite({ method, path, body });

describe("S9 finds half of a token", () => {
  const says: Readonly<Record<string, (rules: SecretRules) => void>> = {
    "in a status": write("/apis/x/v1/namespaces/default/talosclusters/first/status", {
      status: { conditions: [{ message: `no ${half}` }] },
    }),
    "in an event": write("/apis/events.k8s.io/v1/namespaces/default/events", { note: half }, "POST"),
    "in a record": write("/apis/x/v1/namespaces/default/clusterrecords/first", { spec: { bundle: { fingerprint: half } } }, "PUT"),
    "in a ConfigMap": write("/api/v1/namespaces/default/configmaps", { data: { note: half } }, "POST"),
    "in the marks of a Secret": write("/api/v1/namespaces/default/secrets/x", { metadata: { labels: { a: half } }, data: {} }),
    "in a log line": ({ log }) => log.debug({ note: half }, "Looked"),
    "in the fields of a logger": ({ log }) => void log.child({ note: half }),
    "in an error that a log line tells": ({ log }) => log.warn({ err: new Error("failed", { cause: new Error(`at ${half}`) }) }, "Failed"),
    "in an error that ended it": ({ inspectText }) => inspectText("an error", textOf(new Error(half))),
    "in figures": ({ inspectText }) => inspectText("the figures", `up{name="${half}"} 1`),
    "in a file": (rules) => void rules.files(createMemoryFiles()).write("first", "a.yaml", `note: ${half}`),
  };
  for (const [where, say] of Object.entries(says))
    test(where, () => {
      assert.match(reported(say).join(), /^S9 .* holds a part of token in Secret first-bundle-1/);
      assert.equal(reported(say, "before").length, 1, "said before it was stored");
    });
});

test("S9: what is for secrets may hold them, and other words are none", () => {
  assert.deepEqual(reported(write("/api/v1/namespaces/default/secrets/x", { metadata: { name: "x" }, data: stored })), []);
  assert.deepEqual(
    reported(({ log }) => log.info({ token: "abcdef.0123456789abcdef" }, "Looked")),
    [],
  );
});

test("S9 knows keys that the operator makes and stores nowhere", async () => {
  const told: string[] = [];
  const rules = createSecretRules((invariant) => void told.push(invariant));
  const keys = rules.keys(createValueKeys(createSeededRandom(1)));
  const authority = await keys.createAuthority({ kind: "p256", notBefore: 0 });
  const { certificate, key } = await keys.signCertificate(authority, { usage: "client", notBefore: 0, lifetimeMs: 1 });
  rules.log.info({ certificate: Buffer.from(certificate).toString("base64") }, certificate);
  assert.deepEqual(told, []);
  const [, body = ""] = key.split("\n");
  rules.log.info({ body: body.slice(12) }, "Looked");
  assert.deepEqual(told, ["S9"]);
});
