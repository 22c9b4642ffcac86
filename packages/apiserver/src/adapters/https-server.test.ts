import assert from "node:assert/strict";
import { Agent, request } from "node:https";
import type { RequestOptions } from "node:https";
import { connect } from "node:tls";
import { after, before, describe, it } from "node:test";
import { createX509Keys, systemClock } from "@talos-operator/adapters";
import { ApiServerError } from "../api-server-error.ts";
import { serveHttps } from "./https-server.ts";
import { startTestServer, testToken } from "../testing/test-server.ts";
import type { TestServer } from "../testing/test-server.ts";

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

describe("the HTTPS front end", () => {
  let server: TestServer;
  const records: { verb: string; status: number; user: string }[] = [];
  before(async () => {
    server = await startTestServer({ onRequest: (record) => records.push(record) });
  });
  after(() => server.close());

  /** One request with node:https, so that everything on the wire is ours to choose. */
  function call(options: RequestOptions, body?: string | Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port: server.https.port, ca: server.authority.certificate, ...options }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
        );
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }
  const asAdmin = (): { readonly cert: string; readonly key: string } => ({ cert: server.admin.certificate, key: server.admin.key });
  const configMaps = "/api/v1/namespaces/default/configmaps";
  const post = (contentType: string, body: string | Buffer, more: RequestOptions = {}): Promise<Answer> =>
    call({ ...asAdmin(), method: "POST", path: configMaps, headers: { "content-type": contentType }, ...more }, body);

  it("lets nobody without credentials in but to health and version", async () => {
    for (const path of ["/healthz", "/livez", "/readyz", "/version"]) assert.equal((await call({ path })).status, 200, path);
    const refused = await call({ path: "/api/v1/secrets" });
    assert.equal(refused.status, 403);
    assert.match(refused.text, /User \\"system:anonymous\\" cannot list resource \\"secrets\\"/);
  });

  it("takes the user from the certificate's CN and the groups from its O", async () => {
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
    const { text } = await call({ ...asAdmin(), method: "POST", path, headers: { "content-type": "application/json" } }, body);
    const { status } = JSON.parse(text) as { status: { userInfo: { extra: Record<string, readonly string[]> } } };
    const { extra, ...user } = status.userInfo;
    assert.deepEqual(user, { username: "admin", groups: ["system:masters", "system:authenticated"] });
    assert.match(extra["authentication.kubernetes.io/credential-id"]?.[0] ?? "", /^X509SHA256=[0-9a-f]{64}$/);
  });

  it("refuses a certificate of another authority with 401, also where nobody is needed", async () => {
    const keys = createX509Keys();
    const notBefore = systemClock.now() - 60_000;
    const foreign = await keys.createAuthority({ kind: "p256", organization: "foreign", notBefore });
    const pair = await keys.signCertificate(foreign, {
      usage: "client",
      notBefore,
      lifetimeMs: 3_600_000,
      commonName: "admin",
      organizations: ["system:masters"],
    });
    assert.equal((await call({ cert: pair.certificate, key: pair.key, path: "/api/v1/secrets" })).status, 401);
    assert.equal((await call({ cert: pair.certificate, key: pair.key, path: "/healthz" })).status, 401);
  });

  it("knows a bearer token and refuses another with 401", async () => {
    assert.equal((await call({ path: "/apis", headers: { authorization: `Bearer ${testToken}` } })).status, 200);
    assert.equal(records.at(-1)?.user, "token-user");
    const refused = await call({ path: configMaps, headers: { authorization: "Bearer wrong" } });
    assert.equal(refused.status, 401);
    assert.equal((JSON.parse(refused.text) as { reason: string }).reason, "Unauthorized");
  });

  it("prints for people who ask for it, or who look by curl and do not say", async () => {
    const lines = async (query: string, agent = "kubectl"): Promise<number> => {
      const { text } = await call({ ...asAdmin(), path: `/api/v1/namespaces/default${query}`, headers: { "user-agent": agent } });
      return text.trimEnd().split("\n").length;
    };
    assert.equal(await lines(""), 1);
    assert.equal(await lines("?pretty=x"), 1);
    assert.ok((await lines("?pretty=true")) > 10);
    assert.ok((await lines("", "curl/8.5.0")) > 10);
    assert.equal(await lines("?pretty=false", "curl/8.5.0"), 1);
  });

  it("says under which address it was reached", async () => {
    const { text } = await call({ ...asAdmin(), path: "/api" });
    const { host } = new URL(server.https.url);
    assert.deepEqual(JSON.parse(text), {
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: host }],
    });
  });

  it("takes JSON and YAML bodies", async () => {
    assert.equal((await post("application/json", JSON.stringify({ metadata: { name: "json" } }))).status, 201);
    const { status, text } = await post("application/yaml", "metadata:\n  name: yaml\ndata:\n  mode: '0644'\n  word: 'yes'\n");
    assert.equal(status, 201, text);
    assert.deepEqual((JSON.parse(text) as { data: unknown }).data, { mode: "0644", word: "yes" });
  });

  it("says which members stand twice, or refuses them when it is asked to be strict", async () => {
    const body = '{"metadata":{"name":"twice"},"data":{"a":"1","a":"2"}}';
    const send = (query: string): ReturnType<typeof call> =>
      call(
        { ...asAdmin(), method: "POST", path: `${configMaps}?dryRun=All${query}`, headers: { "content-type": "application/json" } },
        body,
      );
    const warned = await send("");
    assert.equal(warned.status, 201);
    assert.equal(warned.headers["warning"], '299 - "duplicate field \\"data.a\\""');
    const refused = await send("&fieldValidation=Strict");
    assert.equal(refused.status, 400);
    assert.equal(
      (JSON.parse(refused.text) as { message: string }).message,
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "data.a"',
    );
    assert.equal((await send("&fieldValidation=Ignore")).headers["warning"], undefined);
  });

  it("reads YAML scalars as Kubernetes does", async () => {
    const path = "/apis/apps/v1/namespaces/default/deployments?dryRun=All&fieldValidation=Ignore";
    const yaml = `metadata: {name: d}
spec:
  replicas: 010
  paused: yes
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}`;
    const { status, text } = await call({ ...asAdmin(), method: "POST", path, headers: { "content-type": "application/yaml" } }, yaml);
    assert.equal(status, 201, text);
    const { spec } = JSON.parse(text) as { spec: { replicas: number; paused: boolean } };
    assert.equal(spec.replicas, 8);
    assert.equal(spec.paused, true);
  });

  it("says that a kind is not served, or not allowed, before it says that its body cannot be read", async () => {
    const protobuf = "application/vnd.kubernetes.protobuf";
    assert.equal(
      (await post(protobuf, "nonsense", { path: "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies" })).status,
      404,
    );
    assert.equal((await post("application/json", "{", { path: "/apis/example.dev/v1/nothings" })).status, 404);
    const anonymous = { method: "POST", path: configMaps, headers: { "content-type": "text/plain" } };
    assert.equal((await call(anonymous, "nonsense")).status, 403);
    assert.equal((await post("text/plain", "nonsense")).status, 415);
  });

  it("refuses protobuf of kinds that it does not know with 415, and broken protobuf with 400", async () => {
    const envelope = (apiVersion: string, kind: string, raw: readonly number[]): Buffer => {
      const type = [0x0a, apiVersion.length, ...Buffer.from(apiVersion), 0x12, kind.length, ...Buffer.from(kind)];
      return Buffer.from([...Buffer.from("k8s\0"), 0x0a, type.length, ...type, 0x12, raw.length, ...raw]);
    };
    const type = "application/vnd.kubernetes.protobuf";
    const refused = await post(type, envelope("v1", "Unheard", []));
    assert.equal(refused.status, 415);
    assert.equal((JSON.parse(refused.text) as { reason: string }).reason, "UnsupportedMediaType");
    // A field that is not in our table is refused, never dropped.
    assert.equal((await post(type, envelope("v1", "ConfigMap", [0x7a, 0x01, 0x41]))).status, 415);
    for (const broken of [Buffer.from("k8s\0\xff\xff"), Buffer.from("nope"), envelope("v1", "ConfigMap", [0x0a, 0x7f])]) {
      assert.equal((await post(type, broken)).status, 400);
    }
  });

  it("refuses what is neither JSON nor YAML with 400 and quotes none of it", async () => {
    for (const [type, body] of [
      ["application/json", '{"data": {"password": "hunter2"'],
      ["application/yaml", "data: {password: hunter2"],
      ["application/yaml", "a: 1\na: hunter2"],
    ] as const) {
      const refused = await post(type, body);
      assert.equal(refused.status, 400);
      assert.ok(!refused.text.includes("hunter2"), refused.text);
    }
  });

  it("refuses nesting of 20,000 levels with 400, as JSON and as YAML", async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    assert.equal((await post("application/json", deep)).status, 400);
    assert.equal((await post("application/yaml", deep)).status, 400);
    assert.equal((await post("application/yaml", `a: ${"[".repeat(20_000)}${"]".repeat(20_000)}`)).status, 400);
    assert.equal((await call({ path: "/healthz" })).status, 200);
  });

  it("refuses a YAML alias bomb with 400", async () => {
    const lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
    for (let level = 1; level < 9; level++)
      lines.push(
        `a${level}: &a${level} [${Array(10)
          .fill(`*a${level - 1}`)
          .join(",")}]`,
      );
    const refused = await post("application/yaml", lines.join("\n"));
    assert.equal(refused.status, 400);
  });

  it("refuses a body above 3 MiB with 413 and keeps the connection", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: server.authority.certificate, ...asAdmin() });
    const refused = await post("application/json", Buffer.alloc(5 * 1024 * 1024, " "), { agent });
    assert.equal(refused.status, 413);
    const status = JSON.parse(refused.text) as { reason: string; code: number };
    assert.deepEqual([status.reason, status.code], ["RequestEntityTooLarge", 413]);
    const next = await call({ agent, path: configMaps });
    assert.equal(next.status, 200);
    assert.equal(Object.values(agent.freeSockets).flat().length, 1);
    agent.destroy();
  });

  it("refuses a body above 3 MiB that does not say its length, too", async () => {
    const refused = await post("application/json", Buffer.alloc(4 * 1024 * 1024, " "), {
      headers: { "content-type": "application/json", "transfer-encoding": "chunked" },
    });
    assert.equal(refused.status, 413);
  });

  it("refuses dots and slashes smuggled into a name", async () => {
    for (const name of ["..%2f..%2fsecrets", "%2e%2e", "..", "a%00b"]) {
      const { status } = await call({ ...asAdmin(), path: `${configMaps}/${name}` });
      assert.equal(status, 400, name);
    }
  });

  it("streams a watch line by line and ends it cleanly on close", async () => {
    const other = await startTestServer();
    const stream = await other.transport.watch({ method: "GET", path: configMaps, query: { watch: "true" } });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of stream.events) {
        seen.push(event.type);
        if (seen.length === 1) await other.transport.send({ method: "DELETE", path: `${configMaps}/w` });
        if (seen.length === 2) void other.https.close();
      }
    })();
    await other.transport.send({ method: "POST", path: configMaps, body: { metadata: { name: "w" } } });
    await reading;
    assert.deepEqual(seen, ["ADDED", "DELETED"]);
    await other.close();
  });

  it("frees the watch when its client goes away", async () => {
    const controller = new AbortController();
    const stream = await server.transport.watch(
      { method: "GET", path: configMaps, query: { watch: "true" } },
      { signal: controller.signal },
    );
    const reading = (async () => {
      for await (const event of stream.events) assert.equal(event.type, "ADDED");
    })();
    controller.abort();
    await reading.catch(() => undefined);
    assert.equal((await call({ ...asAdmin(), path: configMaps })).status, 200);
  });

  it("counts every request with verb, user and status", async () => {
    records.length = 0;
    await server.transport.send({ method: "GET", path: `${configMaps}/absent` });
    await server.transport.send({ method: "DELETE", path: configMaps });
    assert.deepEqual(
      records.map(({ verb, status, user }) => ({ verb, status, user })),
      [
        { verb: "get", status: 404, user: "admin" },
        { verb: "deletecollection", status: 200, user: "admin" },
      ],
    );
  });

  it("says PORT_IN_USE with the port and the flag", async () => {
    const taken = { address: "127.0.0.1", port: server.https.port, certificate: server.admin, clientAuthorities: [], portFlag: "--listen" };
    await assert.rejects(serveHttps(server.api, taken), (err) => {
      assert.ok(err instanceof ApiServerError);
      assert.equal(err.code, "PORT_IN_USE");
      assert.ok(err.message.includes(`127.0.0.1:${server.https.port}`) && err.message.includes("--listen"), err.message);
      return true;
    });
  });

  it("says ADDRESS_NOT_AVAILABLE for an address of another machine", async () => {
    const options = { address: "192.0.2.1", port: 0, certificate: server.admin, clientAuthorities: [] };
    await assert.rejects(serveHttps(server.api, options), { code: "ADDRESS_NOT_AVAILABLE" });
  });

  it("says CERTIFICATE_UNUSABLE for a key of another certificate", async () => {
    const certificate = { certificate: server.authority.certificate, key: server.admin.key };
    await assert.rejects(serveHttps(server.api, { address: "127.0.0.1", port: 0, certificate, clientAuthorities: [] }), {
      code: "CERTIFICATE_UNUSABLE",
    });
  });

  it("speaks no TLS below 1.2", async () => {
    const version = await new Promise<string | undefined>((resolve) => {
      const socket = connect({
        host: "127.0.0.1",
        port: server.https.port,
        ca: server.authority.certificate,
        maxVersion: "TLSv1.1",
        minVersion: "TLSv1",
      });
      socket.on("secureConnect", () => resolve(socket.getProtocol() ?? undefined));
      socket.on("error", () => resolve(undefined));
    });
    assert.equal(version, undefined);
  });
});
