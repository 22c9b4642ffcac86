// Genuine parts: kubectl
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { KUBECTL_WAITS } from "@talos-operator/adapters/testing";
import { conformanceCrds } from "../conformance/fixture.ts";
import { startTestServer } from "../testing/test-server.ts";
import type { TestServer } from "../testing/test-server.ts";

const kubectlPath = join(process.env["TALOS_OPERATOR_TOOLS"] ?? "/usr/bin", "kubectl");

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const widget = (name: string, spec: object, metadata: object = {}): string =>
  JSON.stringify({ apiVersion: "conformance.example.com/v1", kind: "Widget", metadata: { name, namespace: "default", ...metadata }, spec });

describe("genuine kubectl against the HTTPS front end", () => {
  const folder = mkdtempSync(join(tmpdir(), "kubectl-"));
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    writeFileSync(join(folder, "kubeconfig"), server.kubeconfig);
    await ok(["apply", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: conformanceCrds }));
    await ok(["wait", "--for=condition=Established", "crd", "--all", KUBECTL_WAITS]);
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function kubectl(args: readonly string[], input = "", env: Record<string, string> = {}): Promise<Outcome> {
    return new Promise((resolve) => {
      const child = execFile(
        kubectlPath,
        ["--kubeconfig", join(folder, "kubeconfig"), "--cache-dir", join(folder, "cache"), ...args],
        { env: { ...process.env, ...env } },
        (err, stdout, stderr) => resolve({ code: err === null ? 0 : Number(err.code ?? 1), stdout, stderr }),
      );
      child.stdin?.end(input);
    });
  }

  async function ok(args: readonly string[], input = "", env: Record<string, string> = {}): Promise<string> {
    const { code, stdout, stderr } = await kubectl(args, input, env);
    assert.equal(code, 0, `kubectl ${args.join(" ")}: ${stderr}${stdout}`);
    return stdout;
  }

  it("get prints the columns of the kind, more of them with -o wide", async () => {
    await ok(["create", "-f", "-"], widget("columns", { size: 4, color: "blue" }));
    assert.match(await ok(["get", "widgets", "columns"]), /^NAME +SIZE\ncolumns +4\n$/);
    assert.match(await ok(["get", "wd", "columns", "-o", "wide"]), /^NAME +SIZE +COLOR\ncolumns +4 +blue\n$/);
    assert.equal(await ok(["get", "wd", "columns", "-o", "jsonpath={.spec.size}"]), "4");
    assert.match(await ok(["get", "all"]), /widget\.conformance\.example\.com\/columns/);
    assert.match(await ok(["get", "namespaces"]), /^NAME +STATUS +AGE\ndefault +Active/);
  });

  it("get -w follows changes", async () => {
    await ok(["create", "-f", "-"], widget("watched", { size: 1 }));
    const child = spawn(kubectlPath, ["--kubeconfig", join(folder, "kubeconfig"), "get", "widgets", "watched", "-w"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let printed = "";
    const seen = Promise.withResolvers<void>();
    child.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
      if (/watched +1\n/.test(printed) && !/watched +2\n/.test(printed)) {
        void server.transport.send({
          method: "PATCH",
          path: "/apis/conformance.example.com/v1/namespaces/default/widgets/watched",
          headers: { "content-type": "application/merge-patch+json" },
          body: { spec: { size: 2 } },
        });
      }
      if (/watched +2\n/.test(printed)) seen.resolve();
    });
    await seen.promise;
    const exited = once(child, "exit");
    child.kill();
    await exited;
    assert.match(printed, /^NAME +SIZE\nwatched +1\nwatched +2\n$/);
  });

  it("describe shows the object and its events", async () => {
    await ok(["create", "-f", "-"], widget("described", { size: 1 }));
    const { body } = await server.transport.send({
      method: "GET",
      path: "/apis/conformance.example.com/v1/namespaces/default/widgets/described",
    });
    const { uid } = (body as { metadata: { uid: string } }).metadata;
    await server.transport.send({
      method: "POST",
      path: "/api/v1/namespaces/default/events",
      body: {
        metadata: { name: "described.1" },
        involvedObject: { apiVersion: "conformance.example.com/v1", kind: "Widget", name: "described", namespace: "default", uid },
        reason: "Measured",
        message: "it fits",
        type: "Normal",
        count: 1,
        firstTimestamp: "2026-01-01T00:00:00Z",
        lastTimestamp: "2026-01-01T00:00:00Z",
        source: { component: "test" },
      },
    });
    const text = await ok(["describe", "widget", "described"]);
    assert.match(text, /Name: +described/);
    assert.match(text, /Size: +1/);
    assert.match(text, /Normal +Measured .* test +it fits/);
    assert.match(await ok(["events", "--for", "widget.conformance.example.com/described"]), /Measured/);
  });

  it("explain knows the fields of custom and built-in kinds", async () => {
    assert.match(await ok(["explain", "widget.spec"]), /FIELD: spec <Object>[^]*size\t<integer> -required-/);
    assert.match(await ok(["explain", "widget", "--recursive"]), /parts\t<\[\]Object>[^]*count\t<integer>/);
    assert.match(await ok(["explain", "secret.immutable"]), /immutable <boolean>/);
    assert.match(await ok(["explain", "pod.spec.containers", "--recursive"]), /image\t<string>/);
  });

  it("client-side apply creates, changes, leaves alone and removes", async () => {
    assert.match(await ok(["apply", "-f", "-"], widget("applied", { size: 1, replicas: 2 })), /created/);
    assert.match(await ok(["apply", "-f", "-"], widget("applied", { size: 1, replicas: 2 })), /unchanged/);
    assert.match(await ok(["apply", "-f", "-"], widget("applied", { size: 3 })), /configured/);
    assert.equal(await ok(["get", "widget", "applied", "-o", "jsonpath={.spec.size}/{.spec.replicas}"]), "3/");
  });

  it("client-side apply of built-in kinds merges", async () => {
    const secret = (data: object): string =>
      JSON.stringify({ apiVersion: "v1", kind: "Secret", metadata: { name: "merged", namespace: "default" }, data });
    await ok(["apply", "-f", "-"], secret({ a: "YQ==", b: "Yg==" }));
    assert.match(await ok(["apply", "-f", "-"], secret({ a: "YQ==", c: "Yw==" })), /configured/);
    assert.equal(await ok(["get", "secret", "merged", "-o", "jsonpath={.data}"]), '{"a":"YQ==","c":"Yw=="}');
  });

  it("server-side apply owns fields, reports conflicts and forces them", async () => {
    const yaml = (size: number): string => `apiVersion: conformance.example.com/v1
kind: Widget
metadata: {name: served, namespace: default}
spec: {size: ${size}}
`;
    assert.match(await ok(["apply", "--server-side", "-f", "-"], yaml(1)), /serverside-applied/);
    const refused = await kubectl(["apply", "--server-side", "--field-manager=other", "-f", "-"], yaml(2));
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /Apply failed with 1 conflict: conflict with "kubectl": \.spec\.size/);
    assert.match(
      await ok(["apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-"], yaml(2)),
      /serverside-applied/,
    );
  });

  it("apply says which field is unknown and which value is wrong", async () => {
    const unknown = await kubectl(["apply", "-f", "-"], widget("bad", { size: 1, bogus: 1 }));
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /strict decoding error: unknown field "spec\.bogus"/);
    const wrong = await kubectl(["apply", "-f", "-"], widget("bad", { size: 1000 }));
    assert.equal(wrong.code, 1);
    assert.match(
      wrong.stderr,
      /The Widget "bad" is invalid: spec\.size: Invalid value: 1000: spec\.size in body should be less than or equal to 100/,
    );
    const warned = await kubectl(["apply", "--validate=warn", "-f", "-"], widget("warned", { size: 1, bogus: 1 }));
    assert.equal(warned.code, 0);
    assert.match(warned.stderr, /Warning: unknown field "spec\.bogus"/);
  });

  it("diff shows the change and changes nothing", async () => {
    await ok(["apply", "-f", "-"], widget("different", { size: 1 }));
    const { code, stdout } = await kubectl(["diff", "-f", "-"], widget("different", { size: 2 }));
    assert.equal(code, 1);
    assert.match(stdout, /-  size: 1\n\+  size: 2/);
    assert.equal((await kubectl(["diff", "-f", "-"], widget("different", { size: 1 }))).code, 0);
    assert.equal((await kubectl(["diff", "--server-side", "--force-conflicts", "-f", "-"], widget("different", { size: 2 }))).code, 1);
  });

  it("patch does merge, JSON and, on built-in kinds, strategic merge", async () => {
    await ok(["create", "-f", "-"], widget("patched", { size: 1 }));
    await ok(["patch", "widget", "patched", "--type=merge", "-p", '{"spec":{"size":2}}']);
    await ok(["patch", "widget", "patched", "--type=json", "-p", '[{"op":"replace","path":"/spec/size","value":3}]']);
    await ok(["patch", "widget", "patched", "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Ready"}}']);
    assert.equal(await ok(["get", "widget", "patched", "-o", "jsonpath={.spec.size} {.status.phase}"]), "3 Ready");
    await ok(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: "patched" } }));
    await ok(["patch", "node", "patched", "-p", '{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}']);
    await ok(["taint", "node", "patched", "b=c:NoExecute"]);
    await ok(["cordon", "patched"]);
    assert.match(await ok(["get", "node", "patched"]), /SchedulingDisabled/);
    assert.deepEqual(
      JSON.parse(
        await ok(["get", "node", "patched", "-o", "jsonpath={.spec.taints[*].key}"]).then((text) =>
          JSON.stringify(text.split(" ").toSorted()),
        ),
      ),
      ["a", "b"],
    );
    await ok(["label", "node", "patched", "x=y"]);
    await ok(["annotate", "widget", "patched", "n=1"]);
    const refused = await kubectl(["patch", "widget", "patched", "--type=strategic", "-p", '{"spec":{"size":2}}']);
    assert.match(refused.stderr, /strategic merge patch is not supported|unknown format/);
  });

  it("edit replaces, and is refused when somebody was faster", async () => {
    await ok(["create", "-f", "-"], widget("edited", { size: 1 }));
    await ok(["edit", "widget", "edited"], "", { KUBE_EDITOR: "sed -i s/size:.1/size:\\ 5/" });
    assert.equal(await ok(["get", "widget", "edited", "-o", "jsonpath={.spec.size}"]), "5");
    const before = await ok(["get", "widget", "edited", "-o", "json"]);
    await ok(["patch", "widget", "edited", "--type=merge", "-p", '{"spec":{"size":6}}']);
    const refused = await kubectl(["replace", "-f", "-"], before);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /the object has been modified; please apply your changes to the latest version and try again/);
  });

  it("wait sees a condition, a value and a deletion", async () => {
    await ok(["create", "-f", "-"], widget("awaited", { size: 1 }));
    const forPhase = ok(["wait", "--for=jsonpath={.status.phase}=Ready", "widget/awaited", KUBECTL_WAITS]);
    await ok(["patch", "widget", "awaited", "--subresource=status", "--type=merge", "-p", '{"status":{"phase":"Ready"}}']);
    assert.match(await forPhase, /condition met/);
    const forDeletion = ok(["wait", "--for=delete", "widget/awaited", KUBECTL_WAITS]);
    await ok(["delete", "widget", "awaited"]);
    await forDeletion;
  });

  it("delete --wait ends when the last finalizer is gone", async () => {
    await ok(["create", "-f", "-"], widget("held", { size: 1 }, { finalizers: ["example.com/hold"] }));
    const deleting = ok(["delete", "widget", "held", "--wait"]);
    await ok(["wait", "--for=jsonpath={.metadata.deletionTimestamp}", "widget/held", KUBECTL_WAITS]);
    await ok(["patch", "widget", "held", "--type=json", "-p", '[{"op":"remove","path":"/metadata/finalizers"}]']);
    assert.match(await deleting, /deleted/);
  });

  it("delete of a namespace takes its content along", async () => {
    await ok(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "going" } }));
    await ok(["apply", "-n", "going", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } }));
    await ok(["delete", "namespace", "going", "--wait", KUBECTL_WAITS]);
    assert.match((await kubectl(["get", "namespace", "going"])).stderr, /namespaces "going" not found/);
  });

  it("scale uses the scale subresource", async () => {
    await ok(["create", "-f", "-"], widget("scaled", { size: 1, replicas: 1 }));
    await ok(["scale", "widget/scaled", "--replicas=4"]);
    assert.equal(await ok(["get", "widget", "scaled", "-o", "jsonpath={.spec.replicas}"]), "4");
  });

  it("imperative commands, which send protobuf, create and ask", async () => {
    await ok(["create", "namespace", "by-hand"]);
    await ok(["create", "secret", "generic", "by-hand", "--from-literal=a=b", "--from-literal=empty="]);
    assert.equal(await ok(["get", "secret", "by-hand", "-o", "jsonpath={.data}"]), '{"a":"Yg==","empty":""}');
    await ok(["create", "configmap", "by-hand", "--from-literal=text=\u00e9"]);
    assert.equal(await ok(["get", "configmap", "by-hand", "-o", "jsonpath={.data.text}"]), "\u00e9");
    await ok(["create", "serviceaccount", "by-hand"]);
    await ok(["create", "role", "by-hand", "--verb=get,list", "--resource=pods"]);
    assert.equal(
      await ok(["get", "role", "by-hand", "-o", "jsonpath={.rules}"]),
      '[{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}]',
    );
    await ok(["create", "rolebinding", "by-hand", "--role=by-hand", "--user=jane"]);
    assert.equal((await ok(["auth", "can-i", "delete", "pods"])).trim(), "yes");
    assert.match(await ok(["auth", "can-i", "--list"]), /\*\.\* +\[\] +\[\] +\[\*\]/);
    assert.match(await ok(["auth", "whoami"]), /Username +admin/);
  });

  it("api-resources and api-versions list what is served", async () => {
    assert.match(await ok(["api-resources"]), /widgets +wd +conformance\.example\.com\/v1 +true +Widget/);
    assert.match(
      await ok(["api-resources", "--api-group=conformance.example.com", "-o", "wide"]),
      /delete,deletecollection,get,list,patch,create,update,watch +all/,
    );
    const versions = (await ok(["api-versions"])).trim().split("\n");
    for (const version of [
      "v1",
      "apps/v1",
      "apiextensions.k8s.io/v1",
      "coordination.k8s.io/v1",
      "events.k8s.io/v1",
      "conformance.example.com/v1",
    ]) {
      assert.ok(versions.includes(version), version);
    }
  });

  it("pages through long lists", async () => {
    const items = Array.from({ length: 12 }, (_, index) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `page-${index}`, labels: { page: "yes" } },
    }));
    await ok(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    assert.equal((await ok(["get", "configmaps", "-l", "page=yes", "--chunk-size=5", "-o", "name"])).trim().split("\n").length, 12);
  });
});
