import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { create } from "@bufbuild/protobuf";

import { machine } from "../protocol.ts";
import { callFailure } from "./testing/memory-channel.ts";
import { clientOf, collect, rejectsWith } from "./testing/with-client.ts";

const M = "/machine.MachineService";
const L = "/machine.LifecycleService";

describe("the older upgrade", () => {
  test("sends what it is told and gives the actor id", async () => {
    const { client, request } = clientOf({
      [`${M}/Upgrade`]: () => create(machine.UpgradeResponseSchema, { messages: [{ ack: "Upgrade request received", actorId: "a" }] }),
    });
    assert.deepEqual(await client.upgrade({ image: "x:1", preserve: true, stage: true, force: true, rebootMode: "powercycle" }), {
      actorId: "a",
    });
    await client.upgrade({ image: "x:1", preserve: false });
    const sent = [0, 1].map((index) => request<machine.UpgradeRequest>(index));
    assert.deepEqual(
      sent.map((one) => [one.image, one.preserve, one.stage, one.force, one.rebootMode]),
      [
        ["x:1", true, true, true, 1],
        ["x:1", false, false, false, 0],
      ],
    );
  });
});

test("rolls back", async () => {
  const { client, channel } = clientOf({ [`${M}/Rollback`]: () => create(machine.RollbackResponseSchema, { messages: [{}] }) });
  await client.rollback();
  assert.equal(channel.calls[0]?.path, `${M}/Rollback`);
});

describe("the installer", () => {
  const said = (...words: readonly (string | number)[]) =>
    words.map((word) =>
      create(machine.LifecycleServiceUpgradeResponseSchema, {
        progress: { response: typeof word === "string" ? { case: "message", value: word } : { case: "exitCode", value: word } },
      }),
    );
  const upgrade = (...words: readonly (string | number)[]): Promise<string[]> =>
    collect(clientOf({ [`${L}/Upgrade`]: () => said(...words) }).client.lifecycleUpgrade({ image: "x" }));

  test("is done when it ends with exit code 0", async () => {
    assert.deepEqual(await upgrade("writing boot slot B", "done", 0), ["writing boot slot B", "done"]);
  });
  test("has failed when it ends with another one, although the call is OK", () =>
    rejectsWith(upgrade("no", 1), "INSTALL_FAILED", /exit code 1/));
  test("IN76: is of unknown outcome when it ends without one", () =>
    rejectsWith(upgrade("writing"), "UNAVAILABLE", /without an exit code/));

  test("is refused as the machine says", async () => {
    const refusing = (): never => {
      throw callFailure(9, "method is not supported in container mode");
    };
    await rejectsWith(collect(clientOf({ [`${L}/Upgrade`]: refusing }).client.lifecycleUpgrade({ image: "x" })), "FAILED_PRECONDITION");
  });

  test("gets image and store", async () => {
    const { client, request } = clientOf({ [`${L}/Upgrade`]: () => said(0) });
    await collect(client.lifecycleUpgrade({ image: "x@sha256:ab" }));
    const { containerd, source } = request<machine.LifecycleServiceUpgradeRequest>();
    assert.deepEqual([containerd?.driver, containerd?.namespace, source?.imageName], [1, 1, "x@sha256:ab"]);
  });
});
