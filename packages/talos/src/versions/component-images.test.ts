import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ConfigError } from "../config/errors.ts";
import { defaultClusterImages, imagesOfConfig, talosImages } from "./component-images.ts";

test("etcd moved to another registry with Talos 1.12", () => {
  assert.equal(defaultClusterImages("v1.11.6").etcd, "gcr.io/etcd-development/etcd:v3.6.5");
  assert.equal(defaultClusterImages("1.12.0").etcd, "registry.k8s.io/etcd:v3.6.7");
});

test("a Talos minor that nobody looked at has no defaults", () => {
  assert.throws(
    () => defaultClusterImages("v1.99.0"),
    (error: unknown) => error instanceof ConfigError && error.code === "INVALID_VERSION",
  );
});

describe("the images of a config", () => {
  const config = [
    "machine: {kubelet: {image: 'r.example:5000/kubelet:v1.36.1@sha256:00'}}",
    "cluster: {etcd: {image: r.example:5000/etcd}, coreDNS: {image: r.example/coredns:v1}}",
  ].join("\n");

  test("stand without digest, and with a tag", () => {
    const { kubelet, etcd, coreDns, proxy } = imagesOfConfig(config, "v1.13.9");
    assert.deepEqual(
      [kubelet, etcd, coreDns, proxy],
      ["r.example:5000/kubelet:v1.36.1", "r.example:5000/etcd:latest", "r.example/coredns:v1", "registry.k8s.io/kube-proxy:v1.36.3"],
    );
  });

  test("take the tags that are asked for", () => {
    const { kubelet, proxy, etcd, pause } = imagesOfConfig(config, "v1.13.9", { kubernetes: "v1.35.2", etcd: "v9", pause: "4" });
    assert.deepEqual(
      [kubelet, proxy, etcd, pause],
      ["r.example:5000/kubelet:v1.35.2", "registry.k8s.io/kube-proxy:v1.35.2", "r.example:5000/etcd:v9", "registry.k8s.io/pause:4"],
    );
  });

  test("come from the documents of Talos 1.14", () => {
    const text = "apiVersion: v1alpha1\nkind: KubeCoreDNSConfig\nimage: r.example/dns:v2\n";
    assert.equal(imagesOfConfig(text, "v1.14.0").coreDns, "r.example/dns:v2");
  });
});

test("the images of a release carry its tag", () => {
  assert.equal(talosImages("1.13.9").imager, "ghcr.io/siderolabs/imager:v1.13.9");
  assert.throws(() => talosImages("latest"), ConfigError);
});
