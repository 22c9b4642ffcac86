import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createTalosClient } from "../client/client.ts";
import { isTalosError } from "../client/errors.ts";
import type { TalosErrorCode } from "../client/errors.ts";
import { machine } from "../protocol.ts";
import { createLookChannel } from "./look-channel.ts";
import { LOOK_NAMES, LOOK_PATHS } from "./look-methods.ts";
import { SessionLink } from "./session-link.ts";
import { createTalosSession } from "./session.ts";
import type { TalosSession } from "./session.ts";
import { createTalosSessions } from "./sessions.ts";
import { createTestNetwork } from "./testing/network.ts";
import type { TestNetwork } from "./testing/network.ts";

const CREDENTIALS = { kind: "mutual", ca: "", certificate: "", key: "" } as const;
const CONTROL_PLANES = ["cp-1", "cp-2", "cp-3"] as const;

function world(endpoints: readonly string[] = CONTROL_PLANES): { readonly network: TestNetwork; readonly session: TalosSession } {
  const network = createTestNetwork([...CONTROL_PLANES, "worker-1", "worker-2"]);
  const { dialer, clock, timers } = network;
  const session = createTalosSession({
    dialer,
    clock,
    timers,
    credentials: CREDENTIALS,
    endpoints: endpoints.map((address) => ({ address })),
  });
  return { network, session };
}

const tagOf = async (session: TalosSession, node: string, timeoutMs = 10_000): Promise<string> =>
  (await session.look(node).version({ timeoutMs })).tag;

