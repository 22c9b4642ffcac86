import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createX509Keys } from "@talos-operator/adapters";
import { registryFiles } from "../../registry/registry-files.ts";
import type { PackedChart } from "../../registry/registry-files.ts";

const run = promisify(execFile);

/** A repository of the charts in `charts/`, by https on loopback, for one test file. */
export interface ChartRepository {
  readonly url: string;
  /** PEM of the authority that signed its certificate. */
  readonly ca: string;
  /** The same as a file. */
  readonly caFile: string;
  /** The same charts as a registry has them: `oci://127.0.0.1:41234/charts`. */
  readonly ociUrl: string;
  /** Archives that were asked for. */
  readonly fetched: string[];
  /** From now on the registry asks for a name and a password. */
  demand(username: string, password: string): void;
  /** Publishes another version of a chart. */
  publish(chart: string, version: string): Promise<void>;
  close(): Promise<void>;
}

/** @param helm the genuine one, which packs the charts */
export async function startChartRepository(helm: string): Promise<ChartRepository> {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-charts-"));
  const keys = createX509Keys();
  const notBefore = Date.now() - 60_000;
  const authority = await keys.createAuthority({ kind: "p256", organization: "charts", notBefore });
  const pair = await keys.signCertificate(authority, { usage: "server", notBefore, lifetimeMs: 86_400_000, ipAddresses: ["127.0.0.1"] });
  const caFile = join(folder, "ca.pem");
  writeFileSync(caFile, authority.certificate);
  const fetched: string[] = [];
  const packed: PackedChart[] = [];
  let wanted: string | undefined;
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, answer) => {
    if (request.url?.startsWith("/v2/") === true) {
      const file = registryFiles("charts", packed).get(request.url.split("?")[0] ?? "");
      if (wanted !== undefined && request.headers.authorization !== wanted)
        answer.writeHead(401, { "www-authenticate": 'Basic realm="charts"' }).end();
      else if (file === undefined) answer.writeHead(404).end();
      else answer.writeHead(200, file.headers).end(request.method === "HEAD" ? undefined : file.body);
      return;
    }
    const name = (request.url ?? "").split("?")[0]?.slice(1) ?? "";
    try {
      const body = readFileSync(join(folder, name.replaceAll("/", "")));
      if (name.endsWith(".tgz")) fetched.push(name);
      answer.end(body);
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `https://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  const publish = async (chart: string, version: string): Promise<void> => {
    const source = join(folder, "sources", `${chart}-${version}`);
    mkdirSync(join(folder, "sources"), { recursive: true });
    cpSync(join(import.meta.dirname, "../charts", chart), source, { recursive: true });
    const yaml = join(source, "Chart.yaml");
    writeFileSync(yaml, readFileSync(yaml, "utf8").replace(/^version: .*$/m, `version: ${version}`));
    await run(helm, ["package", source, "--destination", folder]);
    packed.push({ name: chart, version, archive: readFileSync(join(folder, `${chart}-${version}.tgz`)) });
    await run(helm, ["repo", "index", folder, "--url", url]);
  };
  return {
    url,
    ociUrl: `${url.replace("https:", "oci:")}/charts`,
    ca: authority.certificate,
    caFile,
    demand(username, password) {
      wanted = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
    },
    fetched,
    publish,
    async close() {
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
