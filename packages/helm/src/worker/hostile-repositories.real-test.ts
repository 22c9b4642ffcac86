// Genuine parts: etcd, helm, kube-apiserver, kubectl
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { createX509Keys } from "@talos-operator/adapters";
import type { HelmResult, HelmSecrets } from "../index.ts";
import type { GenuineWorkers } from "../testing/adapters/genuine-worker.ts";
import { startGenuineWorkers } from "../testing/adapters/genuine-worker.ts";
import { tar } from "../testing/tar.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

describe("genuine Helm and repositories that mean no good", () => {
  let workers: GenuineWorkers;
  let ca: string;
  let url: string;
  let otherUrl: string;
  const answers = new Map<string, Answer>();
  /** Authorization headers that strangers were sent. */
  const leaked: string[] = [];
  const ends: (() => Promise<void>)[] = [];

  const chartYaml = (name: string): string => `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n`;
  /** A repository of one chart. */
  const repository = (
    name: string,
    archive: Buffer,
    place = `${name}-1.0.0.tgz`,
  ): { readonly repository: string; readonly name: string } => {
    const digest = createHash("sha256").update(archive).digest("hex");
    const entry = `  ${name}:\n  - {apiVersion: v2, name: ${name}, version: 1.0.0, digest: ${digest}, urls: ["${place}"]}\n`;
    answers.set(`/${name}/index.yaml`, (_, response) => void response.end(`apiVersion: v1\nentries:\n${entry}`));
    answers.set(`/${name}/${name}-1.0.0.tgz`, (_, response) => void response.end(archive));
    return { repository: `${url}/${name}`, name };
  };
  const packed = (name: string, files: Readonly<Record<string, string>> = {}): Buffer =>
    gzipSync(
      tar(Object.entries({ "Chart.yaml": chartYaml(name), ...files }).map(([path, text]) => [`${name}/${path}`, Buffer.from(text)])),
    );

  before(async () => {
    workers = await startGenuineWorkers();
    const keys = createX509Keys();
    const notBefore = Date.now() - 60_000;
    const authority = await keys.createAuthority({ kind: "p256", organization: "charts", notBefore });
    ca = authority.certificate;
    const signed = { usage: "server", notBefore, lifetimeMs: 86_400_000, ipAddresses: ["127.0.0.1", "127.0.0.2"] } as const;
    const pair = await keys.signCertificate(authority, signed);
    const own: RequestListener = (request, response) => {
      const answer = answers.get(request.url ?? "");
      if (answer === undefined) response.writeHead(404).end();
      else answer(request, response);
    };
    const stranger: RequestListener = (request, response) => {
      leaked.push(request.headers.authorization ?? "none");
      own(request, response);
    };
    const tls = { cert: pair.certificate, key: pair.key };
    const listen = async (server: ReturnType<typeof createServer>, host: string): Promise<string> => {
      await new Promise<void>((resolve) => server.listen(0, host, resolve));
      ends.push(async () => {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      });
      return `${host}:${(server.address() as AddressInfo).port}`;
    };
    url = `https://${await listen(createServer(tls, own), "127.0.0.1")}`;
    otherUrl = `https://${await listen(createServer(tls, stranger), "127.0.0.2")}`;
  });
  after(async () => {
    for (const end of ends) await end();
    await workers.close();
  });

  const install = (
    chart: { readonly repository: string; readonly name: string },
    access: HelmSecrets["repository"] = {},
  ): Promise<HelmResult> =>
    workers.give(workers.applyOf(chart.name, chart.name, { chart, options: { timeoutMs: 20_000 } }), { repository: { ca, ...access } });
  const why = (result: HelmResult): string => (result.kind === "failed" ? `${result.reason}: ${result.message}` : result.kind);

  test("an archive that unpacks to 256 MiB is refused before Helm reads it", async () => {
    const bomb = gzipSync(
      tar([
        ["bomb/Chart.yaml", Buffer.from(chartYaml("bomb"))],
        ["bomb/zeros", Buffer.alloc(256 * 2 ** 20)],
      ]),
    );
    assert.ok(bomb.length < 2 ** 20);
    assert.match(why(await install(repository("bomb", bomb))), /^chart-too-large: The chart unpacks to more than/);
  });

  test("an archive whose files would lie elsewhere is refused", async () => {
    const climbs = gzipSync(
      tar([
        ["climbs/Chart.yaml", Buffer.from(chartYaml("climbs"))],
        ["climbs/../../../../tmp/talos-operator-climbed", Buffer.from("here")],
      ]),
    );
    assert.match(why(await install(repository("climbs", climbs))), /^chart-invalid: /);
  });

  test("what is no archive is refused", async () => {
    assert.match(why(await install(repository("rubbish", Buffer.from("<html>Log in</html>")))), /^chart-invalid: /);
  });

  test("an index without end is ended by the memory that Helm takes for it", async () => {
    answers.set("/endless/index.yaml", (request, response) => {
      const piece = Buffer.alloc(2 ** 20, "# no end of it\n");
      const more = (): void => {
        while (!request.destroyed && !response.destroyed && response.write(piece));
      };
      response.on("drain", more);
      more();
    });
    assert.match(why(await install({ repository: `${url}/endless`, name: "endless" })), /^chart-too-large: /);
  });

  test("a template without end is ended by the memory that Helm takes for it, and says so", async () => {
    const template = "{{- range until 50000000 }}{{ . }}: {{ randAlphaNum 64 }}\n{{ end }}";
    const result = await install(repository("unending", packed("unending", { "templates/a.yaml": template })));
    assert.match(why(result), /^template-failed: |^failed: .*memory/);
  });

  test("a release that its Secret cannot hold is refused, and leaves nothing", async () => {
    const noise = Array.from({ length: 40_000 }, (_, index) => createHash("sha256").update(String(index)).digest("base64")).join("\n");
    const large = repository("large", packed("large", { "files/noise.txt": noise, "templates/a.yaml": "" }));
    assert.match(why(await install(large)), /^release-too-large: /);
  });

  for (const [what, place] of [
    ["another host", () => `${otherUrl}/lead/lead-1.0.0.tgz`],
    ["a redirect to another host", () => `${url}/lead/away`],
  ] as const)
    test(`a password is not sent to ${what}`, async () => {
      leaked.length = 0;
      answers.set("/lead/away", (_, response) => void response.writeHead(302, { location: `${otherUrl}/lead/lead-1.0.0.tgz` }).end());
      const chart = repository("lead", packed("lead", { "templates/a.yaml": "" }), place());
      const result = await install(chart, { username: "reader", password: "s3cret-of-the-repository" });
      assert.equal(result.kind, "applied", why(result));
      assert.deepEqual(leaked, ["none"]);
    });

  test("nothing that a repository leads to is asked for in plain text", async () => {
    // Nobody has this name: who asked it would say that there is no such host.
    const stranger = "http://metadata.invalid/plain-1.0.0.tgz";
    answers.set("/plain/away", (_, response) => void response.writeHead(302, { location: stranger }).end());
    for (const place of [stranger, `${url}/plain/away`])
      assert.match(
        why(await install(repository("plain", packed("plain"), place))),
        /^repository-refused: .* leads to an address in plain text/,
      );
  });
});
