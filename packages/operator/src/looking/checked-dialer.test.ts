import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TalosChannel, TalosDialer, TalosMethod, TalosTarget } from "@talos-operator/ports";
import { AddressRefusal, createCheckedDialer } from "./checked-dialer.ts";

const method: TalosMethod<string, string> = { path: "/machine.MachineService/Version", encode: () => new Uint8Array(), decode: () => "" };
const options = { timeoutMs: 1_000 };
const credentials = { kind: "maintenance" } as const;

/** A dialer that notes whom it dials, and answers everything. */
function noting(): {
  readonly dialer: TalosDialer;
  readonly dialled: TalosTarget[];
  readonly touched: TalosTarget[];
  readonly closed: string[];
} {
  const dialled: TalosTarget[] = [];
  const touched: TalosTarget[] = [];
  const closed: string[] = [];
  const dial = (target: TalosTarget): TalosChannel => {
    dialled.push(target);
    return {
      target,
      unary: async () => "answered" as never,
      async *serverStream() {
        yield "one" as never;
      },
      upload: async () => "taken" as never,
      peerSpki: () => `key of ${target.address}`,
      close: () => void closed.push(target.address),
    };
  };
  const reaches = async (target: TalosTarget): Promise<boolean> => {
    touched.push(target);
    return true;
  };
  const hold = async (target: TalosTarget): Promise<"released"> => {
    touched.push(target);
    return "released";
  };
  return { dialer: { dial, reaches, hold }, dialled, touched, closed };
}

const answering = (...addresses: readonly string[]) => ({ resolve: async () => addresses });

