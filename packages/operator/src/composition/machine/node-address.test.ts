import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeAddressOf } from "./node-address.ts";
import type { AddressStatus } from "./node-address.ts";

const cases: readonly (readonly [
  name: string,
  status: AddressStatus | undefined,
  current: string | undefined,
  want: string | undefined,
])[] = [
  ["no status", undefined, undefined, undefined],
  ["no address yet", { publicIPAddresses: [] }, undefined, undefined],
  ["the first public one, as existing operators do", { ipAddresses: ["10.0.0.2"], publicIPAddresses: ["10.0.0.1"] }, undefined, "10.0.0.1"],
  ["IPv4 before IPv6", { publicIPAddresses: ["2001:db8::1", "10.0.0.1"] }, undefined, "10.0.0.1"],
  ["IPv6 alone", { ipv6Addresses: ["2001:DB8:0::1"] }, undefined, "2001:db8::1"],
  ["of an interface", { networkInterfaces: [{}, { ipAddresses: ["10.0.0.7"] }] }, undefined, "10.0.0.7"],
  ["the one it has, wherever it stands now", { publicIPAddresses: ["10.0.0.2", "10.0.0.1"] }, "10.0.0.1", "10.0.0.1"],
  [
    "the one it has, although the list of public ones came later",
    { publicIPAddresses: ["10.0.0.2"], ipAddresses: ["10.0.0.1"] },
    "10.0.0.1",
    "10.0.0.1",
  ],
  ["another one when the one it had is gone", { publicIPAddresses: ["10.0.0.9"] }, "10.0.0.1", "10.0.0.9"],
  ["none, rather than an old one, when all are gone", { publicIPAddresses: [] }, "10.0.0.1", undefined],
  ["with a prefix length", { ipAddresses: ["10.0.0.3/24"] }, undefined, "10.0.0.3"],
  ["no link-local ones, no text", { publicIPAddresses: ["169.254.1.1", "fe80::1", "pending", ""] }, undefined, undefined],
  ["no lists where there should be", { publicIPAddresses: "10.0.0.1" } as unknown as AddressStatus, undefined, undefined],
];

for (const [name, status, current, want] of cases)
  test(`address of a machine: ${name}`, () => assert.equal(nodeAddressOf(status, current), want));
