import assert from "node:assert/strict";
import { test } from "node:test";

import * as fc from "fast-check";

import { errorReference } from "./error-reference.ts";
import { isIdentityFailure, isTalosError, isUnanswered, TALOS_ERROR_CODES, TalosError } from "./errors.ts";
import type { TalosErrorCode } from "./errors.ts";
import { callFailure } from "./testing/memory-channel.ts";

const FACTS = { node: "10.5.0.2", method: "/machine.MachineService/Version" };
const APPLY = { node: "10.5.0.2", method: "/machine.MachineService/ApplyConfiguration" };

const MAPPING: readonly (readonly [string, ReturnType<typeof callFailure>, TalosErrorCode])[] = [
  ["a caller that gave up", callFailure(1, "cancelled"), "CANCELED"],
  ["a plain Go error", callFailure(2, 'log "nonsense" was not registered'), "NODE_FAILED"],
  ["a refused argument", callFailure(3, "config not found"), "INVALID_ARGUMENT"],
  ["a deadline", callFailure(4, "context deadline exceeded"), "DEADLINE_EXCEEDED"],
  ["a missing thing", callFailure(5, "stat /nonexistent: no such file or directory"), "NOT_FOUND"],
  ["a second bootstrap", callFailure(6, "etcd data directory is not empty"), "ALREADY_EXISTS"],
  ["a missing role", callFailure(7, "not authorized"), "PERMISSION_DENIED"],
  ["a message that is too large", callFailure(8, "Received message larger than max"), "RESOURCE_EXHAUSTED"],
  ["a state that forbids it", callFailure(9, "method is not supported in container mode"), "FAILED_PRECONDITION"],
  ["a conflict", callFailure(10, "aborted"), "ABORTED"],
  ["a call that a worker has not", callFailure(12, "bootstrap is only available on control plane nodes"), "UNIMPLEMENTED"],
  ["a crash on the machine", callFailure(13, "runtime error: invalid memory address"), "NODE_FAILED"],
  ["a machine that is away", callFailure(14, "connect ECONNREFUSED 10.5.0.2:50000"), "UNAVAILABLE"],
  ["missing credentials", callFailure(16, "missing token"), "UNAUTHENTICATED"],
  ["a status of a newer protocol", callFailure(99, "?"), "NODE_FAILED"],
  ["a foreign CA", callFailure(14, "self-signed certificate", { tls: "untrusted-server" }), "UNTRUSTED_SERVER"],
  ["another machine", callFailure(14, "pin", { tls: "unexpected-identity" }), "UNEXPECTED_IDENTITY"],
  ["a refused client certificate", callFailure(14, "certificate required", { tls: "client-refused" }), "CLIENT_REFUSED"],
  ["plain text", callFailure(14, "wrong version number", { tls: "not-tls" }), "NOT_TLS"],
  ["a web server", callFailure(12, "Received HTTP status code 404", { peer: "not-grpc" }), "NOT_GRPC"],
];
for (const [name, failure, code] of MAPPING) {
  test(`${name} is ${code}`, () => {
    const error = TalosError.from(failure, FACTS);
    assert.equal(error.code, code);
    assert.equal(error.grpcCode, failure.code);
    assert.equal(error.cause, failure);
    assert.ok(error.message.startsWith(`${code}: Version on 10.5.0.2: ${failure.message}`), error.message);
    assert.ok(error.message.endsWith(TALOS_ERROR_CODES[code].remedy), error.message);
  });
}

test("an error stays itself, an abort is canceled, anything else is a malformed reply", () => {
  const error = new TalosError("NOT_FOUND", FACTS, "gone");
  assert.equal(TalosError.from(error, { node: "other", method: "/x/Y" }), error);
  assert.equal(TalosError.from(new DOMException("This operation was aborted", "AbortError"), FACTS).code, "CANCELED");
  const decoding = new RangeError("premature EOF");
  const malformed = TalosError.from(decoding, FACTS);
  assert.deepEqual([malformed.code, malformed.cause, malformed.grpcCode], ["MALFORMED_REPLY", decoding, undefined]);
  assert.equal(TalosError.from("text", FACTS).code, "MALFORMED_REPLY");
});

