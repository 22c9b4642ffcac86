import assert from "node:assert/strict";
import { test } from "node:test";
import { annotations } from "@talos-operator/api";
import { configured, controlPlane, facts, founded, member, observed, running, silent, worker } from "../testing/builders.ts";
import { foresee } from "../planning/foresee.ts";
import { printPlan } from "../planning/print-plan.ts";
import { upgradePending } from "./upgrade-state.ts";
import type { Observed } from "../model/observation.ts";

const cps = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
const pool = worker(1);
const hearsAll = (version: string): Record<string, ReturnType<typeof running>> => ({
  ...Object.fromEntries(cps.map((address, index) => [address, running(member(index, 3), { version })])),
  "10.0.1.1": running(undefined, { version }),
});

function cluster(
  asked: Partial<NonNullable<ReturnType<typeof controlPlane>["spec"]>>,
  over: { readonly allow?: string; readonly pool?: string } = {},
): Observed {
  const looks = hearsAll("v1.12.4");
  const machines = [...cps, "10.0.1.1"].map((address) => configured(address));
  return observed({
    controlPlane: controlPlane(3, asked, over.allow === undefined ? {} : { annotations: { [annotations.allowDowngrade]: over.allow } }),
    workers: [{ ...pool, spec: { kubeVersion: "v1.36.3", mode: "metal", ...pool.spec, version: over.pool ?? asked.version ?? "v1.12.4" } }],
    facts: facts({ machines, bootstrapDone: founded, talosVersion: "v1.12.4", kubernetesVersion: "v1.33.6" }),
    looks,
  });
}

const told = (seen: Observed): string => upgradePending(seen, seen.machines, undefined)[0]?.message ?? "";
const toldOfPool = (seen: Observed): string =>
  upgradePending(
    seen,
    seen.machines.filter(({ declared }) => declared.role === "worker"),
    undefined,
    seen.controlPlane.spec?.kubeVersion,
  )[0]?.message ?? "";

test("what is pending names the hops through the minors between", () => {
  const seen = cluster({ version: "v1.14.0", kubeVersion: "v1.33.6" });
  assert.equal(
    told(seen),
    `demo-10.0.0.1, demo-10.0.0.2, demo-10.0.0.3 and 1 more run Talos v1.12.4, the spec asks for v1.14.0. In 2 hops: Talos v1.12.4 → v1.13.9 → v1.14.0.`,
  );
  assert.equal(
    printPlan(foresee(seen, [])).includes("In 2 hops: Talos v1.12.4 → v1.13.9 → v1.14.0."),
    true,
    "a dry run and plan -f say the same",
  );
});

test("Kubernetes stands where it is needed", () => {
  const seen = cluster({ version: "v1.12.4", kubeVersion: "v1.35.4" });
  assert.match(told(seen), /asks for v1\.35\.4\. In 2 hops: Kubernetes v1\.33\.6 → v1\.34\.1 → v1\.35\.4\./);
});

test("a pool is told of the hops of its own machines", () => {
  const seen = cluster({ version: "v1.14.0", kubeVersion: "v1.33.6" }, { pool: "v1.13.2" });
  assert.match(toldOfPool(seen), /asks for v1\.13\.2\. In 1 hop: Talos v1\.12\.4 → v1\.13\.2\./);
  assert.match(
    told(seen),
    /In 3 hops: demo-10\.0\.0\.1, demo-10\.0\.0\.2, demo-10\.0\.0\.3 Talos v1\.12\.4 → v1\.13\.9 → v1\.14\.0; demo-workers-10\.0\.1\.1 Talos v1\.12\.4 → v1\.13\.2\./,
  );
});

test("IN40: why there is no upgrade path", () => {
  assert.match(
    told(cluster({ version: "v1.15.0", kubeVersion: "v1.33.6" })),
    /\. No upgrade path: it leads through Talos 1\.14, of which no release is known \(demo-10\.0\.0\.1, .*\)\./,
  );
  assert.match(
    told(cluster({ version: "v1.12.4", kubeVersion: "v1.33.6" }, { pool: "v1.13.2" })),
    /Workers \(demo-workers-10\.0\.1\.1\) cannot run a newer Talos \(v1\.13\.2\) than the control plane \(v1\.12\.4\): upgrade the control plane first\./,
  );
});

test("IN41: a downgrade shows its hops once somebody allowed it, and its annotation before", () => {
  const back = { version: "v1.11.6", kubeVersion: "v1.33.6" };
  assert.match(told(cluster(back)), /asks for v1\.11\.6 \(a downgrade\)\. A downgrade needs .*allow-downgrade: v1\.11\.6/);
  assert.match(told(cluster(back, { allow: "v1.11.6" })), /In 1 hop: Talos v1\.12\.4 → v1\.11\.6\./);
});

test("machines that nobody hears are no part of a plan, and settled ones are told nothing", () => {
  const seen = cluster({ version: "v1.13.2", kubeVersion: "v1.33.6" });
  const machines = seen.machines.map((machine, index) => (index === 0 ? { ...machine, look: silent } : machine));
  assert.match(told({ ...seen, machines }), /^demo-10\.0\.0\.2, .* In 1 hop: Talos v1\.12\.4 → v1\.13\.2\./);
  assert.equal(told(cluster({ version: "v1.12.4", kubeVersion: "v1.33.6" })), "");
});

test("an image that the machine shows to run is not told to differ, whatever its configuration says", () => {
  const id = "5".repeat(64);
  const own = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba";
  const told = (asked: string, look: { readonly version?: string; readonly schematic?: string }): string => {
    const seen = observed({
      controlPlane: controlPlane(1, { version: "v1.14.0" }),
      facts: facts({ machines: [configured("10.0.0.1")], bootstrapDone: founded, talosVersion: "v1.14.0", kubernetesVersion: "v1.36.3" }),
      looks: { "10.0.0.1": { ...running(member(0, 1), { version: look.version ?? "v1.14.0" }), ...look } },
    });
    const known = { kind: "known", install: { image: { asked, runs: "ghcr.io/siderolabs/installer:v1.13.9" } } };
    const configs = new Map(seen.machines.map(({ declared: { name } }) => [name, known])) as unknown as NonNullable<Observed["configs"]>;
    return upgradePending({ ...seen, configs }, seen.machines, undefined)[0]?.message ?? "";
  };
  for (const [asked, look] of [
    [`factory.talos.dev/metal-installer/${own}:v1.14.0`, { schematic: own }],
    [`factory.talos.dev/metal-installer/${own}:v1.14.0`, { schematic: "none" }],
    [`factory.talos.dev/metal-installer/${id}:v1.14.0`, { schematic: id }],
    ["ghcr.io/siderolabs/installer:v1.14.0", { schematic: "none" }],
    // It stays with what it runs, and another condition says so.
    ["ghcr.io/siderolabs/installer:v1.14.0", { schematic: id }],
  ] as const)
    assert.doesNotMatch(told(asked, look), /installed from/, asked);
  for (const [asked, look] of [
    [`factory.talos.dev/metal-installer/${id}:v1.14.0`, {}],
    [`factory.talos.dev/metal-installer/${id}:v1.14.1`, { schematic: id }],
    ["registry.example.org/installer:v1.14.0", { schematic: "none" }],
  ] as const)
    assert.match(told(asked, look), /installed from ghcr\.io/, asked);
});
