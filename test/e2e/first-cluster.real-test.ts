// Genuine parts: etcd, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type GenuineApi, KUBECTL_WAITS, startGenuineApi, tool, until } from "@talos-operator/adapters/testing";
import { must, startOurs, temporaryFolder, type Running } from "./processes.ts";

/** The first-cluster story on a genuine kube-apiserver and etcd, with genuine kubectl. */
describe("a first cluster on a genuine Kubernetes API", () => {
  const folder = temporaryFolder();
  let api: GenuineApi;
  let simulator: Running;
  let manager: Running;
  const kubectl = (...args: string[]): Promise<string> => must(tool("kubectl"), ["--kubeconfig", api.kubeconfig, ...args]);

  before(async () => {
    api = await startGenuineApi();
    await kubectl("apply", "--server-side", "-f", "config/crd");
    await kubectl("wait", "--for=condition=Established", "crd", "--all", KUBECTL_WAITS);
    simulator = startOurs("simulator", "--data-dir", join(folder.path, "machines"), "--log-level", "warn");
    await simulator.says(/8 machines wait/);
    manager = startOurs("manager", "--kubeconfig", api.kubeconfig, "--allow-loopback-machines", "--log-level", "info");
  });

  after(async () => {
    await manager?.end();
    await simulator?.end();
    await api?.stop();
    folder[Symbol.dispose]();
  });

  it("becomes Ready", async () => {
    await kubectl("apply", "-f", "examples/first-cluster/cluster.yaml");
    await kubectl("wait", "--for=condition=Ready", "talosclusters", "--all", KUBECTL_WAITS);
    const table = await kubectl("get", "taloscontrolplanes");
    assert.match(table, /^NAME\s+STATE\s+VERSION\s+KUBEVERSION\s+MODE\s+AGE\s+READY\s+STATUS\s+MACHINES\s+UPGRADED\n/);
    assert.match(table, /Ready/);
  });

  it("gives a kubeconfig that shows six Ready nodes", async () => {
    const nodes = await must(tool("kubectl"), ["--kubeconfig", await clusterKubeconfig(), "get", "nodes", "--no-headers"]);
    const lines = nodes.trim().split("\n");
    assert.equal(lines.length, 6);
    for (const line of lines) assert.match(line, /\sReady\s/);
  });

  it("writes nothing but the lease afterwards", async () => {
    const settled = "--for=jsonpath={.status.conditions[?(@.type=='Progressing')].reason}=Settled";
    await kubectl("wait", settled, "talosclusters", "--all", KUBECTL_WAITS);
    const before = await versions();
    // A write that settled state would cause shows within two renewals of the lease.
    for (let renewals = 0; renewals < 2; renewals += 1) {
      const renewed = await leaseVersions();
      await until("the lease is renewed", async () => (await leaseVersions()) !== renewed);
    }
    assert.deepEqual(await versions(), before);
  });

  function leaseVersions(): Promise<string> {
    return kubectl("get", "leases", "-A", "-o", "jsonpath={.items[*].metadata.resourceVersion}");
  }

  async function versions(): Promise<string> {
    return kubectl(
      "get",
      "talosclusters,taloscontrolplanes,talosworkers,talosmachines,clusterrecords,secrets",
      "-A",
      "-o",
      "jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{'\\n'}{end}",
    );
  }

  async function clusterKubeconfig(): Promise<string> {
    const name = (await kubectl("get", "talosclusters", "-o", "jsonpath={.items[0].metadata.name}")).trim();
    const data = JSON.parse(await kubectl("get", "secret", `${name}-kubeconfig`, "-o", "jsonpath={.data}")) as Record<string, string>;
    const path = join(folder.path, "kubeconfig");
    writeFileSync(path, Buffer.from(Object.values(data)[0] ?? "", "base64"), { mode: 0o600 });
    return path;
  }
});
