import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { promisify } from "node:util";
import { startGenuineApi, tool } from "@talos-operator/adapters/testing";
import type { KubeRequest, KubeResponse, KubeTransport } from "@talos-operator/ports";

const run = promisify(execFile);

/** A genuine kube-apiserver with its own etcd on loopback, for one test file. */
export interface RealApiServer {
  readonly transport: KubeTransport;
  /** Text of a kubeconfig of an administrator, which needs no file. */
  readonly kubeconfig: string;
  /** Runs the genuine kubectl and returns its stdout; rejects when it exits non-zero, its stderr in the error. */
  kubectl(...args: readonly string[]): Promise<string>;
  /** Stops both processes and deletes their data. */
  close(): Promise<void>;
}

/** Starts them on the test file's own network. */
export async function startRealApiServer(): Promise<RealApiServer> {
  const { folder, kubeconfig, url, stop } = await startGenuineApi();
  const agent = new Agent({
    keepAlive: true,
    ca: readFileSync(join(folder, "pki/ca.crt")),
    cert: readFileSync(join(folder, "pki/admin.crt")),
    key: readFileSync(join(folder, "pki/admin.key")),
  });
  const pem = (name: string): string => readFileSync(join(folder, "pki", name)).toString("base64");
  return {
    kubeconfig: JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      clusters: [{ name: "c", cluster: { server: url, "certificate-authority-data": pem("ca.crt") } }],
      users: [{ name: "u", user: { "client-certificate-data": pem("admin.crt"), "client-key-data": pem("admin.key") } }],
    }),
    transport: {
      send: (wanted) => sendHttps(agent, url, wanted),
      watch: () => Promise.reject(new Error("this transport does not watch")),
      close: () => agent.destroy(),
    },
    kubectl: async (...args) => (await run(tool("kubectl"), ["--kubeconfig", kubeconfig, ...args])).stdout,
    close: async () => {
      agent.destroy();
      await stop();
    },
  };
}

function sendHttps(agent: Agent, url: string, { method, path, query, headers, body }: KubeRequest): Promise<KubeResponse> {
  const search = query === undefined ? "" : `?${new URLSearchParams(query).toString()}`;
  const { promise, resolve, reject } = Promise.withResolvers<KubeResponse>();
  const call = request(
    `${url}${path}${search}`,
    { method, agent, headers: { "content-type": "application/json", ...headers } },
    (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const isJson = answer.headers["content-type"]?.startsWith("application/json") === true;
        resolve({ status: answer.statusCode ?? 0, headers: {}, body: isJson ? (JSON.parse(text) as unknown) : text });
      });
    },
  );
  call.on("error", reject);
  call.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}
