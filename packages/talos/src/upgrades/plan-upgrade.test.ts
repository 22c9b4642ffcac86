import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defaultSchematicId, noSchematic } from "../versions/images.ts";
import { builtInCatalogue, extendCatalogue } from "./catalogue.ts";
import { planUpgrade } from "./plan-upgrade.ts";
import { sayPlan } from "./words.ts";
import type { Build, UpgradeMachine, UpgradePlan, UpgradeWish } from "./upgrade.ts";

const cp = (name: string, runs: string | Build, asked: string | Build): UpgradeMachine => machine("controlplane", name, runs, asked);
const worker = (name: string, runs: string | Build, asked: string | Build): UpgradeMachine => machine("worker", name, runs, asked);
const build = (of: string | Build): Build => (typeof of === "string" ? { version: of } : of);

function machine(role: UpgradeMachine["role"], name: string, runs: string | Build, asked: string | Build): UpgradeMachine {
  return { name, role, runs: build(runs), asked: build(asked) };
}

/** One line for each hop: `controlplane v1.13.9: a b`. */
function brief(plan: UpgradePlan): readonly string[] {
  if (plan.kind === "settled") return [];
  if (plan.kind === "none")
    return plan.refusals.map((refusal) => `no: ${refusal.kind}${"machines" in refusal ? ` ${refusal.machines.join(" ")}` : ""}`.trim());
  return plan.hops.map((hop) =>
    hop.kind === "kubernetes"
      ? `kubernetes ${hop.version}`
      : `${hop.role}${hop.isDowngrade ? " back to" : ""} ${hop.version}: ${hop.machines.map(({ name }) => name).join(" ")}`,
  );
}

const stays = { runs: "v1.33.6", asked: "v1.33.6" };

