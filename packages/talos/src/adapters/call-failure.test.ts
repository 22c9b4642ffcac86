import assert from "node:assert/strict";
import { test } from "node:test";

import { callFailure } from "./call-failure.ts";

// Texts as grpc-js 1.14.7 gives them.
test("gives equal texts for equal failures", () => {
  const refused = "No connection established. Last error: Error: connect ECONNREFUSED 10.5.0.2:50000. Resolution note: ";
  assert.equal(callFailure(14, refused, undefined).message, "connect ECONNREFUSED 10.5.0.2:50000");
  const http2 = "No connection established. Last error: Failed to connect (2026-11-21T02:28:36.742Z). Resolution note: ";
  assert.equal(callFailure(14, http2, undefined).message, "Failed to connect");
  const deadline = "Deadline exceeded after 0.102s,name resolution: 0.001s,metadata filters: 0.000s,time to current attempt start: 0.003s";
  assert.equal(callFailure(4, deadline, undefined, 100).message, "no answer within 100 ms");
});

test("keeps what the machine itself said", () => {
  assert.equal(callFailure(4, "context deadline exceeded", undefined, 100).message, "context deadline exceeded");
  assert.equal(callFailure(6, "etcd data directory is not empty", undefined).message, "etcd data directory is not empty");
});

test("attaches what TLS found out only to the attempt that failed so", () => {
  const seen = { quoted: "40FD:error:alert:116", text: "TLS: tlsv13 alert certificate required", tls: "client-refused" } as const;
  const same = callFailure(14, "No connection established. Last error: Error: 40FD:error:alert:116. Resolution note: ", seen);
  assert.deepEqual({ tls: same.tls, message: same.message }, { tls: "client-refused", message: seen.text });
  const later = callFailure(
    14,
    "No connection established. Last error: Error: connect ECONNREFUSED 10.5.0.2:50000. Resolution note: ",
    seen,
  );
  assert.equal(later.tls, undefined);
});

test("tells a length that is no length from a message that is too large", () => {
  assert.equal(callFailure(8, "Received message larger than max (875573280 vs 33554432)", undefined).peer, "not-grpc");
  assert.equal(callFailure(8, "Received message larger than max (34603008 vs 33554432)", undefined).peer, undefined);
  assert.equal(callFailure(12, "Received HTTP status code 404", undefined).peer, "not-grpc");
});