describe("a dialer that checks where it connects to", () => {
  test("hands an address through as it is", async () => {
    const { dialer, dialled } = noting();
    await createCheckedDialer(dialer, undefined, {}).dial({ address: "10.0.0.1" }, credentials).unary(method, "", options);
    assert.deepEqual(dialled, [{ address: "10.0.0.1" }]);
  });

  for (const address of [
    "127.0.0.1",
    "::1",
    "169.254.169.254",
    "0.0.0.0",
    "::ffff:127.0.0.1",
    "fe80::1%eth0",
    "localhost",
    "metadata.google.internal",
    "2130706433",
  ])
    test(`IN45: refuses ${address} at the moment of connecting, whoever let it pass before`, async () => {
      const { dialer, dialled } = noting();
      const channel = createCheckedDialer(dialer, answering("10.0.0.1"), {}).dial({ address }, credentials);
      await assert.rejects(
        channel.unary(method, "", options),
        (thrown) => thrown instanceof AddressRefusal && thrown.reason === "AddressRefused",
      );
      assert.deepEqual(dialled, []);
    });

  test("IN45: touches nobody at an address that is refused, and at a name the address that was checked", async () => {
    const { dialer, touched } = noting();
    assert.equal(await createCheckedDialer(dialer, undefined, {}).reaches({ address: "127.0.0.1" }, 1_000), false);
    assert.equal(await createCheckedDialer(dialer, answering("::1"), {}).reaches({ address: "m.example" }, 1_000), false);
    assert.deepEqual(touched, []);
    assert.equal(await createCheckedDialer(dialer, answering("10.0.0.1"), {}).reaches({ address: "m.example" }, 1_000), true);
    assert.deepEqual(touched, [{ address: "10.0.0.1", serverName: "m.example" }]);
    const holding = { timeoutMs: 1_000, signal: new AbortController().signal };
    assert.equal(await createCheckedDialer(dialer, undefined, {}).hold({ address: "127.0.0.1" }, holding), "unreached");
    assert.equal(await createCheckedDialer(dialer, answering("10.0.0.1"), {}).hold({ address: "m.example" }, holding), "released");
    assert.equal(touched.length, 2);
  });

  test("IN44: takes loopback where that was opened", async () => {
    const { dialer, dialled } = noting();
    await createCheckedDialer(dialer, undefined, { allowLoopback: true })
      .dial({ address: "127.0.0.1" }, credentials)
      .unary(method, "", options);
    assert.equal(dialled.length, 1);
  });

  test("IN47: connects to the address that was checked, once, and keeps the name for TLS", async () => {
    const { dialer, dialled } = noting();
    const answers = [["10.0.0.1"], ["127.0.0.1"]];
    let asked = 0;
    const names = { resolve: async () => answers[asked++] ?? [] };
    const channel = createCheckedDialer(dialer, names, {}).dial({ address: "CP.Example.com", port: 50_001 }, credentials);
    assert.equal(channel.peerSpki(), undefined);
    await Promise.all([channel.unary(method, "", options), channel.unary(method, "", options)]);
    for await (const message of channel.serverStream(method, "", options)) assert.equal(message, "one");
    assert.deepEqual(dialled, [{ address: "10.0.0.1", port: 50_001, serverName: "cp.example.com" }]);
    assert.equal(asked, 1);
    assert.equal(channel.peerSpki(), "key of 10.0.0.1");
  });

  for (const [what, names, reason] of [
    ["nobody resolves names", undefined, "NameUnresolved"],
    ["no answer comes", { resolve: () => Promise.reject(new Error("ETIMEOUT")) }, "NameUnresolved"],
    ["there is no address", answering(), "NameUnresolved"],
    ["one of the addresses is refused", answering("10.0.0.1", "127.0.0.1"), "AddressRefused"],
    ["an answer is no address", answering("10.0.0.1", "other.example.com"), "AddressRefused"],
    ["IN48: there are seventeen", answering(...Array.from({ length: 17 }, (_, n) => `10.0.0.${n + 1}`)), "AddressRefused"],
  ] as const)
    test(`connects nowhere when ${what}`, async () => {
      const { dialer, dialled } = noting();
      const channel = createCheckedDialer(dialer, names, {}).dial({ address: "cp.example.com" }, credentials);
      await assert.rejects(channel.unary(method, "", options), (thrown) => thrown instanceof AddressRefusal && thrown.reason === reason);
      assert.deepEqual(dialled, []);
    });

  test("IN55: takes the same of several addresses whatever their order, IPv4 first", async () => {
    for (const addresses of [
      ["fd00::1", "10.0.0.2", "10.0.0.1"],
      ["10.0.0.1", "10.0.0.2", "fd00::1"],
    ]) {
      const { dialer, dialled } = noting();
      await createCheckedDialer(dialer, answering(...addresses), {})
        .dial({ address: "cp.example.com" }, credentials)
        .unary(method, "", options);
      assert.equal(dialled[0]?.address, "10.0.0.1");
    }
  });

  test("closes what was opened after it was closed itself", async () => {
    const { dialer, closed } = noting();
    const channel = createCheckedDialer(dialer, answering("10.0.0.1"), {}).dial({ address: "cp.example.com" }, credentials);
    const call = channel.unary(method, "", options);
    channel.close();
    await call;
    assert.deepEqual(closed, ["10.0.0.1"]);
  });

  test("keeps the connection to a name while DNS leads to the same address, or is silent, and ends it when it leads elsewhere", async () => {
    const { dialer, dialled } = noting();
    let now = 0;
    let answer: readonly string[] | undefined = ["10.0.0.1"];
    let asked = 0;
    const names = {
      resolve: async () => {
        asked += 1;
        if (answer === undefined) throw new Error("no answer");
        return answer;
      },
    };
    const channel = createCheckedDialer(dialer, names, {}, { now: () => now }).dial({ address: "cp.example.com" }, credentials);
    const call = (): Promise<unknown> => channel.unary(method, "", options);
    await Promise.all([call(), call()]);
    assert.equal(asked, 1);
    now += 60_000;
    await Promise.all([call(), call(), call()]);
    assert.equal(asked, 2, "calls that come together share an answer");
    answer = undefined;
    now += 60_000;
    await call();
    answer = ["10.0.0.2"];
    now += 60_000;
    await assert.rejects(call(), /leads to another address/);
    answer = ["127.0.0.1"];
    await assert.rejects(call(), (thrown) => thrown instanceof AddressRefusal && thrown.reason === "AddressRefused");
    assert.deepEqual(
      dialled.map(({ address }) => address),
      ["10.0.0.1"],
    );
  });
});
