import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { load } from "js-yaml";
import { hasUnusedAddressSettings, metaNetworkText, metaProblems } from "./meta-network.ts";

const whole = { hostname: "db-1", interface: "eth0", subnet: 24, gateway: "10.0.0.254", dnsServers: ["10.0.0.53", "2001:db8::53"] };

test("static network settings are what Talos reads from META, for the address of the machine", () => {
  assert.deepEqual(load(metaNetworkText(whole, "10.0.0.1") ?? ""), {
    addresses: [{ address: "10.0.0.1/24", linkName: "eth0", family: "inet4", scope: "global", flags: "permanent", layer: "platform" }],
    links: [{ name: "eth0", logical: false, up: true, mtu: 0, kind: "", type: "ether", layer: "platform" }],
    routes: [
      {
        family: "inet4",
        dst: "",
        src: "",
        gateway: "10.0.0.254",
        outLinkName: "eth0",
        table: "main",
        priority: 1024,
        scope: "global",
        type: "unicast",
        flags: "",
        protocol: "static",
        layer: "platform",
      },
    ],
    hostnames: [{ hostname: "db-1", domainname: "", layer: "platform" }],
    resolvers: [{ dnsServers: ["10.0.0.53", "2001:db8::53"], layer: "platform" }],
  });
});

test("an IPv6 machine gets an IPv6 address and route", () => {
  const text = metaNetworkText({ interface: "eth0", subnet: 64, gateway: "fe80::1" }, "2001:DB8::1") ?? "";
  const { addresses, routes } = load(text) as { addresses: { address: string; family: string }[]; routes: { family: string }[] };
  assert.equal(addresses[0]?.address, "2001:db8::1/64");
  assert.deepEqual([addresses[0]?.family, routes[0]?.family], ["inet6", "inet6"]);
});

test("a value means itself, whatever stands in it", () => {
  const odd = 'e"0\\: {}#';
  const { links } = load(metaNetworkText({ interface: odd, subnet: 24 }, "10.0.0.1") ?? "") as { links: { name: string }[] };
  assert.equal(links[0]?.name, odd);
});

test("a machine that is named by DNS gets host name and resolvers alone, and the rest is told", () => {
  assert.deepEqual(Object.keys(load(metaNetworkText(whole, "cp.example.org") ?? "") as object), ["hostnames", "resolvers"]);
  assert.equal(hasUnusedAddressSettings(whole, "cp.example.org"), true);
  assert.equal(hasUnusedAddressSettings(whole, "10.0.0.1"), false);
  assert.equal(hasUnusedAddressSettings({ hostname: "a" }, "cp.example.org"), false);
});

test("settings that say nothing give no text", () => {
  for (const meta of [undefined, {}, { hostname: "", dnsServers: [] }]) assert.equal(metaNetworkText(meta, "10.0.0.1"), undefined);
});

describe("static network settings that would cut a machine off are refused with their field", () => {
  const cases = [
    { name: "a host name with a quote", meta: { hostname: 'a"b' }, field: "hostname" },
    { name: "a host name of 254 characters", meta: { hostname: "a".repeat(254) }, field: "hostname" },
    { name: "an interface with a slash", meta: { interface: "../eth0", subnet: 24 }, field: "interface" },
    { name: "an interface of 16 characters", meta: { interface: "a".repeat(16), subnet: 24 }, field: "interface" },
    { name: "a subnet without interface", meta: { subnet: 24 }, field: "interface" },
    { name: "an interface without subnet", meta: { interface: "eth0" }, field: "subnet" },
    { name: "a subnet of 0", meta: { interface: "eth0", subnet: 0 }, field: "subnet" },
    { name: "a subnet of 33", meta: { interface: "eth0", subnet: 33 }, field: "subnet" },
    { name: "a gateway that is no address", meta: { interface: "eth0", subnet: 24, gateway: "router" }, field: "gateway" },
    { name: "a gateway of another family", meta: { interface: "eth0", subnet: 24, gateway: "fe80::1" }, field: "gateway" },
    { name: "a gateway outside the network", meta: { interface: "eth0", subnet: 24, gateway: "10.0.1.254" }, field: "gateway" },
    { name: "a resolver that is a name", meta: { dnsServers: ["10.0.0.53", "dns.example.org"] }, field: "dnsServers[1]" },
    { name: "seventeen resolvers", meta: { dnsServers: Array.from({ length: 17 }, () => "10.0.0.53") }, field: "dnsServers" },
  ];
  for (const { name, meta, field } of cases)
    test(name, () => {
      const [first, ...more] = metaProblems(meta, "meta", ["10.0.0.1"]);
      assert.equal(first?.field, `meta.${field}`);
      assert.equal(first.reason, "InvalidConfig");
      assert.notEqual(first.remedy, "");
      assert.deepEqual(more, []);
    });

  test("and good ones are not", () => {
    assert.deepEqual(metaProblems(whole, "meta", ["10.0.0.1", "10.0.0.2"]), []);
    assert.deepEqual(metaProblems({ interface: "eth0", subnet: 120, gateway: "fe80::1" }, "meta", ["2001:db8::1"]), []);
    assert.deepEqual(metaProblems({ interface: "eth0", subnet: 24, gateway: "10.0.0.254" }, "meta", ["cp.example.org"]), []);
  });
});
