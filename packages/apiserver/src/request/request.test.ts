import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chooseForm } from "./accept.ts";
import { parseFieldSelector } from "./field-selector.ts";
import { parseLabelSelector } from "./label-selector.ts";
import { parseRequestInfo } from "./request-info.ts";
import { badRequest, StatusError } from "./status.ts";

describe("paths", () => {
  const resource = (group: string, version: string, namespace: string, plural: string, name = "", subresource = ""): object => ({
    kind: "resource",
    group,
    version,
    namespace,
    plural,
    name,
    subresource,
  });
  const cases: readonly (readonly [string, object])[] = [
    ["/api/v1/namespaces", resource("", "v1", "", "namespaces")],
    ["/api/v1/namespaces/a", resource("", "v1", "", "namespaces", "a")],
    ["/api/v1/namespaces/a/status", resource("", "v1", "", "namespaces", "a", "status")],
    ["/api/v1/namespaces/a/finalize", resource("", "v1", "", "namespaces", "a", "finalize")],
    ["/api/v1/namespaces/a/pods", resource("", "v1", "a", "pods")],
    ["/api/v1/namespaces/a/pods/p/eviction", resource("", "v1", "a", "pods", "p", "eviction")],
    ["/api/v1/pods", resource("", "v1", "", "pods")],
    ["/apis/apps/v1/namespaces/a/deployments/d/", resource("apps", "v1", "a", "deployments", "d")],
    ["/apis/x.io/v1/namespaces/a/status", resource("x.io", "v1", "a", "status")],
    ["/apis/x.io/v1", { kind: "other", path: "/apis/x.io/v1" }],
    ["/api/v1", { kind: "other", path: "/api/v1" }],
    ["/version", { kind: "other", path: "/version" }],
    ["/api/v1/namespaces/a/pods/p/q/r", { kind: "other", path: "/api/v1/namespaces/a/pods/p/q/r" }],
  ];
  for (const [path, expected] of cases) {
    it(`reads ${path}`, () => assert.deepEqual(parseRequestInfo(path), expected));
  }
  for (const path of ["/api/v1/namespaces/%2e%2e/pods", "/api/v1/namespaces/a%2fb", "/api/v1/namespaces/%zz", "/api/v1/namespaces/a%00"]) {
    it(`refuses ${path}`, () => assert.throws(() => parseRequestInfo(path), { code: 400 }));
  }
});

describe("label selectors", () => {
  const labels = { a: "1", b: "x", constructor: "c" };
  const cases: readonly (readonly [string, boolean])[] = [
    ["a=1", true],
    ["a==1,b=x", true],
    ["a=1,b=y", false],
    ["a!=2", true],
    ["z!=2", true],
    ["a in (1, 2)", true],
    ["a notin (1,2)", false],
    ["z notin (1)", true],
    ["a", true],
    ["!a", false],
    ["! z", true],
    ["a>0", true],
    ["a<1", false],
    ["toString", false],
    ["constructor=c", true],
    ["", true],
  ];
  for (const [selector, expected] of cases) {
    it(`${JSON.stringify(selector)} is ${expected}`, () => assert.equal(parseLabelSelector(selector)(labels), expected));
  }
  for (const selector of ["a b", "a in 1", "-a=1", "a=b=c", "=1"]) {
    it(`refuses ${selector}`, () => assert.throws(() => parseLabelSelector(selector), StatusError));
  }
});

describe("field selectors", () => {
  const parse = (text: string): ReturnType<typeof parseFieldSelector> =>
    parseFieldSelector(
      text,
      (field) => field !== "nope",
      (field) => badRequest(field),
    );
  it("compares, negates and reads escapes", () => {
    assert.equal(parse("a=1,b!=2")({ a: "1", b: "3" }), true);
    assert.equal(parse("a=x\\,y")({ a: "x,y" }), true);
    assert.equal(parse("a=")({}), true);
  });
  it("refuses what cannot be selected", () => {
    assert.throws(() => parse("nope=1"), { code: 400 });
    assert.throws(() => parse("a"), { code: 400 });
  });
});

describe("Accept", () => {
  const table = "application/json;as=Table;v=v1;g=meta.k8s.io";
  const cases: readonly (readonly [string | undefined, object])[] = [
    [undefined, { kind: "plain" }],
    ["*/*", { kind: "plain" }],
    ["application/json", { kind: "plain" }],
    ["application/vnd.kubernetes.protobuf,application/json", { kind: "plain" }],
    [`${table},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`, { kind: "table", version: "v1" }],
    ["application/json;as=Other;v=v1;g=meta.k8s.io,application/json", { kind: "plain" }],
    ["application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", { kind: "metadata", version: "v1" }],
  ];
  for (const [accept, expected] of cases) {
    it(`${String(accept)} is ${JSON.stringify(expected)}`, () => assert.deepEqual(chooseForm(accept), expected));
  }
  it("refuses what we do not speak", () => {
    assert.throws(() => chooseForm("application/vnd.kubernetes.protobuf"), { code: 406 });
  });
});
