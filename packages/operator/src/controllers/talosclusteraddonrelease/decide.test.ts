import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { finalizers } from "@talos-operator/api";
import type { TalosClusterAddonRelease, TalosClusterAddonReleaseSpec, TalosClusterAddonReleaseStatus } from "@talos-operator/api";
import type { AddonResult, HelmFailed } from "@talos-operator/helm";
import { wishOf } from "../../addons/wish.ts";
import { decideRelease } from "./decide.ts";
import type { ReleaseDecision, ReleaseSeen, SeenCluster } from "./model.ts";

const NOW = Date.parse("2026-05-01T12:00:00Z");
const MINUTE = 60_000;
const before = (ms: number): string => new Date(NOW - ms).toISOString();
const here: SeenCluster = { kind: "present", name: "demo" };
const chart = { chartName: "web", repoURL: "https://charts.example.org", namespace: "web" };
const run = {
  name: "addon-aaaaaaaaaaaa",
  id: "aaaaaaaaaaaa",
  task: "apply",
  inputs: "00000000000000aa",
  startedAt: before(MINUTE),
} as const;
const uninstalling = { name: "addon-bbbbbbbbbbbb", id: "bbbbbbbbbbbb", task: "uninstall", startedAt: before(MINUTE) } as const;
/** Of a release that is installed. */
const installed = { releaseName: "web", releaseNamespace: "web", cluster: "demo", revision: 1, inputs: run.inputs } as const;
/** Of one whose first installation goes on. */
const begun = { releaseName: "web", releaseNamespace: "web", cluster: "demo", run } as const;

interface Over extends Partial<Omit<ReleaseSeen, "release">> {
  readonly spec?: Partial<TalosClusterAddonReleaseSpec>;
  readonly status?: TalosClusterAddonReleaseStatus;
  readonly isGoing?: boolean;
}

function seenOf({ spec, status, isGoing = false, ...over }: Over): ReleaseSeen {
  const release: TalosClusterAddonRelease = {
    apiVersion: "talos.alperen.cloud/v1alpha1",
    kind: "TalosClusterAddonRelease",
    metadata: {
      namespace: "default",
      name: "web",
      uid: "u-1",
      generation: 1,
      finalizers: [finalizers.talosClusterAddonRelease],
      ...(isGoing ? { deletionTimestamp: before(MINUTE) } : {}),
    },
    spec: { clusterRef: { name: "demo" }, helmSpec: chart, ...spec },
    ...(status === undefined ? {} : { status }),
  };
  const wish = wishOf(release.spec, [], "v1.34.1", status?.chart, false);
  return {
    now: NOW,
    release,
    problems: [],
    isTerminating: false,
    cluster: here,
    wish: wish === undefined || isGoing ? { kind: "not-asked" } : { kind: "there", wish, isSetSyntax: false },
    unready: [],
    withoutHelm: undefined,
    run: undefined,
    othersRunning: 0,
    neighboursRunning: 0,
    isAwaitedElsewhere: false,
    health: undefined,
    ...over,
  };
}

const ended = (result: AddonResult | undefined): Pick<ReleaseSeen, "run"> => ({ run: { kind: "ended", result, at: NOW } });
const failed = (over: Partial<HelmFailed> = {}): HelmFailed => ({
  kind: "failed",
  reason: "chart-not-found",
  message: "The repository has no such chart.",
  mayRepeat: false,
  ...over,
});
const ready = ({ conditions }: ReleaseDecision): string => {
  const one = conditions.find(({ type }) => type === "Ready");
  return `${one?.reason}: ${one?.message}`;
};
const nextIn = ({ fields }: ReleaseDecision): number => (Date.parse(fields.nextAttemptTime ?? "") - NOW) / MINUTE;

describe("a first installation that failed", () => {
  test("keeps no name where Helm has nothing: a chart that was misspelt can be corrected", () => {
    const { fields } = decideRelease(seenOf({ status: begun, ...ended(failed({ history: [] })) }));
    assert.deepEqual([fields.releaseName, fields.releaseNamespace, fields.cluster], [undefined, undefined, undefined]);
  });

  for (const [what, told] of [
    ["left a revision", failed({ history: [{ number: 1, status: "failed", chartVersion: "1.0.0", at: NOW }] })],
    ["cannot say what it left", failed()],
    ["told nothing", undefined],
  ] as const)
    test(`keeps its name where it ${what}`, () => {
      const { fields } = decideRelease(seenOf({ status: begun, ...ended(told) }));
      assert.deepEqual([fields.releaseName, fields.cluster], ["web", "demo"]);
    });

  test("waits for half an hour where only a person helps, and longer each time otherwise", () => {
    assert.equal(nextIn(decideRelease(seenOf({ status: begun, ...ended(failed()) }))), 30);
    const pauses = [0, 1, 2, 3, 9].map((attempts) =>
      nextIn(decideRelease(seenOf({ status: { ...begun, failedInputs: run.inputs, attempts }, ...ended(failed({ mayRepeat: true })) }))),
    );
    assert.deepEqual(pauses, [0.25, 1, 5, 15, 15]);
  });
});

