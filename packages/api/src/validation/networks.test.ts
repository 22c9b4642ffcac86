import assert from "node:assert/strict";
import { test } from "node:test";
import { validateNetworks } from "./networks.ts";

const cases: readonly {
  readonly name: string;
  readonly pods?: readonly string[];
  readonly services?: readonly string[];
  readonly says?: RegExp;
}[] = [
  { name: "takes the defaults" },
  { name: "takes networks of IPv6 alone", pods: ["fd00:10:244::/56"], services: ["fd00:10:96::/112"] },
  { name: "takes one of each family", pods: ["10.244.0.0/16", "fd00:10:244::/56"], services: ["10.96.0.0/12", "fd00:10:96::/112"] },
  { name: "takes another order of families", pods: ["fd00:10:244::/56", "10.244.0.0/16"], services: ["fd00:10:96::/112", "10.96.0.0/12"] },
  {
    name: "refuses services of IPv6 that are too large",
    pods: ["fd00:10:244::/56"],
    services: ["fd00:10:96::/107"],
    says: /larger than Kubernetes takes/,
  },
  { name: "refuses pods of IPv6 that are too large", pods: ["fd00:10::/47"], services: ["fd00:96::/112"], says: /\/64 for each node/ },
  { name: "refuses pods of IPv6 that are too small", pods: ["fd00:10::/65"], services: ["fd00:96::/112"], says: /\/64 for each node/ },
  {
    name: "refuses pods of IPv6 beside services of the default",
    pods: ["fd00:10::/56"],
    says: /IPv6 network, and spec\.serviceCIDR has none/,
  },
  {
    name: "refuses services of both beside pods of one",
    services: ["10.96.0.0/12", "fd00:96::/112"],
    says: /IPv6 network, and spec\.podCIDR has none/,
  },
];

for (const { name, pods, services, says } of cases) {
  test(`networks of a cluster: ${name}`, () => {
    const spec = { ...(pods === undefined ? {} : { podCIDR: pods }), ...(services === undefined ? {} : { serviceCIDR: services }) };
    const findings = validateNetworks(spec).map(({ message }) => message);
    if (says === undefined) assert.deepEqual(findings, []);
    else assert.match(findings.join("\n"), says);
  });
}
