import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createX509Keys } from "@talos-operator/adapters";
import { createSecretScan, secretsIn } from "./secret-scan.ts";

const token = "kljrjl.4j0wnfn62bbvixof";
const secret = "mlbEJyHnFJXGmbE6gJ2tw5qtTkCbdzbHsHHZ6Kv6cOM=";

const keys = createX509Keys();
const authority = await keys.createAuthority({ kind: "ed25519", organization: "talos", notBefore: 0 });
const rsa = await keys.createPrivateKey("rsa4096");

const bodyOf = (pem: string): string =>
  pem
    .split("\n")
    .filter((line) => !line.startsWith("-----"))
    .join("");
const halves = (text: string): readonly string[] => [text.slice(0, Math.ceil(text.length / 2)), text.slice(Math.floor(text.length / 2))];

describe("the scan for secrets", () => {
  const secrets = { token, secret, "an Ed25519 key": authority.key, "an RSA key": rsa };
  for (const [name, value] of Object.entries(secrets)) {
    const bare = value.includes("-----") ? bodyOf(value) : value;
    const bytes = Buffer.from(bare, "base64");
    const written: Readonly<Record<string, readonly string[]>> = {
      "as it is": [value, JSON.stringify(value), bare],
      "one half of it": halves(bare),
      "in base64, wherever it begins": ["", "x", "xy"].map((before) => Buffer.from(`${before}${value}`).toString("base64")),
      "one half of it in base64": halves(bare).map((half) => Buffer.from(half).toString("base64")),
      "in base64 of URLs": [Buffer.from(bare).toString("base64url")],
      "in hex": [Buffer.from(value).toString("hex"), Buffer.from(bare).toString("hex").toUpperCase()],
      ...(name === "token" ? {} : { "the hex of its bytes": [...halves(bytes.toString("hex")), bytes.toString("hex").toUpperCase()] }),
    };
    for (const [how, texts] of Object.entries(written))
      test(`finds ${name} ${how}`, () => {
        const scan = createSecretScan();
        scan.add(name, value);
        for (const text of texts) assert.equal(scan.find(`the machine says: ${text}, and more`), name, text.slice(0, 40));
      });
  }

  test("finds the body of a key without its header, line by line", () => {
    const scan = createSecretScan();
    scan.add("key", rsa);
    const lines = rsa.split("\n").filter((one) => one.length >= 64 && !one.startsWith("-"));
    assert.ok(lines.length > 40, String(lines.length));
    for (const line of lines) assert.equal(scan.find(line), "key");
  });

  test("takes nothing else for a secret: no header, no certificate, no other key, no piece that is too short", () => {
    const scan = createSecretScan();
    for (const [name, value] of Object.entries(secrets)) scan.add(name, value);
    const others = [
      "-----BEGIN ED25519 PRIVATE KEY-----",
      authority.certificate,
      Buffer.from(authority.certificate).toString("base64"),
      "abcdef.0123456789abcdef",
      token.slice(0, 10),
      "",
      "first-10.5.0.1 waits in maintenance mode with the key 5YGNQVCGtYlvOpG24Xo4pdcsPR5z34Yl2KVPZjZ2yhE=",
    ];
    for (const text of others) assert.equal(scan.find(text), undefined, text.slice(0, 60));
  });

  test("knows of each secret once", () => {
    const scan = createSecretScan();
    assert.equal(scan.add("token", token), true);
    assert.equal(scan.add("token", token), false);
  });
});

test("secrets in a file are told by the words before them, and certificates are none", () => {
  const pem = authority.key;
  const file = `cluster:
  id: ${secret}
  secret: ${secret}
secrets:
  bootstraptoken: ${token}
certs:
  os:
    crt: ${Buffer.from(authority.certificate).toString("base64")}
    key: ${Buffer.from(pem).toString("base64")}
`;
  assert.deepEqual(secretsIn(file), [
    { name: "secret", secret },
    { name: "bootstraptoken", secret: token },
    { name: "key", secret: pem },
  ]);
  assert.deepEqual(secretsIn(JSON.stringify({ trustdinfo: { token } })), [{ name: "token", secret: token }]);
});
