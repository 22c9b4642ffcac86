import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { redactMachineConfig } from "./redact.ts";

describe("secrets of a config are replaced", () => {
  const cases: readonly (readonly [name: string, config: string, want: RegExp])[] = [
    [
      "the keys of encryption at rest, whatever the provider is called",
      "apiVersion: v1alpha1\nkind: KubeEtcdEncryptionConfig\nconfig:\n  resources:\n    - resources: [secrets]\n      providers:\n        - aesgcm: {keys: [{name: a, secret: s3cret}]}\n        - secretbox: {keys: [{name: b, secret: s3cret}]}\n",
      /secret: '\*\*REDACTED\*\*'\n.*secretbox:.*secret: '\*\*REDACTED\*\*'/s,
    ],
    [
      "a join token in an address, whose query is sorted",
      "apiVersion: v1alpha1\nkind: SideroLinkConfig\napiUrl: grpc://x:1?z=1&jointoken=s3cret&jointoken=s3cret&a=b+c\n",
      /apiUrl: grpc:\/\/x:1\?a=b\+c&jointoken=%2A%2AREDACTED%2A%2A&z=1\n/,
    ],
    ["a key in base64, by base64", "machine:\n  ca: {crt: QQ==, key: czNjcmV0}\n", /crt: QQ==\n +key: KipSRURBQ1RFRCoq\n/],
    [
      "a token of each interface",
      "machine:\n  network:\n    interfaces:\n      - vip: {ip: 192.0.2.1, hcloud: {apiToken: s3cret}}\n",
      /apiToken: '\*\*REDACTED\*\*'/,
    ],
  ];
  for (const [name, config, want] of cases) {
    test(name, () => {
      const redacted = redactMachineConfig(config);
      assert.match(redacted, want);
      assert.doesNotMatch(redacted, /s3cret|czNjcmV0/);
    });
  }
});

test("what is empty stays empty, and the words may be others", () => {
  assert.match(redactMachineConfig("machine:\n  token: ''\n  ca: {crt: '', key: ''}\n"), /token: ""\n.*key: ""\n/s);
  assert.match(redactMachineConfig("machine:\n  token: a.b\n", { replacement: "x" }), /token: x\n/);
});
