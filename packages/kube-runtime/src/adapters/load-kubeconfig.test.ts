import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { KubeApiError } from "../client/kube-api-error.ts";
import { createHttpsTransport } from "./https-transport.ts";
import { inClusterConfig, isInCluster } from "./in-cluster-config.ts";
import { loadKubeconfig } from "./load-kubeconfig.ts";
import { answerJson, createTestAuthority, startTestServer } from "./testing/test-server.ts";

const pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const kubeconfig = (cluster: string, user: string, more = ""): string => `apiVersion: v1
kind: Config
current-context: main
contexts:
  - name: main
    context: { cluster: here, user: me, namespace: work }
clusters:
  - name: here
    cluster: ${cluster}
users:
  - name: me
    user: ${user}
${more}`;

describe("kubeconfig", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "kube-runtime-"));
  });
  after(() => rmSync(folder, { recursive: true }));

  it("takes inline certificates before files, and the namespace of the context", async () => {
    const text = kubeconfig(
      `{ server: "https://a:6443", certificate-authority-data: ${base64(pem)}, certificate-authority: ca.crt, tls-server-name: kubernetes }`,
      `{ client-certificate-data: ${base64(pem)}, client-certificate: c.crt, client-key-data: ${base64(pem)} }`,
    );
    assert.deepEqual(await loadKubeconfig({ text }), {
      config: { server: "https://a:6443", ca: pem, serverName: "kubernetes", certificate: pem, key: pem },
      namespace: "work",
      context: "main",
    });
  });

  it("resolves file names against the folder of the kubeconfig", async () => {
    mkdirSync(join(folder, "sub"));
    const path = join(folder, "sub", "config");
    writeFileSync(
      path,
      kubeconfig(
        "{ server: https://a, certificate-authority: ../ca.crt }",
        "{ client-certificate: c.crt, client-key: /abs/c.key, tokenFile: token }",
      ),
    );
    const { config } = await loadKubeconfig({ path });
    assert.deepEqual(config, {
      server: "https://a",
      caFile: join(folder, "ca.crt"),
      certificateFile: join(folder, "sub", "c.crt"),
      keyFile: "/abs/c.key",
      tokenFile: join(folder, "sub", "token"),
    });
  });

  it("reads token, password and the explicit wish not to verify", async () => {
    const text = kubeconfig("{ server: https://a, insecure-skip-tls-verify: true }", "{ token: t, username: u, password: p }");
    assert.deepEqual((await loadKubeconfig({ text })).config, {
      server: "https://a",
      insecureSkipTlsVerify: true,
      token: "t",
      basicAuth: { username: "u", password: "p" },
    });
  });

  it("joins several files, the first wins, missing ones are skipped", async () => {
    const [first, second] = [join(folder, "first"), join(folder, "second")];
    writeFileSync(first, "current-context: main\ncontexts: [{ name: main, context: { cluster: here } }]\n");
    writeFileSync(second, kubeconfig("{ server: https://second }", "{}"));
    const before = process.env["KUBECONFIG"];
    process.env["KUBECONFIG"] = [first, join(folder, "absent"), second].join(":");
    try {
      assert.deepEqual(await loadKubeconfig(), { config: { server: "https://second" }, namespace: "default", context: "main" });
    } finally {
      if (before === undefined) delete process.env["KUBECONFIG"];
      else process.env["KUBECONFIG"] = before;
    }
  });

  it("reads the proxy of the cluster, and whom the user acts as", async () => {
    const text = kubeconfig(
      "{ server: https://a, proxy-url: http://proxy:3128 }",
      "{ token: t, as: jane, as-uid: '42', as-groups: [devs], as-user-extra: { scope: [a, b] } }",
    );
    assert.deepEqual((await loadKubeconfig({ text })).config, {
      server: "https://a",
      proxyUrl: "http://proxy:3128",
      token: "t",
      impersonate: { user: "jane", uid: "42", groups: ["devs"], extra: { scope: ["a", "b"] } },
    });
  });

  const bad: readonly { readonly name: string; readonly text: string; readonly says: RegExp; readonly context?: string }[] = [
    { name: "is not YAML", text: "token: [s3cret", says: /not YAML \(line 1\)/ },
    { name: "is no mapping", text: "- a", says: /not a mapping/ },
    { name: "has no current context", text: "contexts: []", says: /no current-context/ },
    { name: "does not have the context", text: kubeconfig("{ server: https://a }", "{}"), context: "other", says: /no context "other"/ },
    {
      name: "names an unknown cluster",
      text: "current-context: a\ncontexts: [{ name: a, context: { cluster: x } }]",
      says: /no known cluster/,
    },
    {
      name: "names an unknown user",
      text: "current-context: a\ncontexts: [{ name: a, context: { cluster: x, user: y } }]\nclusters: [{ name: x, cluster: { server: https://a } }]",
      says: /unknown user "y"/,
    },
    { name: "has no server", text: kubeconfig("{}", "{}"), says: /has no server/ },
    {
      name: "has a key that is not base64 of PEM",
      text: kubeconfig("{ server: https://a }", "{ client-key-data: s3cret }"),
      says: /"client-key-data" is not base64 of PEM/,
    },
    { name: "impersonates nobody", text: kubeconfig("{ server: https://a }", "{ as-groups: [a] }"), says: /impersonation needs/ },
    {
      name: "impersonates with a text for a list",
      text: kubeconfig("{ server: https://a }", "{ as: jane, as-groups: admins }"),
      says: /impersonation needs/,
    },
    { name: "has clusters that are no list", text: "clusters: 1", says: /clusters is not a list/ },
  ];
  for (const { name, text, says, context } of bad) {
    it(`is refused when it ${name}, without quoting it`, async () => {
      await assert.rejects(loadKubeconfig({ text, ...(context === undefined ? {} : { context }) }), (error) => {
        assert.ok(error instanceof KubeApiError && error.code === "KUBECONFIG_INVALID");
        assert.match(error.message, says);
        assert.ok(!error.message.includes("s3cret"));
        return true;
      });
    });
  }

  it("is refused when the file is not there", async () => {
    await assert.rejects(loadKubeconfig({ path: join(folder, "nowhere") }), /KUBECONFIG_INVALID: .*nowhere: the file does not exist/);
  });

  it("logs in with the program that the user names", async () => {
    const authority = await createTestAuthority();
    const server = await startTestServer(authority, (_, response) => answerJson(response, 200, {}));
    const script = join(folder, "login.sh");
    writeFileSync(
      script,
      `#!/bin/sh\necho '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"from-program"}}'\n`,
      { mode: 0o755 },
    );
    const text = kubeconfig(
      `{ server: "${server.url}", certificate-authority-data: ${base64(authority.ca)} }`,
      `{ exec: { apiVersion: client.authentication.k8s.io/v1, command: ${script}, interactiveMode: Never } }`,
    );
    const transport = createHttpsTransport((await loadKubeconfig({ text })).config);
    await transport.send({ method: "GET", path: "/api/v1/nodes" });
    assert.equal(server.requests[0]?.headers.authorization, "Bearer from-program");
    transport.close();
    await server.close();
  });

  const far = "2099-01-01T00:00:00Z";
  const claims = Buffer.from(JSON.stringify({ exp: Date.parse(far) / 1000 })).toString("base64url");
  const idToken = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${claims}.x`;
  for (const { name, config, token } of [
    {
      name: "oidc",
      config: `{ client-id: c, id-token: ${idToken}, idp-issuer-url: "https://127.0.0.1:1", refresh-token: r }`,
      token: idToken,
    },
    { name: "gcp", config: `{ access-token: from-gcp, expiry: "${far}", cmd-path: /nowhere }`, token: "from-gcp" },
    { name: "azure", config: `{ access-token: from-azure, expires-on: "${Date.parse(far) / 1000}" }`, token: "from-azure" },
  ]) {
    it(`logs in with the provider ${name}`, async () => {
      const authority = await createTestAuthority();
      const server = await startTestServer(authority, (_, response) => answerJson(response, 200, {}));
      const text = kubeconfig(
        `{ server: "${server.url}", certificate-authority-data: ${base64(authority.ca)} }`,
        `{ auth-provider: { name: ${name}, config: ${config} } }`,
      );
      const transport = createHttpsTransport((await loadKubeconfig({ text })).config);
      await transport.send({ method: "GET", path: "/api/v1/nodes" });
      assert.equal(server.requests[0]?.headers.authorization, `Bearer ${token}`);
      transport.close();
      await server.close();
    });
  }

  it("says so when the program fails", async () => {
    const text = kubeconfig(
      "{ server: https://127.0.0.1:1 }",
      "{ exec: { apiVersion: client.authentication.k8s.io/v1, command: /nowhere/login, interactiveMode: Never } }",
    );
    const transport = createHttpsTransport((await loadKubeconfig({ text })).config);
    await assert.rejects(
      transport.send({ method: "GET", path: "/" }),
      (error) => error instanceof KubeApiError && error.code === "CREDENTIALS_UNAVAILABLE",
    );
    transport.close();
  });
});

describe("in-cluster configuration", () => {
  it("names server, CA, token and namespace, and follows the files", async () => {
    const folder = mkdtempSync(join(tmpdir(), "kube-runtime-"));
    const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
    assert.equal(isInCluster(folder, env), false);
    await assert.rejects(
      inClusterConfig(folder, env),
      (error) => error instanceof KubeApiError && error.code === "CREDENTIALS_UNAVAILABLE",
    );
    writeFileSync(join(folder, "token"), "t");
    assert.equal((await inClusterConfig(folder, env)).namespace, "default");
    writeFileSync(join(folder, "namespace"), "operators\n");
    assert.deepEqual(await inClusterConfig(folder, env), {
      config: { server: "https://[fd00::1]:443", caFile: join(folder, "ca.crt"), tokenFile: join(folder, "token") },
      namespace: "operators",
    });
    rmSync(folder, { recursive: true });
  });
});