const cases: readonly { readonly name: string; readonly wish: UpgradeWish; readonly want: readonly string[] }[] = [
  { name: "nothing where everything runs", wish: { machines: [cp("a", "v1.13.9", "v1.13.9")], kubernetes: stays }, want: [] },
  {
    name: "the next patch is one hop, control planes before workers",
    wish: {
      machines: [worker("w", "v1.13.8", "v1.13.9"), cp("b", "v1.13.8", "v1.13.9"), cp("a", "v1.13.8", "v1.13.9")],
      kubernetes: stays,
    },
    want: ["controlplane v1.13.9: a b", "worker v1.13.9: w"],
  },
  {
    name: "minors between are passed through by their newest release, the own minor is not",
    wish: { machines: [cp("a", "v1.11.2", "v1.14.0"), worker("w", "v1.12.4", "v1.14.0")], kubernetes: stays },
    want: ["controlplane v1.12.11: a", "controlplane v1.13.9: a", "worker v1.13.9: w", "controlplane v1.14.0: a", "worker v1.14.0: w"],
  },
  {
    name: "a release that the catalogue does not know belongs to its minor",
    wish: { machines: [cp("a", "v1.12.40", "v1.13.41")], kubernetes: stays },
    want: ["controlplane v1.13.41: a"],
  },
  {
    name: "machines that are further already wait for the others",
    wish: { machines: [cp("a", "v1.13.9", "v1.14.0"), cp("b", "v1.12.4", "v1.14.0")], kubernetes: stays },
    want: ["controlplane v1.13.9: b", "controlplane v1.14.0: a b"],
  },
  {
    name: "a pool that is pinned lower goes as far as its pin",
    wish: {
      machines: [cp("a", "v1.12.4", "v1.14.0"), worker("w", "v1.12.4", "v1.13.5"), worker("x", "v1.12.4", "v1.12.4")],
      kubernetes: stays,
    },
    want: ["controlplane v1.13.9: a", "worker v1.13.5: w", "controlplane v1.14.0: a"],
  },
  {
    name: "Kubernetes goes before Talos where the matrix wants it",
    wish: { machines: [cp("a", "v1.13.9", "v1.14.0")], kubernetes: { runs: "v1.31.4", asked: "v1.33.6" } },
    want: ["kubernetes v1.32.4", "controlplane v1.14.0: a", "kubernetes v1.33.6"],
  },
  {
    name: "Kubernetes goes after Talos where the matrix wants it, a minor at a time",
    wish: { machines: [cp("a", "v1.11.6", "v1.12.11")], kubernetes: { runs: "v1.33.6", asked: "v1.35.7" } },
    want: ["controlplane v1.12.11: a", "kubernetes v1.34.1", "kubernetes v1.35.7"],
  },
  {
    name: "both in turns",
    wish: { machines: [cp("a", "v1.5.5", "v1.9.6")], kubernetes: { runs: "v1.26.3", asked: "v1.32.4" } },
    want: [
      "controlplane v1.6.8: a",
      "controlplane v1.7.7: a",
      "controlplane v1.8.4: a",
      "kubernetes v1.27.4",
      "controlplane v1.9.6: a",
      "kubernetes v1.28.3",
      "kubernetes v1.29.7",
      "kubernetes v1.30.5",
      "kubernetes v1.31.4",
      "kubernetes v1.32.4",
    ],
  },
  {
    name: "a Kubernetes that Talos does not run, and that nobody asked to change",
    wish: { machines: [cp("a", "v1.13.9", "v1.14.0"), cp("b", "v1.13.9", "v1.14.0")], kubernetes: { runs: "v1.31.4", asked: "v1.31.4" } },
    want: ["no: OutOfRange a b"],
  },
  {
    name: "a pin that holds Kubernetes back is named",
    wish: {
      machines: [cp("a", "v1.11.6", "v1.13.9"), worker("w", "v1.11.6", "v1.11.6")],
      kubernetes: { runs: "v1.34.1", asked: "v1.35.4" },
    },
    want: ["no: OutOfRange w"],
  },
  {
    name: "a worker above its control planes",
    wish: { machines: [cp("a", "v1.12.4", "v1.12.4"), worker("w", "v1.12.4", "v1.13.9")], kubernetes: stays },
    want: ["no: WorkerAboveControlPlane w"],
  },
  {
    name: "but a patch above is none",
    wish: { machines: [cp("a", "v1.13.4", "v1.13.4"), worker("w", "v1.13.4", "v1.13.9")], kubernetes: stays },
    want: ["worker v1.13.9: w"],
  },
  {
    name: "control planes below workers that stay",
    wish: { machines: [cp("a", "v1.13.9", "v1.12.4"), worker("w", "v1.13.9", "v1.13.9")], kubernetes: stays, allowDowngrade: "v1.12.4" },
    want: ["no: WorkerAboveControlPlane w"],
  },
  {
    name: "back is refused",
    wish: { machines: [cp("a", "v1.13.9", "v1.12.4"), cp("b", "v1.14.0", "v1.14.0-rc.1")], kubernetes: stays },
    want: ["no: DowngradeAsked a", "no: DowngradeAsked b"],
  },
  {
    name: "back is allowed by name of the version, and of no other",
    wish: { machines: [cp("a", "v1.13.9", "v1.12.4"), worker("w", "v1.13.9", "v1.12.4")], kubernetes: stays, allowDowngrade: "1.12.4" },
    want: ["worker back to v1.12.4: w", "controlplane back to v1.12.4: a"],
  },
  {
    name: "another version than was allowed",
    wish: { machines: [cp("a", "v1.13.9", "v1.12.4")], kubernetes: stays, allowDowngrade: "v1.12.5" },
    want: ["no: DowngradeAsked a"],
  },
  {
    name: "back below what the configuration is written for is refused, whatever is allowed",
    wish: {
      machines: [
        { ...cp("a", "v1.14.0", "v1.13.9"), configContract: "1.14" },
        { ...cp("b", "v1.14.0", "v1.13.9"), configContract: "1.13" },
      ],
      kubernetes: stays,
      allowDowngrade: "v1.13.9",
    },
    want: ["no: ConfigNewer a"],
  },
  {
    name: "back over several minors goes through them",
    wish: { machines: [cp("a", "v1.13.2", "v1.11.3")], kubernetes: stays, allowDowngrade: "v1.11.3" },
    want: ["controlplane back to v1.12.11: a", "controlplane back to v1.11.3: a"],
  },
  {
    name: "no control plane goes back to an etcd that does not read its data",
    wish: { machines: [cp("a", "v1.11.6", "v1.10.9"), worker("w", "v1.11.6", "v1.10.9")], kubernetes: stays, allowDowngrade: "v1.10.9" },
    want: ["no: EtcdDataNewer a"],
  },
  {
    name: "unless the data is of the older version still",
    wish: { machines: [cp("a", "v1.11.6", "v1.10.9")], kubernetes: stays, allowDowngrade: "v1.10.9", etcdStorage: "3.5.0" },
    want: ["controlplane back to v1.10.9: a"],
  },
  {
    name: "which it is while one member runs the older etcd",
    wish: {
      machines: [cp("a", "v1.11.6", "v1.10.9"), cp("b", "v1.10.9", "v1.10.9"), cp("c", "v1.10.9", "v1.10.9")],
      kubernetes: stays,
      allowDowngrade: "v1.10.9",
    },
    want: ["controlplane back to v1.10.9: a"],
  },
  {
    name: "Kubernetes goes no minor back, allowed or not",
    wish: { machines: [cp("a", "v1.13.9", "v1.13.9")], kubernetes: { runs: "v1.33.6", asked: "v1.32.4" }, allowDowngrade: "v1.32.4" },
    want: ["no: KubernetesMinorBack"],
  },
  {
    name: "a patch back when it is allowed",
    wish: { machines: [cp("a", "v1.13.9", "v1.13.9")], kubernetes: { runs: "v1.33.6", asked: "v1.33.2" }, allowDowngrade: "v1.33.2" },
    want: ["kubernetes v1.33.2"],
  },
  {
    name: "a patch back that nobody allowed",
    wish: { machines: [], kubernetes: { runs: "v1.33.6", asked: "v1.33.2" } },
    want: ["no: DowngradeAsked"],
  },
  {
    name: "a minor without a release leads nowhere",
    wish: { machines: [cp("a", "v1.13.9", "v1.15.0"), worker("w", "v1.13.9", "v1.15.0")], kubernetes: stays },
    want: ["no: NoRelease a w"],
  },
  {
    name: "a pre-release is a target, never a way, and belongs to its minor",
    wish: { machines: [cp("a", "v1.13.9", "v1.14.0-rc.1")], kubernetes: stays },
    want: ["controlplane v1.14.0-rc.1: a"],
  },
  {
    name: "from a pre-release to its release",
    wish: { machines: [cp("a", "v1.14.0-rc.1", "v1.14.0")], kubernetes: stays },
    want: ["controlplane v1.14.0: a"],
  },
  {
    name: "an unknown minor and another major",
    wish: { machines: [cp("a", "v1.13.9", "v1.99.0"), cp("b", "v1.13.9", "v2.0.0"), cp("c", "v2.1.0", "v1.13.9")], kubernetes: stays },
    want: ["no: UnknownMinor a", "no: UnknownMinor b", "no: DowngradeAsked c"],
  },
  {
    name: "another major does not come back, allowed or not",
    wish: { machines: [cp("c", "v2.13.0", "v1.13.9")], kubernetes: stays, allowDowngrade: "v1.13.9" },
    want: ["no: InstallerRefuses c"],
  },
  {
    name: "IN39: texts that are no versions",
    wish: {
      machines: [
        cp("a", "v1.13.9", "v1.13"),
        cp("b", "v1.13.9", ""),
        cp("c", "v1.13.9", "v1.13.6-rc.0; rm -rf"),
        cp("d", "dirty", "v1.13.9"),
      ],
      kubernetes: { runs: "v1.33.6", asked: "latest" },
    },
    want: ["no: BadVersion a", "no: BadVersion b", "no: BadVersion c", "no: BadVersion d", "no: BadVersion"],
  },
  {
    name: "Kubernetes that nobody saw",
    wish: { machines: [cp("a", "v1.13.8", "v1.13.9")], kubernetes: undefined },
    want: ["no: KubernetesUnseen"],
  },
  {
    name: "an unknown Kubernetes",
    wish: { machines: [], kubernetes: { runs: "v1.36.3", asked: "v1.99.0" } },
    want: ["no: UnknownMinor"],
  },
  {
    name: "Kubernetes minors between that the catalogue lacks",
    wish: { machines: [cp("a", "v1.14.0", "v1.14.0")], kubernetes: { runs: "v1.36.3", asked: "v1.38.0" } },
    want: ["no: NoRelease"],
  },
];

