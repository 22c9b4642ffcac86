// What Helm is asked to do for a release, and what the release says of it.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, finalizers, findCondition, talosClusterAddonReleaseResource } from "@talos-operator/api";
import type { TalosClusterAddonRelease } from "@talos-operator/api";
import type { ObjectKey } from "@talos-operator/kube-runtime";
import type { SimulatedHelm } from "../world/simulated-helm.ts";
import { HeldWatch } from "./held-watch.ts";
import { apply } from "./quiet.ts";
import { demoCluster, kinds } from "./story.ts";
import type { Story } from "./story.ts";

import { API, ENDPOINT, key, chart, secretType, tellReleases, release, read, readyOf, until, edit, remove, gone } from "./told-releases.ts";

describe("a release", () => {
  test("is installed, makes one revision for each edit, none at rest or at a restart, and is uninstalled", () =>
    tellReleases(async (world, helm) => {
      await release(world, "web", { helmSpec: { ...chart, valuesTemplate: "name: '{{ .Cluster.Name }}'" } });
      await until(world, "web", "Installed");
      const first = await read(world, "web");
      assert.deepEqual(
        [first?.status?.revision, first?.status?.chart?.version, first?.status?.run, first?.metadata.finalizers],
        [1, "1.0.0", undefined, [finalizers.talosClusterAddonRelease]],
      );
      assert.deepEqual(helm.history(ENDPOINT, "web/web")[0]?.values, ["name: 'demo'"]);
      await world.time.advance(20 * 60_000);
      await world.stop();
      await world.start();
      await world.time.advance(20 * 60_000);
      assert.equal(helm.begun.length, 1, "nothing is run at rest, nor by a new process");
      await edit(world, "web", { values: { replicas: 2 } });
      await world.until("revision 2", async () => (await read(world, "web"))?.status?.revision === 2, 60);
      await until(world, "web", "Installed");
      assert.equal(helm.begun.length, 2);
      // What makes no revision: the same values in another order, another time-out.
      await edit(world, "web", { options: { timeout: "10m" } });
      await world.time.advance(120_000);
      assert.equal(helm.begun.length, 2);
      await remove(world, "web");
      await gone(world, "web");
      assert.deepEqual(helm.history(ENDPOINT, "web/web"), []);
    }));

  test("waits until the cluster is bootstrapped", () =>
    tellReleases(async (world, helm) => {
      await release(world, "web");
      await until(world, "web", "WaitingForCluster");
      assert.equal(helm.begun.length, 0);
      await until(world, "web", "Installed", 900);
    }, false));

  test("waits for what it depends on, and for no other", () =>
    tellReleases(async (world, helm) => {
      await release(world, "second", { dependsOn: ["first"] });
      await release(world, "third");
      await until(world, "second", "WaitingForDependency");
      await until(world, "third", "Installed");
      await release(world, "first");
      await until(world, "second", "Installed");
      assert.deepEqual(
        helm.begun.map(({ task }) => task.release.name),
        ["third", "first", "second"],
      );
    }));

  for (const fault of ["lost", "dies"] as const)
    test(`whose worker ${fault === "lost" ? "does it all and tells nothing" : "dies in the middle and leaves its lock"} is tried again, and ends with one revision`, () =>
      tellReleases(async (world, helm) => {
        helm.fail("web/web", { kind: fault });
        await release(world, "web");
        await until(world, "web", "HelmClientFailed");
        await until(world, "web", "Installed");
        const revisions = helm.history(ENDPOINT, "web/web").filter(({ status }) => status === "deployed" || status === "superseded");
        assert.equal(revisions.length, 1);
        assert.equal(helm.begun.length, 2);
      }));

  test("that fails is tried again more and more rarely, and an edit at once", () =>
    tellReleases(async (world, helm) => {
      helm.fail("web/web", ...Array.from({ length: 20 }, () => ({ kind: "hook-failed" }) as const));
      await release(world, "web");
      await until(world, "web", "HelmInstallFailed");
      await world.time.advance(30 * 60_000);
      const tries = helm.begun.length;
      assert.ok(tries >= 4 && tries <= 7, `${tries} tries in half an hour`);
      await edit(world, "web", { values: { fixed: true } });
      await world.until("tried at once", () => Promise.resolve(helm.begun.length === tries + 1), 10);
    }));

  test("whose Helm hangs delays no other, and is given up in its time", () =>
    tellReleases(async (world, helm) => {
      helm.fail("web/slow", { kind: "hangs" });
      await release(world, "slow");
      await world.until("it hangs", () => Promise.resolve(helm.begun.length === 1), 60);
      await release(world, "quick");
      await until(world, "quick", "Installed", 30);
      await until(world, "slow", "HelmClientFailed", 30 * 60);
      await until(world, "slow", "Installed", 120);
    }));

  test("of another owner is left alone, and one of nobody is taken over", () =>
    tellReleases(async (world, helm) => {
      helm.installByHand(ENDPOINT, "web/hand");
      await release(world, "hand");
      await until(world, "hand", "Installed");
      assert.equal((await read(world, "hand"))?.status?.isAdopted, true);
      await release(world, "other", { helmSpec: { ...chart, releaseName: "hand" } });
      await until(world, "other", "ReleaseNotOurs");
      await remove(world, "other");
      await gone(world, "other");
      assert.equal(helm.history(ENDPOINT, "web/hand")[0]?.status, "deployed");
    }));

  test("is left in the cluster when the cluster goes, and holds up no deletion", () =>
    tellReleases(async (world, helm) => {
      await release(world, "web");
      await until(world, "web", "Installed");
      await world.client.resource(kinds.cluster).delete(key("demo"));
      await world.until(
        "deleting",
        async () => {
          const controlPlane = await world.get(kinds.controlPlane);
          return controlPlane === undefined || controlPlane.metadata?.deletionTimestamp !== undefined;
        },
        60,
      );
      await remove(world, "web");
      await gone(world, "web", 30);
      assert.equal(helm.begun.length, 1, "nothing is uninstalled");
    }));

  const pause = (world: Story, mode: string | null): Promise<unknown> =>
    world.client
      .resource(kinds.cluster)
      .patch(key("demo"), { type: "merge", value: { metadata: { annotations: { [annotations.reconcileMode]: mode } } } });

  test("of a paused cluster is left as it is, its deletion waits, and both go on with the cluster", () =>
    tellReleases(async (world, helm) => {
      await release(world, "web");
      await until(world, "web", "Installed");
      await pause(world, "disable");
      await world.time.advance(10_000);
      await release(world, "other");
      await until(world, "other", "WaitingForCluster");
      await edit(world, "web", { values: { replicas: 2 } });
      await until(world, "web", "WaitingForCluster");
      await remove(world, "other");
      await gone(world, "other");
      await remove(world, "web");
      await world.time.advance(30 * 60_000);
      assert.equal(helm.begun.length, 1);
      assert.notEqual(await read(world, "web"), undefined, "what is installed is not left behind because of a pause");
      await pause(world, null);
      await gone(world, "web");
      assert.deepEqual(helm.history(ENDPOINT, "web/web"), []);
    }));

  test("that is paused itself is not uninstalled while it is, for however long, and is let go when its cluster goes", () =>
    tellReleases(async (world, helm) => {
      const modeOf = (mode: string | null): Promise<unknown> =>
        world.client
          .resource(talosClusterAddonReleaseResource)
          .patch(key("web"), { type: "merge", value: { metadata: { annotations: { [annotations.reconcileMode]: mode } } } });
      await release(world, "web");
      await until(world, "web", "Installed");
      await modeOf("disable");
      await remove(world, "web");
      await world.time.advance(20 * 60_000);
      assert.ok((await read(world, "web"))?.status?.conditions?.some(({ type }) => type === "Paused"));
      assert.equal(helm.begun.length, 1, "nothing is uninstalled");
      await modeOf(null);
      await gone(world, "web");
      assert.deepEqual(helm.history(ENDPOINT, "web/web"), []);
      await release(world, "web");
      await until(world, "web", "Installed");
      await modeOf("disable");
      await remove(world, "web");
      await world.client.resource(kinds.cluster).delete({ namespace: "default", name: "demo" });
      await gone(world, "web", 600);
      assert.equal(helm.history(ENDPOINT, "web/web").length, 1, "it is left in the cluster that goes");
    }));

  test("of a cluster whose pause no watch has told yet begins nothing", () => {
    const watch = new HeldWatch("/talosclusters");
    return tellReleases(
      async (world, helm) => {
        await world.time.advance(60_000);
        watch.hold();
        await pause(world, "disable");
        await release(world, "web");
        await world.time.advance(60_000);
        watch.goOn();
        assert.equal(helm.begun.length, 0);
        await until(world, "web", "WaitingForCluster");
        await pause(world, null);
        await until(world, "web", "Installed");
      },
      true,
      { kube: (real) => watch.kube(real) },
    );
  });

  const goBack = (world: Story, revision: string | null): Promise<unknown> =>
    world.client
      .resource(talosClusterAddonReleaseResource)
      .patch(key("web"), { type: "merge", value: { metadata: { annotations: { [annotations.rollbackTo]: revision } } } });
  const untilRevision = (world: Story, revision: number): Promise<void> =>
    world.until(
      `revision ${revision}`,
      async () => (await read(world, "web"))?.status?.revision === revision && (await readyOf(world, "web")) === "Installed",
      300,
    );
  const newest = (helm: SimulatedHelm) => helm.history(ENDPOINT, "web/web")[0];

  for (const fault of [undefined, "lost", "dies", "never", "twice"] as const)
    test(`goes back to the revision that a person names, once, and stays there until an edit${fault === undefined ? "" : `, though its worker ${fault}`}`, () =>
      tellReleases(async (world, helm) => {
        await release(world, "web", { helmSpec: { ...chart, values: { step: "one" } } });
        await until(world, "web", "Installed");
        await edit(world, "web", { values: { step: "two" } });
        await untilRevision(world, 2);
        if (fault !== undefined) helm.fail("web/web", { kind: fault });
        await goBack(world, "1");
        await untilRevision(world, fault === "dies" ? 4 : 3);
        assert.match(newest(helm)?.values.join("") ?? "", /one/);
        const runs = helm.begun.length;
        const revisions = helm.history(ENDPOINT, "web/web").length;
        await world.time.advance(20 * 60_000);
        await world.stop();
        await world.start();
        await world.time.advance(20 * 60_000);
        assert.deepEqual([helm.begun.length, helm.history(ENDPOINT, "web/web").length], [runs, revisions], "nothing is done twice");
        assert.equal(await readyOf(world, "web"), "Installed");
        await edit(world, "web", { values: { step: "three" } });
        await untilRevision(world, revisions + 1);
        assert.match(newest(helm)?.values.join("") ?? "", /three/);
        await world.time.advance(5 * 60_000);
        assert.equal(helm.begun.length, runs + 1, "the annotation, which still stands, was carried out");
        await goBack(world, null);
        await world.time.advance(20 * 60_000);
        await goBack(world, "1");
        await untilRevision(world, revisions + 2);
        assert.match(newest(helm)?.values.join("") ?? "", /one/);
      }));

  for (const fault of ["hook-failed", "dies", "lost"] as const)
    test(`that goes back to what it was before an edit that failed (${fault}) is installed as it was`, () =>
      tellReleases(async (world, helm) => {
        await release(world, "web", { helmSpec: { ...chart, values: { step: "one" } } });
        await until(world, "web", "Installed");
        helm.fail("web/web", { kind: fault });
        await edit(world, "web", { values: { step: "two" } });
        await until(world, "web", fault === "hook-failed" ? "HelmInstallFailed" : "HelmClientFailed");
        await edit(world, "web", { values: { step: "one" } });
        await until(world, "web", "Installed");
        assert.equal(newest(helm)?.status, "deployed");
        assert.match(newest(helm)?.values.join("") ?? "", /one/);
        const runs = helm.begun.length;
        await world.time.advance(30 * 60_000);
        assert.equal(helm.begun.length, runs);
      }));

  test("keeps its name and its cluster, and says how it gets others", () =>
    tellReleases(async (world, helm) => {
      await release(world, "web");
      await until(world, "web", "Installed");
      await edit(world, "web", { releaseName: "other" });
      await until(world, "web", "SpecRefused");
      await edit(world, "web", { releaseName: "web" });
      await until(world, "web", "Installed", 900);
      const refer = (name: string): Promise<unknown> =>
        world.client
          .resource(talosClusterAddonReleaseResource)
          .patch(key("web"), { type: "merge", value: { spec: { clusterRef: { name } } } });
      await world.client.resource(kinds.cluster).create({ ...demoCluster(["10.5.0.2"]), metadata: key("second") });
      await world.until("second", async () => (await world.get(kinds.controlPlane, "second")) !== undefined, 60);
      await refer("second");
      await until(world, "web", "SpecRefused", 900);
      assert.equal(helm.begun.length, 1, "nothing is installed there");
      await refer("demo");
      await until(world, "web", "Installed", 900);
      await remove(world, "web");
      await gone(world, "web");
      assert.deepEqual(helm.history(ENDPOINT, "web/web"), []);
    }));

  test("whose chart was misspelt is installed once that is corrected, and the name of before is forgotten", () =>
    tellReleases(async (world, helm) => {
      helm.fail("web/wbe", { kind: "chart-not-found" });
      await release(world, "web", { helmSpec: { chartName: "wbe", repoURL: chart.repoURL, namespace: "web" } });
      await until(world, "web", "ChartNotFound");
      await world.time.advance(5 * 60_000);
      assert.equal(helm.begun.length, 1, "what only a person changes is tried again rarely");
      await edit(world, "web", { chartName: "web" });
      await until(world, "web", "Installed", 60);
      assert.deepEqual([helm.history(ENDPOINT, "web/wbe").length, helm.history(ENDPOINT, "web/web").length], [0, 1]);
    }));

  test("that cannot begin for a Secret that is missing keeps no name", () =>
    tellReleases(async (world, helm) => {
      const credentials = { secret: { name: "registry" }, key: "password" };
      await release(world, "web", { helmSpec: { ...chart, credentials } });
      await world.until("waits", async () => /Secret registry not found/.test(JSON.stringify((await read(world, "web"))?.status)), 60);
      await edit(world, "web", { releaseName: "other", credentials: null });
      await until(world, "web", "Installed", 60);
      assert.deepEqual([helm.history(ENDPOINT, "web/web").length, helm.history(ENDPOINT, "web/other").length], [0, 1]);
    }));

  test("says what is wrong with a revision that is none, and goes on when it is taken back", () =>
    tellReleases(async (world, helm) => {
      await release(world, "web");
      await until(world, "web", "Installed");
      await goBack(world, "newest");
      await world.until("it is told", async () => /names no revision/.test(JSON.stringify((await read(world, "web"))?.status)), 30 * 60);
      assert.equal(await readyOf(world, "web"), "Installed");
      await goBack(world, "9");
      await world.until("it is answered", async () => (await read(world, "web"))?.status?.rolledBack?.problem !== undefined, 5 * 60);
      await until(world, "web", "Installed");
      const isNoted = async (): Promise<boolean> =>
        (await read(world, "web"))?.status?.conditions?.some(({ type }) => type === "FieldNotSupported") === true;
      assert.ok(await isNoted(), "what is wrong is still told");
      const runs = helm.begun.length;
      await world.time.advance(40 * 60_000);
      assert.equal(helm.begun.length, runs, "it is asked once");
      // It is in nobody's way.
      await edit(world, "web", { values: { step: "two" } });
      await untilRevision(world, 2);
      assert.ok(await isNoted());
      await goBack(world, null);
      await world.until("nothing is wrong", async () => !(await isNoted()), 5 * 60);
      await goBack(world, "1");
      await untilRevision(world, 3);
    }));

  test("that cannot be uninstalled is left after ten minutes", () =>
    tellReleases(async (world, helm) => {
      await release(world, "web");
      await until(world, "web", "Installed");
      helm.fail("web/web", ...Array.from({ length: 50 }, () => ({ kind: "cluster-unreachable" }) as const));
      await remove(world, "web");
      await world.time.advance(5 * 60_000);
      assert.notEqual(await read(world, "web"), undefined);
      await gone(world, "web", 6 * 60);
    }));

  test("leaves no run behind that has ended, and ends none of a release of its name elsewhere", () =>
    tellReleases(async (world, helm) => {
      const owner = { namespace: "other", name: "web", uid: "u-other" };
      await world.client.resource({ group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false }).create({
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name: owner.namespace },
      });
      await world.client.resource(talosClusterAddonReleaseResource).create({
        apiVersion: API,
        kind: "TalosClusterAddonRelease",
        // Nobody looks at what it has.
        metadata: { namespace: owner.namespace, name: owner.name, annotations: { [annotations.reconcileMode]: "disable" } },
        spec: { clusterRef: { name: "demo" }, helmSpec: chart },
      } as TalosClusterAddonRelease);
      await world.time.advance(10_000);
      await release(world, "web");
      await world.until("begun", () => Promise.resolve(helm.begun.length === 1), 60);
      const [mine] = helm.begun;
      assert.ok(mine !== undefined);
      helm.fail("web/theirs", { kind: "hangs" });
      await helm.runner.start({
        ...mine,
        name: "addon-theirs",
        owner,
        task: { ...mine.task, release: { name: "theirs", namespace: "web" } },
      });
      await until(world, "web", "Installed");
      await world.time.advance(60_000);
      assert.deepEqual(
        (await helm.runner.list()).map(({ name }) => name),
        ["addon-theirs"],
      );
    }));

  test("begins nothing once another process holds the lease", () =>
    tellReleases(
      async (world, helm) => {
        const leases = world.client.resource({
          group: "coordination.k8s.io",
          version: "v1",
          plural: "leases",
          kind: "Lease",
          namespaced: true,
        });
        await world.time.advance(60_000);
        const { items } = await leases.list();
        assert.equal(items.length, 1);
        for (const { metadata } of items)
          await leases.patch(metadata as ObjectKey, { type: "merge", value: { spec: { holderIdentity: "another" } } });
        await release(world, "web");
        await world.time.advance(1_000);
        assert.equal(helm.begun.length, 0);
      },
      true,
      { operator: { leaderElection: {} } },
    ));

  test("that is deleted in the middle of its installation is uninstalled, whatever that left", () =>
    tellReleases(async (world, helm) => {
      helm.fail("web/web", { kind: "hangs" });
      await release(world, "web");
      await world.until("begun", () => Promise.resolve(helm.begun.length === 1), 60);
      await remove(world, "web");
      await gone(world, "web");
      assert.deepEqual(
        helm.begun.map(({ task }) => task.kind),
        ["apply", "uninstall"],
      );
    }));

  test("takes values from Secrets of its namespace, says what is missing, and follows an edit of them", () =>
    tellReleases(async (world, helm) => {
      await release(world, "web", { helmSpec: { ...chart, valuesFrom: [{ kind: "Secret", name: "extra" }] } });
      await until(world, "web", "ValuesNotFound");
      const secret = (text: string) => ({
        apiVersion: "v1",
        kind: "Secret",
        metadata: key("extra"),
        type: "Opaque",
        data: { "values.yaml": Buffer.from(text).toString("base64") },
      });
      await apply(world, secretType, secret("password: hunter2"));
      await until(world, "web", "Installed");
      assert.deepEqual(helm.history(ENDPOINT, "web/web")[0]?.values, ["password: hunter2"]);
      assert.doesNotMatch(JSON.stringify(await read(world, "web")), /hunter2/);
      await world.client.resource(secretType).patch(key("extra"), { type: "merge", value: { data: secret("password: [hunter2").data } });
      await until(world, "web", "ValuesRefused", 25 * 60);
      assert.doesNotMatch(JSON.stringify(await read(world, "web")), /hunter2/);
    }));

  test("stays with the version that was resolved until the reference is edited", () =>
    tellReleases(async (world, helm) => {
      await release(world, "web");
      await until(world, "web", "Installed");
      await edit(world, "web", { values: { a: 1 } });
      await world.until("again", () => Promise.resolve(helm.begun.length === 2), 60);
      const [first, second] = helm.begun.map(({ task }) => (task.kind === "apply" ? [task.chart.version, task.chart.digest] : []));
      assert.deepEqual(
        [first, second],
        [
          [undefined, undefined],
          ["1.0.0", "d".repeat(64)],
        ],
      );
      await until(world, "web", "Installed");
      await edit(world, "web", { version: "^2" });
      await world.until("resolved anew", () => Promise.resolve(helm.begun.length === 3), 60);
      const { task } = helm.begun[2] ?? {};
      assert.deepEqual(task?.kind === "apply" ? [task.chart.version, task.chart.digest] : [], ["^2", undefined]);
    }));

  test("says which fields have no effect, and what of its spec is refused", () =>
    tellReleases(async (world, helm) => {
      await release(world, "idle", {
        helmSpec: { ...chart, releaseName: "idle", valuesTemplate: "a=1,b=2", options: { upgrade: { recreate: true } } },
      });
      await until(world, "idle", "Installed");
      const notes = findCondition((await read(world, "idle"))?.status?.conditions, "FieldNotSupported")?.message;
      assert.match(notes ?? "", /options\.upgrade\.recreate.*a=b,c=d/);
      await release(world, "bad", { helmSpec: { ...chart, repoURL: "file:///etc" } });
      await until(world, "bad", "SpecRefused");
      assert.equal(helm.begun.length, 1);
    }));

  describe("that others changed", () => {
    const changed = [{ object: "ConfigMap web/web", isGone: false, paths: ["data.text"] }] as const;
    const driftOf = async (world: Story): Promise<readonly [string?, string?]> => {
      const { conditions } = (await read(world, "web"))?.status ?? {};
      const one = findCondition(conditions, "Drifted");
      return one === undefined ? [] : [one.status, one.message];
    };
    const kinds = (helm: SimulatedHelm) => helm.begun.map(({ task }) => task.kind);
    const HOUR = 3_600_000;

    test("is never compared where nobody asks for it", () =>
      tellReleases(async (world, helm) => {
        await release(world, "web");
        await until(world, "web", "Installed");
        helm.drift(ENDPOINT, "web/web", changed);
        await world.time.advance(24 * HOUR);
        assert.deepEqual(kinds(helm), ["apply"]);
        assert.deepEqual(await driftOf(world), []);
      }));

    test("is told, and left as it is, where it is only to be reported", () =>
      tellReleases(async (world, helm) => {
        await release(world, "web", { drift: { mode: "report", interval: "1h" } });
        await until(world, "web", "Installed");
        await world.until("compared", async () => (await driftOf(world))[0] === "False", 2 * 3_600);
        helm.drift(ENDPOINT, "web/web", changed);
        await world.until("told", async () => (await driftOf(world))[0] === "True", 2 * 3_600);
        assert.match((await driftOf(world))[1] ?? "", /^Not as Helm deployed it: ConfigMap web\/web: data\.text\.$/);
        assert.equal(await readyOf(world, "web"), "Installed");
        const inspections = kinds(helm).length;
        await world.stop();
        await world.start();
        await world.time.advance(10 * HOUR);
        assert.deepEqual([...new Set(kinds(helm).slice(1))], ["inspect"], "nothing is put right");
        const more = kinds(helm).length - inspections;
        assert.ok(more >= 8 && more <= 10, `${more} comparisons in ten hours`);
        helm.drift(ENDPOINT, "web/web", []);
        await world.until("told no more", async () => (await driftOf(world))[0] === "False", 2 * 3_600);
      }));

    for (const lost of [false, true])
      test(`is put right by one revision an interval where that is asked for${lost ? ", though the worker's answer is lost" : ""}`, () =>
        tellReleases(async (world, helm) => {
          await release(world, "web", { drift: { mode: "revert", interval: "1h" } });
          await until(world, "web", "Installed");
          helm.drift(ENDPOINT, "web/web", changed);
          await world.until("seen", async () => (await driftOf(world))[0] === "True", 2 * 3_600);
          if (lost) helm.fail("web/web", { kind: "lost" });
          await world.until("put right", async () => (await read(world, "web"))?.status?.revision === 2, 300);
          await until(world, "web", "Installed");
          assert.equal((await driftOf(world))[0], "False");
          assert.equal(helm.history(ENDPOINT, "web/web").length, 2);
          // Somebody who changes it again and again is put right once an hour.
          const reverts = () => helm.history(ENDPOINT, "web/web")[0]?.number ?? 0;
          for (let minute = 0; minute < 5 * 60; minute += 10) {
            helm.drift(ENDPOINT, "web/web", changed);
            await world.time.advance(10 * 60_000);
          }
          assert.ok(reverts() >= 5 && reverts() <= 7, `${reverts()} revisions after five hours`);
        }));

    test("says so where it cannot be compared, and stays Ready", () =>
      tellReleases(async (world, helm) => {
        await release(world, "web");
        await until(world, "web", "Installed");
        helm.fail("web/web", { kind: "cluster-unreachable" });
        await world.client
          .resource(talosClusterAddonReleaseResource)
          .patch(key("web"), { type: "merge", value: { spec: { drift: { mode: "report", interval: "1h" } } } });
        await world.until("unknown", async () => (await driftOf(world))[0] === "Unknown", 3_600);
        assert.equal(await readyOf(world, "web"), "Installed");
        await world.until("compared", async () => (await driftOf(world))[0] === "False", 2 * 3_600);
      }));
  });
});
