import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { validateControlPlaneSpec, validateNetworks, validateWorkerSpec } from "../index.ts";
import type { Finding, TalosControlPlaneSpec, TalosWorkerSpec } from "../index.ts";

const versions = { version: "v1.13.9", kubeVersion: "v1.36.3", mode: "metal" } as const;
const machines = (count: number, from = 11) => Array.from({ length: count }, (_, n) => ({ address: `10.20.0.${from + n}` }));
const controlPlane = (change: Partial<TalosControlPlaneSpec> = {}): TalosControlPlaneSpec => ({
  ...versions,
  endpoint: "https://10.20.0.10:6443",
  metalSpec: { machines: machines(3) },
  ...change,
});
const worker = (change: Partial<TalosWorkerSpec> = {}): TalosWorkerSpec => ({
  ...versions,
  controlPlaneRef: { name: "demo" },
  metalSpec: { machines: machines(2, 31) },
  ...change,
});
const short = (findings: readonly Finding[]) => findings.map(({ reason, field }) => `${reason} ${field}`);

describe("validateControlPlaneSpec", () => {
  const cases: readonly { name: string; spec: TalosControlPlaneSpec; want: readonly string[] }[] = [
    { name: "takes three machines with an endpoint", spec: controlPlane(), want: [] },
    { name: "takes seven machines", spec: controlPlane({ metalSpec: { machines: machines(7) } }), want: [] },
    {
      name: "refuses two machines",
      spec: controlPlane({ metalSpec: { machines: machines(2) } }),
      want: ["UnsupportedReplicas spec.metalSpec.machines"],
    },
    {
      name: "refuses four machines",
      spec: controlPlane({ metalSpec: { machines: machines(4) } }),
      want: ["UnsupportedReplicas spec.metalSpec.machines"],
    },
    {
      name: "refuses nine machines",
      spec: controlPlane({ metalSpec: { machines: machines(9) } }),
      want: ["UnsupportedReplicas spec.metalSpec.machines"],
    },
    { name: "refuses no machines", spec: controlPlane({ metalSpec: {} }), want: ["UnsupportedReplicas spec.metalSpec.machines"] },
    {
      name: "refuses mode container alone, whatever else is written",
      spec: controlPlane({ mode: "container", endpoint: "http://x" }),
      want: ["ModeNotSupported spec.mode"],
    },
    {
      name: "refuses an endpoint that is no https URL",
      spec: controlPlane({ endpoint: "http://10.20.0.10:6443" }),
      want: ["InvalidEndpoint spec.endpoint"],
    },
    {
      name: "refuses an endpoint inside the service network",
      spec: controlPlane({ endpoint: "https://10.96.0.1:6443" }),
      want: ["AddressInClusterRange spec.endpoint"],
    },
    {
      name: "refuses a third network of a family with one word for it, and so a second",
      spec: controlPlane({ podCIDR: ["10.241.0.0/16", "10.242.0.0/16", "10.243.0.0/16"] }),
      want: ["InvalidNetwork spec.podCIDR[1]", "InvalidNetwork spec.podCIDR[2]"],
    },
    {
      name: "refuses a cluster domain of 300 characters",
      spec: controlPlane({ clusterDomain: `${`${"a".repeat(60)}.`.repeat(5)}org` }),
      want: ["InvalidNetwork spec.clusterDomain"],
    },
    {
      name: "refuses a cluster domain with a label of 70 characters",
      spec: controlPlane({ clusterDomain: `${"a".repeat(70)}.local` }),
      want: ["InvalidNetwork spec.clusterDomain"],
    },
    {
      name: "refuses networks that overlap",
      spec: controlPlane({ podCIDR: ["10.96.0.0/16"], serviceCIDR: ["10.96.0.0/12"] }),
      want: ["InvalidNetwork spec.serviceCIDR[0]"],
    },
    {
      name: "refuses a machine inside the pod network",
      spec: controlPlane({ podCIDR: ["10.20.0.0/16"], endpoint: "https://api.example.com:6443" }),
      want: machines(3).map((_, n) => `AddressInClusterRange spec.metalSpec.machines[${n}].address`),
    },
    {
      name: "checks what is known and leaves references to later",
      spec: controlPlane({
        metalSpec: { machines: [{ machineRef: { name: "a" } }, { address: "10.0.0.300" }, { machineRef: { name: "b" } }] },
      }),
      want: ["InvalidAddress spec.metalSpec.machines[1].address"],
    },
    {
      name: "refuses loopback machines",
      spec: controlPlane({ metalSpec: { machines: [{ address: "127.1.0.1" }] } }),
      want: ["InvalidAddress spec.metalSpec.machines[0].address"],
    },
  ];
  for (const { name, spec, want } of cases) it(name, () => assert.deepEqual(short(validateControlPlaneSpec(spec)), want));

  it("asks for no endpoint: the first machine's address is the default", () => {
    const { endpoint: _, ...spec } = controlPlane();
    assert.deepEqual(validateControlPlaneSpec(spec), []);
  });

  it("takes the networks of the rendered config when patches change them", () => {
    const networks = { podCIDR: ["fd01::/48"], serviceCIDR: ["fd02::/108"] };
    const spec = controlPlane({ metalSpec: { machines: [{ address: "10.244.0.9" }] } });
    assert.deepEqual(short(validateControlPlaneSpec(spec)), ["AddressInClusterRange spec.metalSpec.machines[0].address"]);
    assert.deepEqual(validateControlPlaneSpec(spec, { networks }), []);
  });

  it("compares with the machines of worker pools", () => {
    const others = [{ object: "TalosWorker/a", field: "spec.metalSpec.machines[0].address", address: "10.20.0.12" }];
    assert.deepEqual(short(validateControlPlaneSpec(controlPlane(), { others })), ["DuplicateAddress spec.metalSpec.machines[1].address"]);
  });

  it("takes twenty thousand machines in its stride", () => {
    const many = Array.from({ length: 20_001 }, (_, n) => ({ address: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}` }));
    assert.deepEqual(short(validateControlPlaneSpec(controlPlane({ metalSpec: { machines: many }, endpoint: "https://x" }))), [
      "UnsupportedReplicas spec.metalSpec.machines",
    ]);
  });
});

describe("validateWorkerSpec", () => {
  const demo = { name: "demo", spec: controlPlane({ podCIDR: ["10.50.0.0/16"] }) };
  const cases: readonly { name: string; spec: TalosWorkerSpec; want: readonly string[] }[] = [
    { name: "takes two machines", spec: worker(), want: [] },
    { name: "takes no machines", spec: worker({ metalSpec: {} }), want: [] },
    {
      name: "refuses a machine that is a control plane",
      spec: worker({ metalSpec: { machines: machines(1, 12) } }),
      want: ["DuplicateAddress spec.metalSpec.machines[0].address"],
    },
    {
      name: "refuses a machine inside the control plane's pod network",
      spec: worker({ metalSpec: { machines: [{ address: "10.50.1.1" }] } }),
      want: ["AddressInClusterRange spec.metalSpec.machines[0].address"],
    },
    {
      name: "refuses a pool without a control plane",
      spec: worker({ controlPlaneRef: {} }),
      want: ["ControlPlaneNotFound spec.controlPlaneRef.name"],
    },
    { name: "refuses mode cloud", spec: worker({ mode: "cloud" }), want: ["ModeNotSupported spec.mode"] },
  ];
  for (const { name, spec, want } of cases) it(name, () => assert.deepEqual(short(validateWorkerSpec(spec, { controlPlane: demo })), want));

  it("checks what can be checked before the control plane is known", () => {
    assert.deepEqual(short(validateWorkerSpec(worker({ metalSpec: { machines: [{ address: "10.244.0.1" }, { address: "::1" }] } }))), [
      "InvalidAddress spec.metalSpec.machines[1].address",
    ]);
  });
});

describe("validateNetworks", () => {
  const cases: readonly { name: string; spec: Parameters<typeof validateNetworks>[0]; want: readonly string[]; message?: RegExp }[] = [
    { name: "takes the defaults", spec: {}, want: [] },
    { name: "takes networks apart from each other", spec: { podCIDR: ["10.0.0.0/14"], serviceCIDR: ["172.20.0.0/16"] }, want: [] },
    {
      name: "takes one network of each family",
      spec: { podCIDR: ["10.244.0.0/16", "fd01::/48"], serviceCIDR: ["10.96.0.0/12", "fd02::/108"] },
      want: [],
    },
    { name: "refuses what is no network", spec: { podCIDR: ["300.0.0.0/99"] }, want: ["InvalidNetwork spec.podCIDR[0]"] },
    {
      name: "refuses a second network of one family",
      spec: { podCIDR: ["10.1.0.0/16", "10.2.0.0/16"] },
      want: ["InvalidNetwork spec.podCIDR[1]"],
    },
    { name: "refuses a pod network too small for a node", spec: { podCIDR: ["10.1.0.0/25"] }, want: ["InvalidNetwork spec.podCIDR[0]"] },
    {
      name: "refuses a service network larger than Kubernetes takes",
      spec: { serviceCIDR: ["172.0.0.0/8"] },
      want: ["InvalidNetwork spec.serviceCIDR[0]"],
    },
    {
      name: "refuses a service network without room",
      spec: { serviceCIDR: ["172.20.0.0/32"] },
      want: ["InvalidNetwork spec.serviceCIDR[0]"],
    },
    {
      name: "refuses overlap with a default and names the field to set",
      spec: { podCIDR: ["10.100.0.0/16"] },
      want: ["InvalidNetwork spec.podCIDR[0]"],
      message: /10\.96\.0\.0\/12/,
    },
    {
      name: "refuses overlap of services with default pods",
      spec: { serviceCIDR: ["10.244.0.0/20"] },
      want: ["InvalidNetwork spec.serviceCIDR[0]"],
    },
  ];
  for (const { name, spec, want, message } of cases)
    it(name, () => {
      const findings = validateNetworks(spec);
      assert.deepEqual(short(findings), want);
      if (message) assert.match(findings[0]?.message ?? "", message);
    });
});
