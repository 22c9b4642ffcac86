import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseEndpoint } from "../index.ts";

describe("parseEndpoint", () => {
  const good = [
    ["https://10.0.0.10:6443", "10.0.0.10", 6443],
    ["https://10.0.0.10", "10.0.0.10", 443],
    ["https://api.example.com:443", "api.example.com", 443],
    ["https://[fc00:1::ffff:ffff:ffff:ffff]:6443", "fc00:1::ffff:ffff:ffff:ffff", 6443],
    ["HTTPS://API.example.com:1", "api.example.com", 1],
  ] as const;
  for (const [endpoint, host, port] of good)
    it(`reads ${endpoint}`, () => {
      const read = parseEndpoint(endpoint);
      assert.ok("host" in read, JSON.stringify(read));
      assert.deepEqual([read.host, read.port], [host, port]);
    });

  const bad = [
    ["https://user:pass@host:6443", /user or password/],
    ["https://user@host", /user or password/],
    ["https://host:6443/path", /"\/path" follows/],
    ["https://host:6443/", /"\/" follows/],
    ["https://host:6443?a=b", /"\?a=b" follows/],
    ["https://host:6443#x", /"#x" follows/],
    ["http://host:6443", /"http" is not https/],
    ["ftp://host", /not https/],
    ["host:6443", /no URL/],
    ["", /no URL/],
    ["https://host:0", /"0" is no port/],
    ["https://host:70000", /"70000" is no port/],
    ["https://host:", /"" is no port/],
    ["https://host:06443", /no port/],
    ["https://host:6443:1", /no port/],
    ["https://fd00::1:6443", /no port/],
    ["https://", /no IP address/],
    ["https://[10.0.0.1]:6443", /brackets/],
    ["https://[node]:6443", /brackets/],
    ["https://999.1.1.1:6443", /looks like a number/],
    ["https://127.0.0.1:6443", /own host/],
    ["https://169.254.169.254", /metadata/],
    ["https://..:6443", /no DNS name/],
    ["https://host\n:6443", /no IP address/],
  ] as const;
  for (const [endpoint, want] of bad)
    it(`refuses ${JSON.stringify(endpoint)}`, () => {
      const finding = parseEndpoint(endpoint);
      assert.ok("reason" in finding, `took ${endpoint}`);
      assert.equal(finding.reason, "InvalidEndpoint");
      assert.equal(finding.field, "spec.endpoint");
      assert.match(finding.message, want);
    });

  it("never repeats a password", () => {
    assert.doesNotMatch(JSON.stringify(parseEndpoint("https://user:hunter2@host")), /hunter2/);
    assert.doesNotMatch(JSON.stringify(parseEndpoint("http://user:hunter2@host")), /hunter2/);
  });

  it("opens loopback when asked to", () => {
    assert.ok("host" in parseEndpoint("https://127.1.0.100:6443", "spec.endpoint", { allowLoopback: true }));
  });
});
