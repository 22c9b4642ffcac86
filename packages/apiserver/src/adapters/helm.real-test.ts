// Genuine parts: etcd, helm, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startEmbedded, startGenuine } from "../testing/real-servers.ts";
import type { RealServer } from "../testing/real-servers.ts";

const chart = join(import.meta.dirname, "../../testdata/chart");
const kinds = "deployments,services,configmaps,secrets,ingresses,poddisruptionbudgets,roles,rolebindings,greetings";

for (const [name, start] of [
  ["the embedded API", startEmbedded],
  ["the genuine kube-apiserver", startGenuine],
] as const) {
  describe(`genuine helm against ${name}`, () => {
    let server: RealServer;
    const over = new AbortController();
    let kubelet: Promise<void>;
    before(async () => {
      server = await start();
      await ok("kubectl", ["create", "namespace", "web"]);
      kubelet = endJobs();
    });
    after(async () => {
      over.abort();
      await kubelet;
      await server.close();
    });

    async function ok(tool: "kubectl" | "helm", args: readonly string[]): Promise<string> {
      const { code, stdout, stderr } = await server[tool](["-n", "web", ...args]);
      assert.equal(code, 0, `${tool} ${args.join(" ")}: ${stderr}${stdout}`);
      return stdout;
    }

    /** Hooks that are Jobs end here, for there is no kubelet: each Job that is seen is told to be complete. */
    async function endJobs(): Promise<void> {
      const conditions = ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True" }));
      const startTime = "2026-01-01T00:00:00Z";
      const status = { succeeded: 1, startTime, completionTime: "2026-01-01T00:00:01Z", conditions };
      while (!over.signal.aborted) {
        const { stdout } = await server.kubectl(["-n", "web", "get", "jobs", "-o", "name"]);
        for (const job of stdout.split("\n").filter((line) => line !== "")) {
          await server.kubectl(["-n", "web", "patch", job, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status })]);
        }
      }
    }

    const history = async (): Promise<readonly string[]> => {
      const entries = JSON.parse(await ok("helm", ["history", "hi", "-o", "json"])) as readonly { revision: number; status: string }[];
      return entries.map(({ revision, status }) => `${revision} ${status}`);
    };
    const greeting = (): Promise<string> => ok("kubectl", ["get", "greeting", "hi", "-o", "jsonpath={.spec.text} {.spec.volume}"]);

    it("install makes the CRD, what needs it, and runs the hooks around", async () => {
      assert.match(await ok("helm", ["install", "hi", chart]), /STATUS: deployed\nREVISION: 1/);
      const names = (await ok("kubectl", ["get", kinds, "-o", "name"])).trim().split("\n");
      assert.deepEqual(
        names.filter((found) => !found.includes("kube-root-ca")),
        [
          "deployment.apps/hi",
          "service/hi",
          "configmap/hi",
          "configmap/hi-before",
          "secret/hi",
          "secret/sh.helm.release.v1.hi.v1",
          "ingress.networking.k8s.io/hi",
          "poddisruptionbudget.policy/hi",
          "role.rbac.authorization.k8s.io/hi",
          "rolebinding.rbac.authorization.k8s.io/hi",
          "greeting.chart.example.com/hi",
        ],
      );
      assert.equal(await greeting(), "hello 5");
      assert.equal(
        await ok("kubectl", ["get", "deployment", "hi", "-o", "jsonpath={.spec.template.spec.containers[0].resources.requests.cpu}"]),
        "500m",
      );
      // The Job of the hook is gone again, as its delete policy says.
      assert.equal(await ok("kubectl", ["get", "jobs", "-o", "name"]), "");
      assert.match(await ok("helm", ["list"]), /^hi\s+web\s+1\s.*deployed\s+greeter-0\.1\.0\s+1\s*$/m);
      assert.match(await ok("helm", ["status", "hi"]), /STATUS: deployed/);
    });

    it("upgrade changes, adds and removes", async () => {
      await ok("helm", ["upgrade", "hi", chart, "--set", "greeting=servus,replicas=2,withPolicy=false"]);
      assert.equal(await greeting(), "servus 5");
      assert.equal(await ok("kubectl", ["get", "configmap", "hi", "-o", "jsonpath={.data.revision}"]), "2");
      assert.equal(await ok("kubectl", ["get", "deployment", "hi", "-o", "jsonpath={.spec.replicas}"]), "2");
      assert.equal(await ok("kubectl", ["get", "poddisruptionbudgets", "-o", "name"]), "");
      assert.match(await ok("helm", ["get", "values", "hi"]), /greeting: servus/);
    });

    it("an upgrade that is refused leaves the release as it was and says why", async () => {
      const { code, stderr } = await server.helm(["-n", "web", "upgrade", "hi", chart, "--set", "greeting=servus,replicas=-1"]);
      assert.equal(code, 1);
      assert.match(stderr, /Deployment\.apps "hi" is invalid: spec\.replicas: Invalid value: -1: must be greater than or equal to 0/);
      assert.deepEqual(await history(), ["1 superseded", "2 deployed", "3 failed"]);
    });

    it("an upgrade that is only tried changes nothing", async () => {
      await ok("helm", ["upgrade", "hi", chart, "--set", "greeting=tried", "--dry-run=server"]);
      assert.equal(await greeting(), "servus 5");
    });

    it("rollback brings back what was", async () => {
      await ok("helm", ["rollback", "hi", "1"]);
      assert.equal(await greeting(), "hello 5");
      assert.equal(await ok("kubectl", ["get", "poddisruptionbudgets", "-o", "name"]), "poddisruptionbudget.policy/hi\n");
      assert.equal(await ok("kubectl", ["get", "deployment", "hi", "-o", "jsonpath={.spec.replicas}"]), "1");
      assert.deepEqual(await history(), ["1 superseded", "2 superseded", "3 failed", "4 deployed"]);
    });

    it("does not take over what belongs to nobody's release", async () => {
      await ok("kubectl", ["create", "configmap", "foreign"]);
      const { code, stderr } = await server.helm(["-n", "web", "install", "foreign", chart, "--skip-crds"]);
      assert.equal(code, 1);
      assert.match(stderr, /ConfigMap "foreign" in namespace "web" exists and cannot be imported into the current release/);
    });

    it("uninstall takes everything along but the hooks and the CRD", async () => {
      await ok("helm", ["uninstall", "hi"]);
      const left = (await ok("kubectl", ["get", kinds, "-o", "name"])).trim().split("\n");
      assert.deepEqual(left, ["configmap/foreign", "configmap/hi-before", "configmap/hi-last"]);
      assert.match(await ok("kubectl", ["get", "crd", "-o", "name"]), /greetings\.chart\.example\.com/);
      assert.equal(await ok("helm", ["list", "-q"]), "");
    });
  });
}
