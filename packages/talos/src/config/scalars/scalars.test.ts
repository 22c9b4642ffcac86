import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { formatDiskSize, parseBytes } from "./bytes.ts";
import { formatDuration, tryParseDuration } from "./duration.ts";
import { tryParseInteger } from "./integer.ts";
import { cidrContains, cidrsOverlap, formatAddress, tryParseAddress, tryParsePrefix } from "./ip.ts";
import { mergeUrls, tryNormalizeUrl } from "./url.ts";

describe("addresses", () => {
  for (const [text, canonical] of [
    ["10.0.0.1", "10.0.0.1"],
    ["2001:0DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["::", "::"],
    ["1:0:0:2:0:0:0:3", "1:0:0:2::3"],
    ["1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"],
    ["::ffff:1.2.3.4", "::ffff:1.2.3.4"],
    ["64:ff9b::1.2.3.4", "64:ff9b::102:304"],
    ["fe80::1%eth0", "fe80::1%eth0"],
  ] as const) {
    test(`${text} is ${canonical}`, () => {
      const address = tryParseAddress(text);
      assert.ok(address !== undefined);
      assert.equal(formatAddress(address), canonical);
    });
  }
  for (const text of [
    "",
    "1.2.3",
    "1.2.3.256",
    "01.2.3.4",
    "1.2.3.4.5",
    ":::",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "g::",
    "fe80::1%",
    "12345::",
    "[::1]",
    " 1.2.3.4",
  ]) {
    test(`${JSON.stringify(text)} is none`, () => {
      assert.equal(tryParseAddress(text), undefined);
    });
  }

  test("an address is in a network, at its edges and not beyond", () => {
    assert.ok(cidrContains("10.244.0.0/16", "10.244.255.255"));
    assert.ok(!cidrContains("10.244.0.0/16", "10.245.0.0"));
    assert.ok(cidrContains("fc00:db8:10::/56", "fc00:db8:10:ff::1"));
    assert.ok(!cidrContains("fc00:db8:10::/56", "fc00:db8:11::"));
    assert.ok(!cidrContains("0.0.0.0/0", "::1"));
    assert.ok(cidrContains("0.0.0.0/0", "255.255.255.255"));
    assert.ok(!cidrContains("nonsense", "1.2.3.4"));
  });

  test("networks overlap when one holds the other", () => {
    assert.ok(cidrsOverlap("10.0.0.0/8", "10.244.0.0/16"));
    assert.ok(cidrsOverlap("10.244.0.0/16", "10.0.0.0/8"));
    assert.ok(!cidrsOverlap("10.244.0.0/16", "10.96.0.0/12"));
  });

  test("whatever is printed is read as the same address", () => {
    const addresses = fc.oneof(fc.ipV4(), fc.ipV6());
    fc.assert(
      fc.property(addresses, (text) => {
        const address = tryParseAddress(text);
        assert.ok(address !== undefined, text);
        assert.deepEqual(tryParseAddress(formatAddress(address)), address);
        const bits = address.family === 4 ? 32 : 128;
        assert.ok(cidrContains(`${text}/${bits}`, formatAddress(address)));
        assert.equal(tryParsePrefix(`${text}/${bits + 1}`), undefined);
      }),
      { seed: 5 },
    );
  });
});

describe("durations", () => {
  for (const [text, canonical] of [
    ["120s", "2m0s"],
    ["168h", "168h0m0s"],
    ["1.5s", "1.5s"],
    ["1h", "1h0m0s"],
    ["250ms", "250ms"],
    ["1500us", "1.5ms"],
    ["0", "0s"],
    ["-90s", "-1m30s"],
  ] as const) {
    test(`${text} is ${canonical}`, () => {
      assert.equal(formatDuration(tryParseDuration(text) ?? 1n), canonical);
    });
  }
  for (const text of ["", "5", "soon", "1d", "1h 2m", "9999999999h"]) {
    test(`${JSON.stringify(text)} is none`, () => {
      assert.equal(tryParseDuration(text), undefined);
    });
  }
  test("whatever is printed is read as the same duration", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (value) => {
        assert.equal(tryParseDuration(formatDuration(value)), value);
      }),
      { seed: 6 },
    );
  });
});

test("sizes are read with their units, and disks print them for people", () => {
  assert.deepEqual(parseBytes("1.5TiB"), { bytes: 1.5 * 1024 ** 4 });
  assert.deepEqual(parseBytes("100 GB"), { bytes: 1e11 });
  assert.deepEqual(parseBytes("5 potatoes"), { refusal: "unhandled size name: potatoes" });
  assert.deepEqual([1, 1000, 1500, 12_000, 1e11, 1.5e12].map(formatDiskSize), ["1", "1.0 kB", "1500", "12 kB", "100 GB", "1.5 TB"]);
});

test("a leading zero makes a number octal", () => {
  assert.deepEqual(["0644", "0o17", "0x1F", "1_000", "-5", "09", "1.0", ""].map(tryParseInteger), [
    420n,
    15n,
    31n,
    1000n,
    -5n,
    undefined,
    undefined,
    undefined,
  ]);
});

test("a URL is patched part by part", () => {
  assert.equal(mergeUrls("https://a:6443/x?y=1", "https://b"), "https://b/x?y=1");
  assert.equal(mergeUrls("https://a", "http://c:1/z"), "http://c:1/z");
  assert.equal(mergeUrls("https://a:6443", "no%20slash"), "https://a:6443/no%20slash");
  assert.equal(tryNormalizeUrl("https://bad host:6443"), undefined);
  assert.equal(tryNormalizeUrl("HTTPS://a.example"), "https://a.example");
});
