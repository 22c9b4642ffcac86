// What a release says that Helm would do, while its reconcile-mode is dryrun.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { annotations, talosClusterAddonReleaseResource, talosControlPlaneResource } from "@talos-operator/api";
import type { SimulatedHelm } from "../world/simulated-helm.ts";
import type { Story } from "./story.ts";
import { edit, ENDPOINT, key, read, release, tellReleases, until } from "./told-releases.ts";

describe("a dry run", () => {
  const mode = (world: Story, word: string | null) =>
    world.client
      .resource(talosClusterAddonReleaseResource)
      .patch(key("web"), { type: "merge", value: { metadata: { annotations: { [annotations.reconcileMode]: word } } } });
  const dryRun = async (world: Story): Promise<string> => {
    const one = (await read(world, "web"))?.status?.conditions?.find(({ type }) => type === "DryRun");
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
