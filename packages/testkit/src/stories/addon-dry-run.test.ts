// What a release says that Helm would do, while its reconcile-mode is dryrun.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, findCondition, talosClusterAddonReleaseResource, talosControlPlaneResource } from "@talos-operator/api";
import type { KubeObject } from "@talos-operator/kube-runtime";
import type { SimulatedHelm } from "../world/simulated-helm.ts";
import type { Story } from "./story.ts";
import { whatIfAddons } from "@talos-operator/operator";
import type { EditedAddon } from "@talos-operator/operator";
import type { HelmSecrets, PreviewTask } from "@talos-operator/helm";
import { chart, edit, ENDPOINT, key, read, release, secretType, tellReleases, until } from "./told-releases.ts";

describe("a dry run", () => {
  const mode = (world: Story, word: string | null) =>
    world.client
      .resource(talosClusterAddonReleaseResource)
      .patch(key("web"), { type: "merge", value: { metadata: { annotations: { [annotations.reconcileMode]: word } } } });
  const dryRun = async (world: Story): Promise<string> => {
    const one = findCondition((await read(world, "web"))?.status?.conditions, "DryRun");
    return one === undefined ? "" : `${one.reason}: ${one.message}`;
  };
  const kinds = (helm: SimulatedHelm) => helm.begun.map(({ task }) => task.kind);

  test("tells what an edit would change, changes nothing, and lets it happen once the annotation is gone", () =>
    tellReleases(async (world, helm) => {
      await release(world, "web");
      await until(world, "web", "Installed");
      await mode(world, "dryrun");
      await world.until("nothing to do", async () => (await dryRun(world)) === "NothingToDo: What the spec asks for is installed.", 60);
      await edit(world, "web", { values: { replicas: 3 } });
      await world.until("planned", async () => (await dryRun(world)).startsWith("ActionsPlanned"), 120);
      assert.match(await dryRun(world), /^ActionsPlanned: web 1\.0\.0 would follow revision 1: Deployment web\/web is changed: /);
      await edit(world, "web", { values: { replicas: 4 } });
      await world.until("asked once more", async () => kinds(helm).length === 3, 120);
      await world.time.advance(3_600_000);
      await world.stop();
      await world.start();
      await world.time.advance(600_000);
      assert.deepEqual(kinds(helm), ["apply", "preview", "preview"], "Helm is asked once an edit");
      assert.equal(helm.history(ENDPOINT, "web/web").length, 1);
      await mode(world, null);
      await world.until("upgraded", async () => (await read(world, "web"))?.status?.revision === 2, 120);
      await until(world, "web", "Installed");
      assert.equal(await dryRun(world), "");
      assert.equal((await read(world, "web"))?.status?.preview, undefined);
    }));

  test("of what was never installed leaves nothing behind, and its deletion uninstalls nothing", () =>
    tellReleases(async (world, helm) => {
      await release(world, "web", {}, { [annotations.reconcileMode]: "dryrun" });
      await world.until("planned", async () => (await dryRun(world)).startsWith("ActionsPlanned: web 1.0.0 would be installed"), 120);
      const { finalizers: held = [] } = (await read(world, "web"))?.metadata ?? {};
      assert.deepEqual(held, []);
      await world.client.resource(talosClusterAddonReleaseResource).delete(key("web"));
      await world.time.advance(60_000);
      assert.deepEqual(kinds(helm), ["preview"]);
      assert.deepEqual(helm.history(ENDPOINT, "web/web"), []);
    }));

  test("says why nobody can tell, and asks again", () =>
    tellReleases(async (world, helm) => {
      helm.fail("web/web", { kind: "chart-not-found" }, { kind: "lost" });
      await release(world, "web", {}, { [annotations.reconcileMode]: "dryrun" });
      await world.until("refused", async () => (await dryRun(world)).startsWith("PlanUnknown"), 120);
      await world.until("lost", async () => /ended without a result|did not end/.test(await dryRun(world)), 3_600);
      await world.until("planned", async () => (await dryRun(world)).startsWith("ActionsPlanned"), 3_600);
      assert.deepEqual(kinds(helm), ["preview", "preview", "preview"]);
    }));

  test("that is ended before Helm answered goes on with what the spec asks for", () =>
    tellReleases(async (world, helm) => {
      helm.fail("web/web", { kind: "hangs" });
      await release(world, "web", {}, { [annotations.reconcileMode]: "dryrun" });
      await world.until("asked", async () => kinds(helm).length === 1, 60);
      await mode(world, null);
      await until(world, "web", "Installed");
      assert.deepEqual(kinds(helm), ["preview", "apply"]);
      assert.deepEqual(helm.going(), []);
    }));

  test("does not reach into a cluster that is paused", () =>
    tellReleases(async (world, helm) => {
      await world.client
        .resource(talosControlPlaneResource)
        .patch(key("demo"), { type: "merge", value: { metadata: { annotations: { [annotations.reconcileMode]: "disable" } } } });
      await release(world, "web", {}, { [annotations.reconcileMode]: "dryrun" });
      await world.until("held", async () => (await dryRun(world)).startsWith("PlanUnknown: demo is paused"), 120);
      assert.deepEqual(kinds(helm), []);
    }));
});

