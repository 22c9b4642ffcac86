// Genuine parts: kubectl
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { KUBECTL_WAITS } from "@talos-operator/adapters/testing";
import { startEmbedded } from "../testing/real-servers.ts";
import type { RealServer } from "../testing/real-servers.ts";

const node = (name: string): string =>
  JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name }, status: { conditions: [{ type: "Ready", status: "True" }] } });
const labelled = { matchLabels: { app: "s" } };
const template = { metadata: { labels: labelled.matchLabels }, spec: { containers: [{ name: "c", image: "i:1" }] } };
const stateful = JSON.stringify({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "s" },
  spec: { replicas: 2, serviceName: "s", selector: labelled, template },
});
const daemons = JSON.stringify({
  apiVersion: "apps/v1",
  kind: "DaemonSet",
  metadata: { name: "d" },
  spec: { selector: labelled, template },
});

describe("genuine kubectl and the workloads of a simulated cluster", () => {
  let server: RealServer;
  before(async () => {
    server = await startEmbedded({ workloads: "controllers and kubelets" });
    for (const name of ["n1", "n2"]) assert.equal((await server.kubectl(["create", "-f", "-"], node(name))).code, 0);
  });
  after(() => server.close());

  const says = async (args: readonly string[], wanted: RegExp, input = ""): Promise<void> => {
    const { code, stdout, stderr } = await server.kubectl(args, input);
    assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
    assert.match(stdout, wanted);
  };
  const patience = KUBECTL_WAITS;

  it("rollout status ends, forwards and back", async () => {
    await says(["create", "deployment", "web", "--image=i:1", "--replicas=3"], /created/);
    await says(["rollout", "status", "deployment/web", patience], /successfully rolled out/);
    await says(["wait", "--for=condition=Available", "deployment/web", patience], /condition met/);
    await says(["set", "image", "deployment/web", "i=i:2"], /image updated/);
    await says(["rollout", "status", "deployment/web", patience], /successfully rolled out/);
    await says(["rollout", "history", "deployment/web"], /^1 .*\n^2 /m);
    await says(["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.containers[0].image}"], /^i:2 i:2 i:2$/);
    await says(["rollout", "undo", "deployment/web"], /rolled back/);
    await says(["rollout", "status", "deployment/web", patience], /successfully rolled out/);
    await says(["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.containers[0].image}"], /^i:1 i:1 i:1$/);
    await says(["rollout", "restart", "deployment/web"], /restarted/);
    await says(["rollout", "status", "deployment/web", patience], /successfully rolled out/);
    await says(["get", "deployment", "web"], /web\s+3\/3\s+3\s+3/);
  });

  it("drain moves pods, uncordon opens the Node again", async () => {
    await says(["drain", "n1", "--force", "--ignore-daemonsets", patience], /node\/n1 drained/);
    await says(["rollout", "status", "deployment/web", patience], /successfully rolled out/);
    await says(["get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}"], /^n2 n2 n2$/);
    await says(["uncordon", "n1"], /uncordoned/);
  });

  it("StatefulSets, DaemonSets and Jobs come to their end", async () => {
    await says(["create", "-f", "-"], /created/, stateful);
    await says(["rollout", "status", "statefulset/s", patience], /complete|roll out/);
    await says(["set", "image", "statefulset/s", "c=i:2"], /image updated/);
    await says(["rollout", "status", "statefulset/s", patience], /complete|roll out/);
    await says(["create", "-f", "-"], /created/, daemons);
    await says(["rollout", "status", "daemonset/d", patience], /successfully rolled out/);
    await says(["create", "job", "j", "--image=i"], /created/);
    await says(["wait", "--for=condition=Complete", "job/j", patience], /condition met/);
    await says(["scale", "deployment/web", "--replicas=1"], /scaled/);
    await says(["wait", "--for=jsonpath={.status.readyReplicas}=1", "deployment/web", patience], /condition met/);
  });
});