test("tells unanswered calls and identity failures from the rest", () => {
  const of = (code: TalosErrorCode): TalosError => new TalosError(code, FACTS, "text");
  const codes = Object.keys(TALOS_ERROR_CODES) as TalosErrorCode[];
  assert.deepEqual(
    codes.filter((code) => isUnanswered(of(code))),
    ["UNAVAILABLE", "DEADLINE_EXCEEDED"],
  );
  assert.deepEqual(
    codes.filter((code) => isIdentityFailure(of(code))),
    ["UNTRUSTED_SERVER", "UNEXPECTED_IDENTITY", "CLIENT_REFUSED"],
  );
  assert.ok(codes.filter((code) => isIdentityFailure(of(code))).every((code) => TALOS_ERROR_CODES[code].retry === "never"));
  assert.equal(isTalosError(of("NOT_FOUND"), "NOT_FOUND", "ABORTED"), true);
  assert.equal(isTalosError(of("NOT_FOUND"), "ABORTED"), false);
  assert.equal(isTalosError(new Error("NOT_FOUND")), false);
});

// Texts of a genuine node, with values put back where the recording left them out.
const REFUSED: readonly { readonly name: string; readonly text: string; readonly want: string }[] = [
  {
    name: "leaves the diff of a change that needs a reboot out",
    text: "this config change can't be applied in immediate mode\ndiff:\n--- a\n+++ b\n@@ -2,7 +2,7 @@\n machine:\n-    type: controlplane\n+    type: worker\n     token: s3cret.t0ken\n",
    want: "this config change can't be applied in immediate mode\n(diff left out)",
  },
  {
    name: "names unknown keys without their values",
    text: "error decoding document /v1alpha1/ (line 1): unknown keys found during decoding:\nmachine:\n    tokn: s3cret.t0ken\n    keys:\n        - s3cret.t0ken\n",
    want: "error decoding document /v1alpha1/ (line 1): unknown keys found during decoding:\nmachine:\n    tokn: (value left out)\n    keys:\n(left out)",
  },
  {
    name: "keeps the list of what validation found",
    text: "1 error occurred:\n\t* v1alpha1.Config: 1 error occurred:\n\t* invalid controlplane endpoint: hostname must not be blank\n\n\n\n",
    want: "1 error occurred:\n\t* v1alpha1.Config: 1 error occurred:\n\t* invalid controlplane endpoint: hostname must not be blank",
  },
  {
    name: "keeps lines of the decoder without the scalars that it quotes",
    text: "error decoding document /v1alpha1/ (line 1): error decoding  to *v1alpha1.Config: yaml: construct errors:\n  line 112: cannot construct !!str `s3cret....` into bool",
    want: "error decoding document /v1alpha1/ (line 1): error decoding  to *v1alpha1.Config: yaml: construct errors:\n  line 112: cannot construct !!str `...` into bool",
  },
];
for (const { name, text, want } of REFUSED) {
  test(name, () => {
    const error = TalosError.from(callFailure(3, text), APPLY);
    assert.equal(error.nodeText, want);
    const printed = `${error.stack} ${JSON.stringify(error)} ${String((error.cause as Error | undefined)?.message)}`;
    assert.doesNotMatch(printed, /s3cret/);
  });
}

test("no value or diff of a refused machine config is quoted, whatever it looks like", () => {
  const secret = "s3cret";
  const line = fc.oneof(
    fc
      .record({ indent: fc.nat(8), dash: fc.boolean(), key: fc.stringMatching(/^[\w.-]{1,8}$/) })
      .map(({ indent, dash, key }) => `${" ".repeat(indent)}${dash ? "- " : ""}${key}: ${secret}`),
    fc.constantFrom(
      `- ${secret}`,
      `        ${secret}==`,
      `+    token: ${secret}`,
      `-    token: ${secret}`,
      `  line 3: cannot construct \`${secret}\``,
      "",
    ),
    fc
      .string({ maxLength: 6 })
      .map((text) => `${text}"key with blanks": ${secret}`)
      .filter((text) => !/^\s*\* /.test(text)),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
      const text = ["unknown keys found during decoding:", ...lines].join("\n");
      assert.doesNotMatch(TalosError.from(callFailure(3, text), APPLY).message, /s3cret/);
    }),
  );
});

test("every code is explained once, in sentences", () => {
  assert.deepEqual(Object.keys(errorReference.codes), Object.keys(TALOS_ERROR_CODES));
  for (const [code, texts] of Object.entries(errorReference.codes))
    for (const text of Object.values(texts)) assert.match(text, /^[^\n]+\.$/, code);
});