describe("the plan of an edit of addons", () => {
  const addonOf = (over: object = {}, labels: Record<string, string> = { env: "demo" }): EditedAddon =>
    ({
      apiVersion: "talos.alperen.cloud/v1alpha1",
      kind: "TalosClusterAddon",
      metadata: key("web"),
      spec: { clusterSelector: { matchLabels: labels }, helmSpec: { ...chart, ...over } },
    }) as unknown as EditedAddon;
  const ask = async (
    world: Story,
    edited: EditedAddon,
  ): Promise<{ readonly told: readonly string[]; readonly asked: readonly (readonly [PreviewTask, HelmSecrets])[] }> => {
    const asked: (readonly [PreviewTask, HelmSecrets])[] = [];
    const before = world.writes.length;
    const plans = await whatIfAddons([edited], {
      client: world.client,
      give: (task, secrets) => {
        asked.push([task, secrets]);
        const digest = "d".repeat(64);
        const changes = [{ object: "Deployment web/web", change: "change", fields: ["spec.replicas: 2"] } as const];
        return Promise.resolve({ kind: "previewed", chart: { name: "web", version: "1.0.0", digest }, changes, total: 1, helm: "v4" });
      },
    });
    assert.equal(world.writes.length, before, "nothing is written");
    return { told: plans.map(({ release: name, words, changes }) => [name, words, ...changes].join(" | ")), asked };
  };
  const labelled = (world: Story) =>
    world.client
      .resource(talosControlPlaneResource)
      .patch(key("demo"), { type: "merge", value: { metadata: { labels: { env: "demo" } } } });

  test("asks Helm for each cluster that an addon would select, stored or not, with its access and the places of secrets", () =>
    tellReleases(async (world) => {
      await labelled(world);
      await world.client.resource<KubeObject & { readonly data: Record<string, string> }>(secretType).create({
        apiVersion: "v1",
        kind: "Secret",
        metadata: key("words"),
        data: { "values.yaml": Buffer.from("word: of-a-secret").toString("base64") },
      });
      const { told, asked } = await ask(world, addonOf({ values: { a: 1 }, valuesFrom: [{ kind: "Secret", name: "words" }] }));
      assert.deepEqual(told, [
        "default/demo-web-addonrelease | web 1.0.0 would be installed; one object changes. | Deployment web/web is changed: spec.replicas: 2",
      ]);
      const [task, secrets] = asked[0] ?? assert.fail("nothing is asked");
      assert.deepEqual([task.release, task.kind], [{ name: "web", namespace: "web" }, "preview"]);
      assert.deepEqual([secrets.values, secrets.hidden], [["word: of-a-secret", '{"a":1}'], [0]]);
      assert.match(secrets.kubeconfig, /^apiVersion|server/);
    }));

  test("asks nobody where nothing would be done, and says why nobody can tell", () =>
    tellReleases(async (world) => {
      await labelled(world);
      await release(world, "web");
      await until(world, "web", "Installed");
      const stored = (await read(world, "web")) ?? assert.fail("it is there");
      const same = await ask(world, stored);
      assert.deepEqual([same.told, same.asked], [["default/web | What the spec asks for is installed."], []]);
      const other = await ask(world, {
        ...stored,
        spec: { ...stored.spec, helmSpec: { ...chart, values: { a: 2 } } },
      });
      assert.match(other.told[0] ?? "", /^default\/web \| web 1\.0\.0 would follow revision 1; /);
      const missing = await ask(world, addonOf({ valuesFrom: [{ kind: "Secret", name: "none" }] }));
      assert.match(missing.told[0] ?? "", /Secret none not found/);
      assert.deepEqual((await ask(world, addonOf({}, { env: "other" }))).told, []);
    }));
});
