import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";

import { machine } from "../protocol.ts";
import { callFailure } from "./testing/memory-channel.ts";
import { clientOf, collect, rejectsWith } from "./testing/with-client.ts";

const S = "/machine.ImageService";
const M = "/machine.MachineService";
const IMAGE = { name: "registry.k8s.io/pause:3.10", digest: "sha256:ab", size: 320_000n, createdAt: timestampFromMs(1_795_224_785_000) };
const FACTS = { name: "registry.k8s.io/pause:3.10", digest: "sha256:ab", sizeBytes: 320_000, createdAt: 1_795_224_785_000 };

describe("images from Talos 1.13", () => {
  test("are listed by the image service", async () => {
    const { client, channel, request } = clientOf({ [`${S}/List`]: () => [create(machine.ImageServiceListResponseSchema, IMAGE)] });
    assert.deepEqual(await client.imageList("cri"), [FACTS]);
    assert.equal(request<machine.ImageServiceListRequest>().containerd?.namespace, 2);
    assert.equal(channel.calls.length, 1);
  });

  test("are pulled layer by layer, and the last word is the name", async () => {
    const layer = { layerId: "sha256:cd", progress: { status: 2 as const, offset: 10n, total: 20n } };
    const { client, request } = clientOf({
      [`${S}/Pull`]: () => [
        create(machine.ImageServicePullResponseSchema, { response: { case: "pullProgress", value: layer } }),
        create(machine.ImageServicePullResponseSchema, { response: { case: "name", value: "ghcr.io/siderolabs/installer@sha256:ef" } }),
      ],
    });
    assert.deepEqual(await collect(client.imagePull({ reference: "ghcr.io/siderolabs/installer:v1.14.0", store: "system" })), [
      { kind: "layer", layer: "sha256:cd", status: "extracting", offsetBytes: 10, totalBytes: 20 },
      { kind: "done", name: "ghcr.io/siderolabs/installer@sha256:ef" },
    ]);
    const { containerd, imageRef } = request<machine.ImageServicePullRequest>();
    assert.deepEqual([containerd?.driver, containerd?.namespace, imageRef], [1, 1, "ghcr.io/siderolabs/installer:v1.14.0"]);
  });

  test("are not there when the stream ends after a layer", async () => {
    const layer = { layerId: "sha256:cd", progress: { status: 2 as const, offset: 20n, total: 20n } };
    const { client } = clientOf({
      [`${S}/Pull`]: () => [create(machine.ImageServicePullResponseSchema, { response: { case: "pullProgress", value: layer } })],
    });
    await rejectsWith(collect(client.imagePull({ reference: "own/image:1", store: "system" })), "UNAVAILABLE");
  });

  test("a pull that ends without a name is not done", () =>
    rejectsWith(collect(clientOf({ [`${S}/Pull`]: () => [] }).client.imagePull({ reference: "x", store: "cri" })), "UNAVAILABLE"));

  test("an image that the registry lacks is not looked for in the older way", async () => {
    const missing = (): never => {
      throw callFailure(5, "not found");
    };
    const { client, channel } = clientOf({ [`${S}/Pull`]: missing });
    await rejectsWith(collect(client.imagePull({ reference: "x", store: "cri" })), "NOT_FOUND");
    assert.equal(channel.calls.length, 1);
  });
});

describe("images up to Talos 1.12", () => {
  test("are listed by the machine service", async () => {
    const { client, channel, request } = clientOf({ [`${M}/ImageList`]: () => [create(machine.ImageListResponseSchema, IMAGE)] });
    assert.deepEqual(await client.imageList("system"), [FACTS]);
    assert.deepEqual(
      channel.calls.map((call) => call.path),
      [`${S}/List`, `${M}/ImageList`],
    );
    assert.equal(request<machine.ImageListRequest>(1).namespace, 1);
  });

  test("are pulled in one go", async () => {
    const { client, request } = clientOf({ [`${M}/ImagePull`]: () => create(machine.ImagePullResponseSchema, { messages: [{}] }) });
    assert.deepEqual(await collect(client.imagePull({ reference: "x:1", store: "cri" })), [{ kind: "done", name: "x:1" }]);
    const { namespace, reference } = request<machine.ImagePullRequest>(1);
    assert.deepEqual([namespace, reference], [2, "x:1"]);
  });

  test("fail as the machine says inside an entry", () => {
    const failed = () => [create(machine.ImageListResponseSchema, { metadata: { error: "containerd is away" } })];
    return rejectsWith(clientOf({ [`${M}/ImageList`]: failed }).client.imageList("cri"), "NODE_FAILED");
  });
});
