import assert from "node:assert/strict";
import { BlockList, isIP } from "node:net";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import { doNetworksOverlap, isInNetwork, printIp, tryParseIp, tryParseNetwork } from "./ip.ts";

describe("tryParseIp", () => {
  const one = [
    ["10.0.0.11", "10.0.0.11"],
    ["255.255.255.255", "255.255.255.255"],
    ["::", "::"],
    ["::1", "::1"],
    ["1::", "1::"],
    ["FD00:0:0:0::0011", "fd00::11"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
    ["64:ff9b::192.0.2.1", "64:ff9b::c000:201"],
  ] as const;
  for (const [text, want] of one)
    it(`reads ${text}`, () => {
      const ip = tryParseIp(text);
      assert.ok(ip);
      assert.equal(printIp(ip), want);
    });

  const none = [
    "",
    "10.0.0",
    "10.0.0.256",
    "010.0.0.1",
    "0x7f.1",
    "2130706433",
    "10.0.0.1 ",
    "1:2:3:4:5:6:7",
    "1::2::3",
    ":::",
    "1:2:3:4:5:6:7::8:9",
  ];
  for (const text of [...none, "::1%eth0", "[::1]", "12345::", "::1.2.3.4.5", "1.2.3.4::", "::1.2.3.4:1", "١.0.0.1"])
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(tryParseIp(text), undefined));

  it("agrees with Node's own parser on what is an address, but for zones", () => {
    const part = fc.oneof(
      fc.constantFrom("", "0", "ffff", "10.0.0.1", "1.2.3.4", "256", "g"),
      fc.nat(0x1ffff).map((n) => n.toString(16)),
    );
    const six = fc.array(part, { maxLength: 9 }).map((parts) => parts.join(":"));
    const four = fc
      .array(fc.oneof(fc.nat(300).map(String), fc.constantFrom("", "00", "01")), { minLength: 3, maxLength: 5 })
      .map((parts) => parts.join("."));
    fc.assert(
      fc.property(fc.oneof(six, four, fc.ipV4(), fc.ipV6()), (text) => assert.equal(tryParseIp(text)?.family ?? 0, isIP(text), text)),
      { numRuns: 3000 },
    );
  });

  it("prints what it reads again as the same address, in one spelling only", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
        const ip = tryParseIp(text);
        assert.ok(ip);
        assert.deepEqual(tryParseIp(printIp(ip)), ip);
      }),
    );
  });
});

describe("networks", () => {
  it("are read with their host bits dropped", () => {
    assert.deepEqual(tryParseNetwork("10.244.3.1/16"), tryParseNetwork("10.244.0.0/16"));
  });

  for (const text of ["10.0.0.0", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8/8", "fd00::/129", "300.0.0.0/8", "/8"])
    it(`refuses ${text}`, () => assert.equal(tryParseNetwork(text), undefined));

  it("hold the addresses that Node's block list says they hold", () => {
    const address = fc.oneof(fc.ipV4(), fc.constantFrom("10.244.0.0", "10.244.255.255", "10.245.0.0", "10.96.0.1"));
    fc.assert(
      fc.property(address, fc.constantFrom("10.244.0.0", "10.96.0.0", "0.0.0.0"), fc.nat(32), (text, base, prefix) => {
        const list = new BlockList();
        list.addSubnet(base, prefix, "ipv4");
        const network = tryParseNetwork(`${base}/${prefix}`);
        const ip = tryParseIp(text);
        assert.ok(network && ip);
        assert.equal(isInNetwork(network, ip), list.check(text, "ipv4"));
      }),
    );
  });

  it("overlap when one holds the other's first address, and never across families", () => {
    const overlap = (a: string, b: string) => {
      const [one, two] = [tryParseNetwork(a), tryParseNetwork(b)];
      assert.ok(one && two);
      assert.equal(doNetworksOverlap(one, two), doNetworksOverlap(two, one));
      return doNetworksOverlap(one, two);
    };
    assert.equal(overlap("10.96.0.0/12", "10.96.0.0/16"), true);
    assert.equal(overlap("10.96.0.0/12", "10.112.0.0/16"), false);
    assert.equal(overlap("0.0.0.0/0", "::/0"), false);
  });
});