describe("a run that nobody has started", () => {
  test("is started where the spec still asks for it", () => {
    const seen = seenOf({});
    const inputs = seen.wish.kind === "there" ? seen.wish.wish.inputs : "";
    const { act } = decideRelease(seenOf({ status: { ...begun, run: { ...run, inputs } }, run: { kind: "absent" } }));
    assert.equal(act.kind, "start");
  });

  test("is ended where the spec asks for something else by now: what it installed would be taken for what it was begun for", () => {
    const decision = decideRelease(seenOf({ status: begun, run: { kind: "absent" } }));
    assert.equal(decision.act.kind, "none");
    assert.deepEqual([decision.fields.run, decision.fields.endedRuns], [undefined, [run.id]]);
  });
});

describe("a run that goes on", () => {
  const going = (over: Over): ReleaseDecision => decideRelease(seenOf({ run: { kind: "running", since: NOW }, ...over }));
  const spec = (timeout: string): Partial<TalosClusterAddonReleaseSpec> => ({ helmSpec: { ...chart, options: { timeout } } });
  const begin = decideRelease(seenOf({ spec: spec("1h") }));
  const hour = begin.act.kind === "begin" ? begin.act.run : undefined;

  test("has the time that its spec gave when it was begun", () => {
    assert.equal((Date.parse(hour?.giveUpTime ?? "") - NOW) / MINUTE, 3 * 60 + 10);
    for (const timeout of ["1s", "6h"]) {
      const status = { ...begun, ...(hour === undefined ? {} : { run: hour }) };
      const at = (minutes: number): ReleaseDecision => going({ status, spec: spec(timeout), now: NOW + minutes * MINUTE });
      assert.match(ready(at(3 * 60 + 9)), /^Installing: /, timeout);
      assert.match(ready(at(3 * 60 + 10)), /^HelmClientFailed: .* did not end in its time/, timeout);
    }
  });

  test("has the time of its spec where an earlier release of the operator began it", () => {
    assert.match(ready(going({ status: begun, spec: spec("1m") })), /^Installing: /);
    assert.match(ready(going({ status: begun, spec: spec("1m"), now: NOW + 12 * MINUTE })), /^HelmClientFailed: /);
  });
});

describe("what stands before an installation", () => {
  for (const [what, over, words] of [
    ["a namespace that is going", { isTerminating: true }, /^NamespaceTerminating: /],
    ["a cluster that is going", { cluster: { kind: "going", name: "demo" } }, /^WaitingForCluster: .* is being deleted/],
    [
      "a cluster that is paused",
      { cluster: { kind: "paused", name: "demo", message: "It is paused." } },
      /^WaitingForCluster: It is paused/,
    ],
    ["no Helm", { withoutHelm: "There is no helm." }, /^HelmNotFound: There is no helm/],
    ["two others at work", { othersRunning: 2 }, /^Installing: 2 addons are being worked on/],
    [
      "a release that it depends on",
      { unready: [{ name: "demo-cni-addonrelease", isThere: true }] },
      /^WaitingForDependency: TalosClusterAddonRelease demo-cni-addonrelease is not Ready/,
    ],
    [
      "a release that it depends on, and that nobody has made",
      { unready: [{ name: "demo-cni-addonrelease", isThere: false }] },
      /^WaitingForDependency: TalosClusterAddonRelease demo-cni-addonrelease not found: .*dependsOn/,
    ],
  ] satisfies readonly (readonly [string, Over, RegExp])[])
    test(`is ${what}`, () => {
      const decision = decideRelease(seenOf(over));
      assert.equal(decision.act.kind, "none");
      assert.match(ready(decision), words);
    });
});

describe("a release that is deleted", () => {
  const going = (over: Over): ReleaseDecision => decideRelease(seenOf({ isGoing: true, status: installed, ...over }));

  test("begins to uninstall", () => {
    const { act } = going({ status: { ...installed, uninstallStartTime: before(0) } });
    assert.ok(act.kind === "begin" && act.run.task === "uninstall");
  });

  for (const [what, over, note] of [
    ["whose cluster is gone", { cluster: { kind: "absent", message: "It is not there." } }, /the cluster is gone, or going/],
    ["whose cluster is going", { cluster: { kind: "going", name: "demo" } }, /the cluster is gone, or going/],
    [
      "whose reference leads to another cluster by now",
      { cluster: { kind: "present", name: "other" } },
      /left as it is in the cluster demo: spec.clusterRef names another/,
    ],
    [
      "whose cluster did not answer for ten minutes",
      { status: { ...installed, uninstallStartTime: before(10 * MINUTE) } },
      /could not be uninstalled in ten minutes/,
    ],
    [
      "whose last try goes on after ten minutes",
      { status: { ...installed, run: uninstalling, uninstallStartTime: before(10 * MINUTE) }, run: { kind: "running", since: NOW } },
      /could not be uninstalled in ten minutes/,
    ],
  ] satisfies readonly (readonly [string, Over, RegExp])[])
    test(`is let go, and says what it leaves: one ${what}`, () => {
      const { act, news } = going(over);
      assert.equal(act.kind, "remove-finalizer");
      assert.deepEqual(
        news.map(({ reason }) => reason),
        ["AddonLeft"],
      );
      assert.match(news[0]?.note ?? "", note);
    });

  test("is let go without a word where nothing was ever begun", () => {
    const { act, news } = going({ status: {} });
    assert.deepEqual([act.kind, news], ["remove-finalizer", []]);
  });

  test("waits no longer than ten minutes after a clock was set back", () => {
    const { fields } = going({ status: { ...installed, uninstallStartTime: before(-24 * 60 * MINUTE) } });
    assert.equal(Date.parse(fields.uninstallStartTime ?? ""), NOW);
  });
});