for (const { name, wish, want } of cases) {
  test(`plan of an upgrade: ${name}`, () => {
    const plan = planUpgrade(wish);
    assert.deepEqual(brief(plan), want);
    // Whatever it is, there are words for it.
    assert.equal(sayPlan(plan) === "", want.length === 0);
    assert.deepEqual(planUpgrade({ ...wish, machines: wish.machines.toReversed() }), plan, "the order of machines changes nothing");
  });
}

describe("schematics and kernel arguments", () => {
  const plain: Build = { version: "v1.12.4", schematic: "a", kernelArguments: ["quiet"] };

  test("IN42: change by a hop of their own where the version stays", () => {
    const asked: Build = { ...plain, kernelArguments: ["quiet", "noapic"] };
    const plan = planUpgrade({ machines: [cp("a", plain, asked), cp("b", plain, plain)], kubernetes: stays });
    assert.deepEqual(plan, {
      kind: "hops",
      hops: [
        { kind: "talos", role: "controlplane", version: "v1.12.4", isDowngrade: false, machines: [{ name: "a", from: plain, to: asked }] },
      ],
    });
    assert.deepEqual(planUpgrade({ machines: [cp("a", asked, asked)], kubernetes: stays }), { kind: "settled" });
  });

  test("change exactly once, with the last hop, and none that runs is lost before", () => {
    const plan = planUpgrade({ machines: [cp("a", plain, { version: "v1.14.0", schematic: "b" })], kubernetes: stays });
    assert.ok(plan.kind === "hops");
    assert.deepEqual(
      plan.hops.flatMap((hop) => (hop.kind === "talos" ? hop.machines.map(({ to }) => to) : [])),
      [
        { ...plain, version: "v1.13.9" },
        { version: "v1.14.0", schematic: "b", kernelArguments: ["quiet"] },
      ],
    );
  });

  test("of a machine that runs extensions are not lost to an installer of Talos itself, and no reason by themselves", () => {
    const own = { version: "v1.13.8", schematic: "5".repeat(64) };
    const lost = planUpgrade({
      machines: [cp("a", own, { version: "v1.13.9", schematic: noSchematic }), cp("b", "v1.13.8", "v1.13.9")],
      kubernetes: stays,
    });
    assert.deepEqual(lost, { kind: "none", refusals: [{ kind: "SchematicLost", schematic: own.schematic, machines: ["a"] }] });
    assert.match(
      sayPlan(lost),
      /lacks what the schematic 5{64} brings, extensions say, which runs \(a\)\. Name an installer of this schematic/,
    );
    const plain = { version: "v1.13.8", schematic: noSchematic };
    for (const [runs, asked] of [
      [own, { version: "v1.13.9", schematic: "6".repeat(64) }],
      [own, { version: "v1.13.9", schematic: own.schematic }],
      [own, { version: "v1.13.9" }],
      [{ version: "v1.13.8" }, { version: "v1.13.9", schematic: noSchematic }],
      [plain, { version: "v1.13.9", schematic: noSchematic }],
      [plain, { version: "v1.13.9", schematic: own.schematic }],
      [
        { ...own, schematic: defaultSchematicId },
        { version: "v1.14.0", schematic: noSchematic },
      ],
    ] as const)
      assert.equal(planUpgrade({ machines: [cp("a", runs, asked)], kubernetes: stays }).kind, "hops", JSON.stringify([runs, asked]));
    assert.equal(planUpgrade({ machines: [cp("a", own, plain)], kubernetes: stays }).kind, "settled");
  });

  test("that are known to lack extensions that run are refused by their names, unless a person lets those go", () => {
    const runs = { version: "v1.13.9", schematic: "5".repeat(64), extensions: ["gvisor", "iscsi-tools"] };
    const asked = { version: "v1.13.9", schematic: "6".repeat(64), extensions: ["gvisor"] };
    const lost = planUpgrade({ machines: [cp("a", runs, asked), cp("b", runs, asked)], kubernetes: stays });
    assert.deepEqual(lost, { kind: "none", refusals: [{ kind: "ExtensionsLost", extensions: ["iscsi-tools"], machines: ["a", "b"] }] });
    assert.match(sayPlan(lost), /lacks the extensions iscsi-tools, which run \(a, b\)\. .*allow-extension-loss: iscsi-tools/);
    assert.equal(planUpgrade({ machines: [cp("a", runs, { ...asked, version: "v1.13.10" })], kubernetes: stays }).kind, "none");
    for (const [more, allowed] of [
      [{ extensions: ["gvisor", "iscsi-tools", "util-linux-tools"] }, []],
      [{}, ["iscsi-tools"]],
    ] as const)
      assert.equal(
        planUpgrade({ machines: [cp("a", runs, { ...asked, ...more })], kubernetes: stays, allowExtensionLoss: allowed }).kind,
        "hops",
      );
    const { extensions: _extensions, ...untold } = asked;
    assert.equal(planUpgrade({ machines: [cp("a", runs, untold)], kubernetes: stays }).kind, "hops", "what is in it the machine shows");
  });

  test("are no reason where nobody knows or says them", () => {
    const bare = { version: "v1.12.4" };
    assert.equal(planUpgrade({ machines: [cp("a", bare, plain), cp("b", plain, bare)], kubernetes: stays }).kind, "settled");
  });
});

