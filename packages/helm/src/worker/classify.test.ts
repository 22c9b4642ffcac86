import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { faultOf } from "./classify.ts";
import type { HelmEnd } from "./deps.ts";

const end = (stderr: string, kind: HelmEnd["kind"] = "exited"): HelmEnd => ({ kind, code: 1, stdout: "", stderr });

describe("what Helm says", () => {
  for (const [stderr, where, kind, reason, mayRepeat] of [
    ["", "repository", "killed", "repository-unreachable", true],
    ["", "cluster", "killed", "timed-out", true],
    ["", "repository", "too-large", "chart-too-large", false],
    ["", "cluster", "too-large", "template-failed", false],
    ["Error: GET https://127.0.0.1:44013/index.yaml : 401 Unauthorized", "repository", "exited", "repository-refused", false],
    [
      "Error: unexpected status from HEAD request to https://a/v2/web/manifests/1: 403 Forbidden",
      "repository",
      "exited",
      "repository-refused",
      false,
    ],
    // Digits of a port or of a digest are no status.
    ["Error: empty index at https://127.0.0.1:44013", "repository", "exited", "chart-invalid", false],
    ["Error: cannot load a4035f40112", "repository", "exited", "chart-invalid", false],
    ["Error: failed to fetch https://a/index.yaml : 503 Service Unavailable", "repository", "exited", "repository-unreachable", true],
    ["Error: chart illegally references parent directory", "repository", "exited", "chart-invalid", false],
    [
      'Error: Get "http://a/b.tgz": proxyconnect tcp: dial tcp 127.0.0.1:9: connect: connection refused',
      "repository",
      "exited",
      "repository-refused",
      false,
    ],
    ["Error: no chart name found at port 50331 of it", "repository", "exited", "chart-not-found", false],
  ] as const)
    it(`${stderr === "" ? `nothing, ${kind}` : stderr} (${where}): ${reason}`, () => {
      const fault = faultOf(end(stderr, kind), where, []);
      assert.deepEqual([fault.reason, fault.mayRepeat], [reason, mayRepeat]);
    });

  it("in the time that its length asks for, and never half a line", () => {
    const secret = "hunter22";
    for (const line of ["/".repeat(2 ** 20), "pre-install ".repeat(2 ** 16), 'chart "'.repeat(2 ** 17), secret.repeat(2 ** 17)])
      for (const where of ["cluster", "repository"] as const) {
        const { message } = faultOf(end(`${line}\nError: it failed at last\n`), where, [secret]);
        assert.match(message, /it failed at last/);
        assert.doesNotMatch(faultOf(end(`Error: ${line}`), where, [secret]).message, /unter2|\/\//);
      }
  });

  for (const [stderr, where, words] of [
    [
      'Error: chart "pgae" not found in https://a repository',
      "repository",
      /^The repository has no such chart.*: chart "pgae" not found.*\. Correct chartName/,
    ],
    ["Error: Get https://a/index.yaml: x509: certificate signed by unknown authority", "repository", /\. Name a Secret with its authority/],
    ["Error: values don't meet the specifications of the schema(s)", "cluster", /^The values do not fit the chart: .*\. Correct values/],
  ] as const)
    it(`what is wrong first, then what would release it: ${stderr}`, () => assert.match(faultOf(end(stderr), where, []).message, words));

  it("without what must not be told", () => {
    const { message } = faultOf(end("Error: login of user with hunter22 failed: denied"), "repository", ["hunter22"]);
    assert.doesNotMatch(message, /hunter22/);
    assert.match(message, /refuses the credentials/);
  });
});