async function fails(promise: Promise<unknown>, code: TalosErrorCode): Promise<string> {
  let message = "";
  await assert.rejects(promise, (thrown) => {
    assert.ok(isTalosError(thrown), String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    message = thrown.message;
    return true;
  });
  return message;
}

describe("a session", () => {
  test("looks at every machine through one connection to the first control plane", async () => {
    const { network, session } = world();
    for (const node of ["worker-1", "cp-2", "worker-2", "cp-1"]) assert.equal(await tagOf(session, node), `v1.13.9+${node}`);
    assert.deepEqual(network.dialled, ["cp-1"]);
    assert.deepEqual(network.calls, ["cp-1>worker-1 Version", "cp-1>cp-2 Version", "cp-1>worker-2 Version", "cp-1>cp-1 Version"]);
    assert.equal(network.pendingTimers(), 0);
  });

  test("connects with the first look, not before", () => {
    const { network, session } = world();
    assert.equal(session.endpoint(), undefined);
    assert.deepEqual(network.dialled, []);
  });

  for (const health of ["refused", "untrusted"] as const) {
    test(`goes on through the next control plane when the first is ${health}, and the caller does not notice`, async () => {
      const { network, session } = world();
      network.set("cp-1", health);
      assert.equal(await tagOf(session, "worker-1"), "v1.13.9+worker-1");
      assert.equal(session.endpoint(), "cp-2");
      assert.equal(network.open(), 1);
      await tagOf(session, "worker-2");
      assert.equal(network.dialled.length, 2, "the dead one is not tried again at once");
    });
  }

  test("leaves a control plane that fell silent within three seconds, while the look waits", async () => {
    const { network, session } = world();
    await tagOf(session, "worker-1");
    await network.advance(5_000);
    network.set("cp-1", "silent");
    const look = tagOf(session, "worker-1");
    await network.advance(3_000);
    assert.equal(await look, "v1.13.9+worker-1");
    assert.equal(session.endpoint(), "cp-2");
  });

  test("does not blame the control plane for a machine that is away", async () => {
    const { network, session } = world();
    network.set("worker-1", "refused");
    assert.match(await fails(tagOf(session, "worker-1"), "UNAVAILABLE"), /refused by worker-1/);
    assert.equal(session.endpoint(), "cp-1");
    await fails(tagOf(session, "worker-1"), "UNAVAILABLE");
    assert.deepEqual(network.calls, ["cp-1>worker-1 Version", "cp-1>cp-1 Version", "cp-1>worker-1 Version"], "it is asked once a second");
  });

  test("does not blame the control plane for a machine that is slow", async () => {
    const { network, session } = world();
    network.set("worker-1", "silent");
    const look = fails(tagOf(session, "worker-1", 3_000), "DEADLINE_EXCEEDED");
    await network.advance(5_000);
    await look;
    assert.equal(session.endpoint(), "cp-1");
    assert.deepEqual(network.dialled, ["cp-1"]);
  });

  test("says that no control plane answers rather than that the machine does not", async () => {
    const { network, session } = world();
    for (const address of CONTROL_PLANES) network.set(address, "refused");
    assert.match(await fails(tagOf(session, "worker-1"), "NO_ENDPOINT"), /no control plane answers: refused by cp-3/);
    assert.equal(network.open(), 0);
    network.set("cp-2", "up");
    assert.equal(await tagOf(session, "worker-1"), "v1.13.9+worker-1");
    assert.equal(session.endpoint(), "cp-2");
  });

  test("without endpoints says so", async () => {
    assert.match(await fails(tagOf(world([]).session, "worker-1"), "NO_ENDPOINT"), /no control plane is known/);
  });

  test("shares one probe between looks that wait", async () => {
    const { network, session } = world();
    network.set("cp-1", "silent");
    const looks = Promise.all(["worker-1", "worker-2", "cp-2", "cp-3"].map((node) => tagOf(session, node)));
    await network.advance(4_000);
    await looks;
    assert.equal(network.calls.filter((call) => call === "cp-1>cp-1 Version").length, 1);
    assert.deepEqual(network.dialled, ["cp-1", "cp-2"]);
  });

  test("moves away before a control plane is disturbed, and waits for looks under way", async () => {
    const { network, session } = world();
    const release = network.hold("worker-1");
    const look = tagOf(session, "worker-1");
    await network.advance(0);
    const end = session.avoid("cp-1");
    assert.equal(await tagOf(session, "worker-2"), "v1.13.9+worker-2");
    assert.equal(session.endpoint(), "cp-2");
    assert.equal(network.open(), 2);
    release();
    assert.equal(await look, "v1.13.9+worker-1");
    assert.equal(network.open(), 1);
    end();
    end();
    await tagOf(session, "worker-2");
    assert.equal(session.endpoint(), "cp-2", "it does not go back for no reason");
  });

  test("keeps the only control plane although it is to be avoided", async () => {
    const { network, session } = world(["cp-1"]);
    session.avoid("cp-1");
    assert.equal(await tagOf(session, "worker-1"), "v1.13.9+worker-1");
    assert.deepEqual(network.dialled, ["cp-1"]);
  });

  test("takes over other endpoints and another certificate", async () => {
    const { network, session } = world();
    await tagOf(session, "worker-1");
    session.setEndpoints([{ address: "cp-3" }, { address: "cp-1" }]);
    await tagOf(session, "worker-1");
    assert.equal(session.endpoint(), "cp-1", "it stays while the endpoint is known");
    session.setEndpoints([{ address: "cp-3" }]);
    await tagOf(session, "worker-1");
    assert.equal(session.endpoint(), "cp-3");
    session.setCredentials({ ...CREDENTIALS });
    await tagOf(session, "worker-1");
    assert.deepEqual([network.dialled, network.open()], [["cp-1", "cp-3", "cp-3"], 1]);
  });

  test("ends a look when its caller aborts, and does not count that against the control plane", async () => {
    const { network, session } = world();
    network.set("worker-1", "silent");
    const controller = new AbortController();
    const look = fails(session.look("worker-1").version({ signal: controller.signal }), "CANCELED");
    await network.advance(10);
    controller.abort();
    await look;
    assert.equal(session.endpoint(), "cp-1");
    assert.equal(network.pendingTimers(), 0);
  });

  test("refuses looks after it was closed", async () => {
    const { network, session } = world();
    await tagOf(session, "worker-1");
    session.close();
    await fails(tagOf(session, "worker-1"), "CANCELED");
    assert.equal(network.open(), 0);
  });

  test("tells the key only of the machine that it is connected to", async () => {
    const { network } = world();
    const { dialer, clock, timers } = network;
    const link = new SessionLink({ dialer, clock, timers, credentials: CREDENTIALS, endpoints: [{ address: "cp-1" }] });
    const [own, other] = ["cp-1", "worker-1"].map((node) => createTalosClient(createLookChannel(link, node)));
    assert.equal(own?.peerSpki(), undefined);
    await own?.version();
    await other?.version();
    assert.deepEqual([own?.peerSpki(), other?.peerSpki()], ["spki of cp-1", undefined]);
  });
});

describe("a stream through a session", () => {
  const firstLine = async (session: TalosSession): Promise<string> => {
    for await (const bytes of session.look("worker-1").logs({ id: "kubelet" })) return Buffer.from(bytes).toString();
    return "";
  };

  test("begins anew through the next control plane when the first is dead", async () => {
    const { network, session } = world();
    network.set("cp-1", "refused");
    assert.equal(await firstLine(session), "worker-1 0\n");
    assert.equal(session.endpoint(), "cp-2");
    assert.equal(session.inFlight(), 0);
  });

  test("that breaks off is not begun anew", async () => {
    const { network, session } = world();
    const lines: string[] = [];
    const read = async (): Promise<void> => {
      for await (const bytes of session.look("worker-1").logs({ id: "kubelet" })) {
        lines.push(Buffer.from(bytes).toString());
        if (lines.length === 2) network.set("cp-1", "refused");
      }
    };
    await fails(read(), "UNAVAILABLE");
    assert.deepEqual(lines, ["worker-1 0\n", "worker-1 1\n"]);
    assert.equal(session.inFlight(), 0);
  });

  test("counts as under way until it is left, and keeps its connection", async () => {
    const { network, session } = world();
    for await (const _bytes of session.look("worker-1").logs({ id: "kubelet" })) {
      assert.equal(session.inFlight(), 1);
      session.avoid("cp-1");
      assert.equal(network.open(), 1);
      break;
    }
    assert.deepEqual([session.inFlight(), network.open()], [0, 0]);
  });
});

describe("what goes through a session", () => {
  test("is nothing that changes a machine or hands out a key", async () => {
    const { network } = world();
    const { dialer, clock, timers } = network;
    const link = new SessionLink({ dialer, clock, timers, credentials: CREDENTIALS, endpoints: [{ address: "cp-1" }] });
    const client = createTalosClient(createLookChannel(link, "worker-1"));
    const forbidden: readonly Promise<unknown>[] = [
      client.reboot(),
      client.reset({ graceful: true, reboot: true }),
      client.bootstrap(),
      client.applyConfiguration({ config: "", mode: "auto", dryRun: true }),
      client.etcdRemoveMemberById("1"),
      client.etcdRecover((async function* () {})()),
      client.upgrade({ image: "x", preserve: true }),
      client.kubeconfig(),
      client.readText("/etc/os-release"),
    ];
    for (const call of forbidden) assert.match(await fails(call, "PERMISSION_DENIED"), /dial the machine itself/);
    assert.deepEqual(network.calls, []);
  });

  test("has a path for every name and no more, apart from resources", () => {
    // Each look but those of resources has one path, images have two.
    const own = LOOK_PATHS.size - 3;
    assert.equal(own, LOOK_NAMES.length + 1);
    const mutating = [
      "Reboot",
      "Reset",
      "Shutdown",
      "Upgrade",
      "Bootstrap",
      "Rollback",
      "MetaWrite",
      "ImagePull",
      "EtcdDefragment",
      "ServiceStop",
    ];
    const methods = new Set(machine.MachineService.methods.map(({ name }) => name));
    for (const name of mutating) {
      assert.ok(methods.has(name), name);
      assert.ok(!LOOK_PATHS.has(`/machine.MachineService/${name}`), name);
    }
  });

  test("a machine that is dialled directly is met on a connection of its own", async () => {
    const { network, session } = world();
    const client = session.dialDirectly({ address: "worker-1" }, { kind: "maintenance" });
    assert.equal((await client.version()).tag, "v1.13.9+worker-1");
    assert.deepEqual(network.calls, ["worker-1>worker-1 Version"]);
    assert.equal(client.peerSpki(), "spki of worker-1");
    client.close();
  });
});

describe("sessions of many clusters", () => {
  const sessionsOf = (limit: number) => {
    const network = createTestNetwork(["a", "b", "c"]);
    const { dialer, clock, timers } = network;
    const sessions = createTalosSessions({ dialer, clock, timers, limit });
    return { network, sessions, take: (key: string) => sessions.take(key, [{ address: key }], CREDENTIALS) };
  };

  test("are used again, and closed when they were not used for the longest time", async () => {
    const { network, sessions, take } = sessionsOf(2);
    for (const key of ["a", "b", "a", "c", "a"]) await tagOf(take(key), key);
    assert.deepEqual(network.dialled, ["a", "b", "c"]);
    assert.deepEqual([sessions.size(), network.open()], [2, 2]);
    await tagOf(take("b"), "b");
    assert.deepEqual(network.dialled, ["a", "b", "c", "b"]);
  });

  test("are not closed while they look", async () => {
    const { network, sessions, take } = sessionsOf(1);
    const release = network.hold("a");
    const look = tagOf(take("a"), "a");
    await network.advance(0);
    await tagOf(take("b"), "b");
    release();
    assert.equal(await look, "v1.13.9+a");
    assert.equal(sessions.size(), 2);
    take("c");
    assert.equal(sessions.size(), 1);
  });

  test("end with their cluster, and all together", async () => {
    const { network, sessions, take } = sessionsOf(5);
    await tagOf(take("a"), "a");
    await tagOf(take("b"), "b");
    sessions.drop("a");
    sessions.drop("unknown");
    assert.equal(network.open(), 1);
    sessions.close();
    assert.deepEqual([network.open(), sessions.size()], [0, 0]);
  });
});
