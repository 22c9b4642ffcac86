import { createHash } from "node:crypto";
import { createServer } from "node:https";
import { systemClock } from "@talos-operator/adapters";
import { registryFiles } from "@talos-operator/helm/registry";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Keys } from "@talos-operator/ports";
import { dump } from "js-yaml";
import { errorCode } from "../cli-error.ts";
import { applyObject } from "./apply-object.ts";
import { chartArchive } from "./charts/archive.ts";
import { networkChart } from "./charts/network-chart.ts";
import { pageChart } from "./charts/page-chart.ts";

const CHARTS = [pageChart, networkChart] as const;

/** What `examples/talos-cluster-addon.yaml` and `examples/own-network/cluster.yaml` name. */
const SECRET = "talos-demo-charts";

const HOST = "127.0.0.1";
const DAY_MS = 86_400_000;

/** A small repository of charts for the addons of a demo, by https and as a registry: `oci://127.0.0.1:9444/charts`. */
export interface DemoCharts {
  /** `https://127.0.0.1:9444` */
  readonly url: string;
  /** Writes the Secret with the authority that signed its certificate. */
  tell(client: KubeClient): Promise<void>;
  close(): Promise<void>;
}

export interface DemoChartsOptions {
  /** Of 127.0.0.1; 0 = any that is free. */
  readonly port: number;
  readonly keys: Keys;
  /** It cannot be served, and why: the demo goes on without. */
  readonly onMissing: (why: string) => void;
}

/** Serves its charts on loopback by https, with an authority of its own that is made at each start. `undefined` where something else has the port. */
export async function openDemoCharts({ port, keys, onMissing }: DemoChartsOptions): Promise<DemoCharts | undefined> {
  const notBefore = systemClock.now() - DAY_MS;
  const authority = await keys.createAuthority({ kind: "p256", organization: "talos-operator demo charts", notBefore });
  const pair = await keys.signCertificate(authority, { usage: "server", notBefore, lifetimeMs: 400 * DAY_MS, ipAddresses: [HOST] });
  const packed = CHARTS.map(({ name, version, appVersion, files }) => ({
    name,
    version,
    appVersion,
    file: `${name}-${version}.tgz`,
    archive: chartArchive(name, files),
  }));
  const created = "2026-01-01T00:00:00Z";
  const entries = packed.map(({ name, version, appVersion, file, archive }) => {
    const digest = createHash("sha256").update(archive).digest("hex");
    return [name, [{ apiVersion: "v2", name, version, appVersion, created, digest, urls: [file] }]] as const;
  });
  const index = dump({ apiVersion: "v1", entries: Object.fromEntries(entries), generated: created });
  const files = new Map<string, string | Buffer>([
    ["/index.yaml", index],
    ...packed.map(({ file, archive }) => [`/${file}`, archive] as const),
  ]);
  const registry = registryFiles("charts", packed);
  const server = createServer({ cert: pair.certificate, key: pair.key }, ({ method, url = "" }, answer) => {
    const isRead = method === "GET" || method === "HEAD";
    const path = url.split("?")[0] ?? "";
    const file = files.get(path) ?? registry.get(path)?.body;
    if (!isRead || file === undefined) return void answer.writeHead(isRead ? 404 : 405).end();
    const body = Buffer.from(file);
    // To HEAD Node sends the headers alone.
    answer.writeHead(200, { "content-length": body.length, ...registry.get(path)?.headers }).end(body);
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, HOST, resolve);
    });
  } catch (error) {
    onMissing(errorCode(error) ?? "it cannot be listened there");
    return undefined;
  }
  const address = server.address();
  return {
    url: `https://${HOST}:${typeof address === "object" && address !== null ? address.port : port}`,
    async tell(client) {
      const data = { "ca.crt": Buffer.from(authority.certificate).toString("base64") };
      const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: SECRET, namespace: "default" }, type: "Opaque", data };
      await applyObject(client, secret, "talos-operator-demo");
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
