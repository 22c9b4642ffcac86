import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { isInternalPath, readRegistryPath } from "./registry-path.ts";

describe("paths of objects", () => {
  for (const [key, group, resource, namespace, name] of [
    ["/registry/pods/default/web-0", "", "pods", "default", "web-0"],
    ["/registry/minions/cp-1", "", "minions", "", "cp-1"],
    ["/registry/namespaces/kube-system", "", "namespaces", "", "kube-system"],
    ["/registry/clusterroles/system:node", "", "clusterroles", "", "system:node"],
    ["/registry/services/specs/default/kubernetes", "", "services/specs", "default", "kubernetes"],
    ["/registry/services/endpoints/default/kubernetes", "", "services/endpoints", "default", "kubernetes"],
    [
      "/registry/apiextensions.k8s.io/customresourcedefinitions/a.example.dev",
      "apiextensions.k8s.io",
      "customresourcedefinitions",
      "",
      "a.example.dev",
    ],
    ["/registry/apiregistration.k8s.io/apiservices/v1.", "apiregistration.k8s.io", "apiservices", "", "v1."],
    ["/registry/example.dev/gadgets/shop/one", "example.dev", "gadgets", "shop", "one"],
    ["/registry/events/default/web-0.17f3", "", "events", "default", "web-0.17f3"],
  ] as const)
    test(key, () => {
      const path = readRegistryPath(Buffer.from(key));
      assert.deepEqual(path, { group, resource, namespace, name });
      assert.equal(isInternalPath(path), false);
    });

  for (const key of ["/registry/masterleases/192.0.2.10", "/registry/ranges/serviceips", "/registry/peerserverleases/apiserver-abc"])
    test(`${key} is kube-apiserver's own`, () => {
      const path = readRegistryPath(Buffer.from(key));
      assert.ok(path !== undefined && isInternalPath(path));
    });

  for (const key of [
    "compact_rev_key",
    "/registry/",
    "/registry/health",
    "/registry/pods/default/web-0/more",
    "/registry/example.dev/gadgets/shop/one/more",
    "/registry/pods//web-0",
    "/registry/pods/default/\u001b[31m",
    `/registry/pods/default/${"n".repeat(254)}`,
    `/registry/${"a/".repeat(1000)}`,
    "/other/pods/default/web-0",
  ])
    test(`${JSON.stringify(key.slice(0, 60))} is none`, () => assert.equal(readRegistryPath(Buffer.from(key)), undefined));
});
