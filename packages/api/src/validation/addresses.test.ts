import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clusterNetworks, findingsMessage, validateAddress, validateAddresses } from "../index.ts";
import type { AddressOptions } from "../index.ts";

const field = "spec.metalSpec.machines[0].address";
const problemOf = (address: string, options: AddressOptions = {}) => validateAddress({ field, address }, options)[0]?.message;

describe("validateAddress", () => {
  const good = ["10.20.0.11", "192.168.1.1", "fd00::11", "node-1.example.com", "rack1", "xn--bcher-kva.example", "203.0.113.9"];
  for (const address of good) it(`takes ${address}`, () => assert.equal(problemOf(address), undefined));

  const bad = [
    ["127.0.0.1", /own host/],
    ["::1", /own host/],
    ["localhost", /own host/],
    ["a.LOCALHOST", /own host/],
    ["0.0.0.0", /no machine/],
    ["[::ffff:127.0.0.1]", /no IP address and no DNS name/],
    ["::ffff:127.0.0.1", /IPv6 clothes/],
    ["::ffff:7f00:1", /IPv6 clothes/],
    ["2130706433", /looks like a number/],
    ["0x7f.1", /looks like a number/],
    ["0x7f000001", /looks like a number/],
    ["017700000001", /looks like a number/],
    ["010.0.0.1", /looks like a number/],
    ["999.1.1.1", /looks like a number/],
    ["10.0.0.1:50000", /no IP address and no DNS name/],
    ["fe80::1%eth0", /no IP address and no DNS name/],
    ["fe80::1", /link-local/],
    ["١٠.0.0.1", /\\u0661/],
    ["node.example.com.", /ends in a dot/],
    ["bücher.example", /\\u00fc/],
    ["-a.example", /no DNS name/],
    [`${"a".repeat(64)}.example`, /no DNS name/],
    ["169.254.169.254", /metadata service/],
    ["169.254.3.4", /link-local/],
    ["fd00:ec2::254", /metadata service/],
    ["metadata.google.internal", /metadata service/],
    ["100.100.100.200", /metadata service/],
    ["224.0.0.1", /multicast/],
    ["255.255.255.255", /reserved/],
    ["ff02::1", /multicast/],
    ["::", /no machine/],
    ["", /no IP address/],
    ["10.0.0.1\n", /no IP address/],
  ] as const;
  for (const [address, want] of bad)
    it(`refuses ${JSON.stringify(address)}`, () => {
      assert.match(problemOf(address) ?? "nothing wrong", want);
      assert.equal(validateAddress({ field, address })[0]?.reason, "InvalidAddress");
    });

  it("opens loopback addresses, and nothing else, when asked to", () => {
    for (const address of ["127.0.0.1", "127.1.0.3", "::1", "localhost"])
      assert.equal(problemOf(address, { allowLoopback: true }), undefined);
    assert.match(problemOf("0.0.0.0", { allowLoopback: true }) ?? "", /no machine/);
    assert.match(problemOf("2130706433", { allowLoopback: true }) ?? "", /looks like a number/);
    assert.match(problemOf("169.254.169.254", { allowLoopback: true }) ?? "", /metadata/);
  });

  it("refuses networks that the caller forbids", () => {
    const forbiddenNetworks = [{ network: "10.1.0.0/16", what: "the pods of this cluster" }];
    assert.match(problemOf("10.1.2.3", { forbiddenNetworks }) ?? "", /lies in 10\.1\.0\.0\/16, the pods of this cluster/);
    assert.equal(problemOf("10.2.2.3", { forbiddenNetworks }), undefined);
  });

  const inside = [
    { address: "10.244.3.7", spec: {}, want: /10\.244\.0\.0\/16, the network of pods/, remedy: /set spec\.podCIDR .* is the default/ },
    { address: "10.96.0.1", spec: {}, want: /10\.96\.0\.0\/12, the network of services/, remedy: /set spec\.serviceCIDR/ },
    { address: "10.50.0.9", spec: { podCIDR: ["10.50.0.0/16"] }, want: /10\.50\.0\.0\/16/, remedy: /change spec\.podCIDR\[0\]/ },
    { address: "10.111.255.255", spec: { podCIDR: [] }, want: /10\.96\.0\.0\/12/, remedy: /set spec\.serviceCIDR/ },
  ];
  for (const { address, spec, want, remedy } of inside)
    it(`refuses ${address} inside the cluster's networks ${JSON.stringify(spec)}`, () => {
      const [finding, ...rest] = validateAddress({ field, address }, { networks: clusterNetworks(spec) });
      assert.equal(finding?.reason, "AddressInClusterRange");
      assert.match(finding.message, want);
      assert.match(finding.remedy, remedy);
      assert.deepEqual(rest, []);
    });

  it("takes an address just outside", () => {
    for (const address of ["10.245.0.0", "10.95.255.255", "10.112.0.0"])
      assert.equal(problemOf(address, { networks: clusterNetworks({}) }), undefined);
  });
});

describe("validateAddresses", () => {
  it("reports one address twice on both, naming the other place", () => {
    const findings = validateAddresses([
      { field: "spec.metalSpec.machines[0].address", address: "10.0.0.1" },
      { field: "spec.metalSpec.machines[1].address", address: "10.0.0.2" },
      { field: "spec.metalSpec.machines[2].address", address: "10.0.0.1" },
    ]);
    assert.deepEqual(
      findings.map(({ field, reason, message }) => [field, reason, message]),
      [
        ["spec.metalSpec.machines[0].address", "DuplicateAddress", '"10.0.0.1" is also at spec.metalSpec.machines[2].address'],
        ["spec.metalSpec.machines[2].address", "DuplicateAddress", '"10.0.0.1" is also at spec.metalSpec.machines[0].address'],
      ],
    );
  });

  it("sees one address through its spellings, and across objects", () => {
    const findings = validateAddresses([{ field, address: "FD00::0:1", object: "TalosWorker/a" }], {
      others: [{ field, address: "fd00::1", object: "TalosControlPlane/a" }],
    });
    assert.equal(findings.length, 1);
    assert.match(findings[0]?.message ?? "", /TalosControlPlane\/a spec\.metalSpec\.machines\[0\]\.address/);
  });

  it("names few places when one address fills a list, and stays quick", () => {
    const machines = Array.from({ length: 20_000 }, (_, n) => ({ field: `m[${n}]`, address: "10.0.0.1" }));
    const findings = validateAddresses(machines);
    assert.equal(findings.length, 20_000);
    assert.equal(findings[0]?.message, '"10.0.0.1" is also at m[1], m[2], m[3], 19996 more places');
    assert.equal(findings[9]?.message, '"10.0.0.1" is also at m[0], m[1], m[2], 19996 more places');
  });

  it("takes a thousand different addresses", () => {
    const machines = Array.from({ length: 1000 }, (_, n) => ({ field: `m[${n}]`, address: `10.0.${n >> 8}.${n & 255}` }));
    assert.deepEqual(validateAddresses(machines, { networks: clusterNetworks({}) }), []);
  });
});

describe("findingsMessage", () => {
  it("says field, fault and remedy of each, and how many are left out", () => {
    const findings = validateAddresses(["10.0.0.300", "localhost", "::1"].map((address, n) => ({ field: `m[${n}]`, address })));
    assert.equal(
      findingsMessage(findings, 1),
      'm[0]: "10.0.0.300" looks like a number and is no IP address. Write an IP address such as 10.0.0.11 or a DNS name, without port, zone or brackets. And 2 more.',
    );
  });
});
