import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TalosControlPlane, TalosControlPlaneSpec, TalosWorker } from "@talos-operator/api";
import { controlPlane, worker } from "../testing/builders.ts";
import { sharedNodeNameProblems, sharedNodeNames, sharedNodeNameWords } from "./node-names.ts";

type Metal = NonNullable<TalosControlPlaneSpec["metalSpec"]>;

const hostname = (name: string): object => ({ apiVersion: "v1alpha1", kind: "HostnameConfig", auto: "off", hostname: name });
const legacy = (name: string): object => ({ machine: { network: { hostname: name } } });
const own = (address: string, ...configPatches: readonly object[]): object => ({ address, configPatches });

const planes = (...machines: readonly object[]): TalosControlPlane =>
  controlPlane(1, { version: "v1.13.9", metalSpec: { machines, machineSpec: {} } as unknown as Metal });

function pool(machines: readonly object[], machineSpec: object = {}, name = "demo"): TalosWorker {
  const made = worker(1);
  return { ...made, metadata: { ...made.metadata, name }, spec: { ...made.spec, metalSpec: { machines, machineSpec } } } as TalosWorker;
}

interface Told {
  readonly problems: Readonly<Record<string, readonly string[]>>;
  readonly held: readonly string[];
}

function told(cp: TalosControlPlane, workers: readonly TalosWorker[], holding: readonly string[] = []): Told {
  const pools = [cp, ...workers];
  const shared = sharedNodeNames(
    pools.map((one) => ({ pool: one, config: undefined, contract: undefined })),
    cp,
  );
  const problems = pools.map((one) => [
    `${one.kind}/${one.metadata.name}`,
    sharedNodeNameProblems(one, shared, (machine) => holding.includes(machine)).map(
      ({ field, message, remedy }) => `${field}: ${message}. ${remedy}`,
    ),
  ]);
  return {
    problems: Object.fromEntries(problems.filter(([, found]) => found?.length !== 0)) as Told["problems"],
    held: [...sharedNodeNameWords(shared).keys()],
  };
}

const cure = "Give each its own in machines[].configPatches";

describe("two machines with one host name", () => {
  it("in the shared patches of a pool", () =>
    assert.deepEqual(
      told(planes({ address: "10.0.0.1" }), [
        pool([{ address: "10.0.0.2" }, { address: "10.0.0.3" }], { configPatches: [hostname("worker-x")] }),
      ]),
      {
        problems: {
          "TalosWorker/demo": [
            `spec.metalSpec.machineSpec.configPatches[0]: the host name worker-x would be that of 10.0.0.2 and 10.0.0.3. ${cure}`,
          ],
        },
        held: ["demo-10.0.0.2", "demo-10.0.0.3"],
      },
    ));

  it("in patches of their own, one of them in the old form, upper case and domain left out", () =>
    assert.deepEqual(
      told(planes({ address: "10.0.0.1" }), [
        pool([
          own("10.0.0.2", { machine: { sysctls: { a: "1" } } }, hostname("Worker-X.example.org")),
          { ...own("10.0.0.3", legacy("worker-x")), version: "v1.11.0" },
        ]),
      ]).problems,
      {
        "TalosWorker/demo": [
          `spec.metalSpec.machines[0].configPatches[1]: the host name worker-x would be that of 10.0.0.2 and 10.0.0.3. ${cure}`,
        ],
      },
    ));

  it("of two control planes", () =>
    assert.deepEqual(Object.keys(told(planes(own("10.0.0.1", hostname("a")), own("10.0.0.2", hostname("a"))), []).problems), [
      "TalosControlPlane/demo",
    ]));

  it("of a control plane and a worker is the trouble of the worker's pool, and held back of both", () => {
    const found = told(planes(own("10.0.0.1", hostname("a"))), [pool([own("10.0.0.2", hostname("a"))])]);
    assert.deepEqual(Object.keys(found.problems), ["TalosWorker/demo"]);
    assert.deepEqual(found.held, ["demo-10.0.0.1", "demo-10.0.0.2"]);
  });

  it("by what META says, where the configuration says nothing", () =>
    assert.deepEqual(
      told(planes({ address: "10.0.0.1" }), [
        pool([{ address: "10.0.0.2" }], { meta: { hostname: "a" } }),
        pool([own("10.0.0.3", hostname("a"))], {}, "more"),
      ]).problems["TalosWorker/demo"],
      [`spec.metalSpec.machineSpec.meta.hostname: the host name a would be that of 10.0.0.2 and 10.0.0.3. ${cure}`],
    ));

  it("by the name that the kubelet registers", () =>
    assert.deepEqual(
      told(planes({ address: "10.0.0.1" }), [
        pool([own("10.0.0.2", { machine: { kubelet: { extraArgs: { "hostname-override": "a" } } } }), own("10.0.0.3", hostname("a"))]),
      ]).held,
      ["demo-10.0.0.2", "demo-10.0.0.3"],
    ));

  it("does not disturb a pool that runs: the new one is named", () => {
    const running = pool([own("10.0.0.2", hostname("a"))]);
    const added = pool([own("10.0.0.3", hostname("a"))], {}, "more");
    assert.deepEqual(Object.keys(told(planes({ address: "10.0.0.1" }), [running, added], ["demo-10.0.0.2"]).problems), [
      "TalosWorker/more",
    ]);
  });

  it("is said of all where all run", () => {
    const pools = [pool([own("10.0.0.2", hostname("a"))]), pool([own("10.0.0.3", hostname("a"))], {}, "more")];
    const found = told(planes({ address: "10.0.0.1" }), pools, ["demo-10.0.0.2", "more-10.0.0.3"]);
    assert.deepEqual(Object.keys(found.problems), ["TalosWorker/demo", "TalosWorker/more"]);
  });
});

it("names of their own, and names that Talos makes, are nobody's trouble", () => {
  const pools = [pool([own("10.0.0.2", hostname("a")), own("10.0.0.3", hostname("b")), { address: "10.0.0.4" }, { address: "10.0.0.5" }])];
  assert.deepEqual(told(planes(own("10.0.0.1", hostname("c"))), pools), { problems: {}, held: [] });
});