test("a plan with a hop of Kubernetes is held by it, until upgrades of Kubernetes are carried out", () => {
  const wish: UpgradeWish = { machines: [cp("a", "v1.12.4", "v1.13.9")], kubernetes: { runs: "v1.33.6", asked: "v1.35.4" } };
  const plan = planUpgrade(wish);
  assert.deepEqual(plan.kind === "hops" ? plan.heldBy : undefined, { kind: "kubernetes", from: "v1.33.6", version: "v1.34.1" });
  const acting = planUpgrade({ ...wish, upgradesKubernetes: true });
  assert.ok(acting.kind === "hops" && plan.kind === "hops" && acting.heldBy === undefined);
  assert.deepEqual(acting.hops, plan.hops);
});

test("a minor that the catalogue learned is a way, and its newest release is the one that counts", () => {
  const learned = extendCatalogue(builtInCatalogue, "talos: [{ release: v1.14.2 }, { release: v1.12.9 }]");
  const plan = planUpgrade({ machines: [cp("a", "v1.11.6", "v1.15.0")], kubernetes: stays }, learned);
  assert.deepEqual(brief(plan), [
    "controlplane v1.12.9: a",
    "controlplane v1.13.9: a",
    "controlplane v1.14.2: a",
    "controlplane v1.15.0: a",
  ]);
});
