import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { configured, controlPlane, facts, founded, inMaintenance, member, NOW, observed, running, silent } from "../testing/builders.ts";
import { machinesOf } from "../spec/declared.ts";
import { etcdHealth } from "./etcd-health.ts";
import type { Look, SeenEtcd } from "../model/look.ts";

const members = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
const others = ["10.0.0.4", "10.0.0.5", "10.0.0.6"];
const healthy = Object.fromEntries(members.map((address, index) => [address, running(member(index, 3))]));
const waiting = Object.fromEntries(others.map((address) => [address, inMaintenance(address)]));

/** etcd of three members, when the spec lists these control planes. */
function told(
  listed: readonly string[],
  looks: Readonly<Record<string, Look>> = { ...healthy, ...waiting },
): ReturnType<typeof etcdHealth> {
  const seen = observed({
    controlPlane: controlPlane(3, { metalSpec: { machines: listed.map((address) => ({ address })) } }),
    facts: facts({ machines: members.map((address) => configured(address)), bootstrapDone: founded }),
    looks,
  });
  const left = machinesOf(controlPlane(3)).filter(({ address }) => !listed.includes(address));
  return etcdHealth({ ...seen, former: left.map((declared) => ({ declared, look: looks[declared.address] ?? silent })) });
}

describe("etcd while control planes are replaced", () => {
  it("is told by the members that leave, where all of them do", () => {
    const { reason, message } = told(others);
    assert.equal(reason, "MemberMissing");
    assert.match(
      message,
      /demo-10\.0\.0\.4 \(in maintenance mode\).*served by 3 members that will leave when others have joined: demo-10\.0\.0\.1/,
    );
  });

  it("is told by those that stay and those that leave, where some do", () => {
    const { reason, message } = told(["10.0.0.1", "10.0.0.2", "10.0.0.4"]);
    assert.equal(reason, "MemberMissing");
    assert.match(message, /demo-10\.0\.0\.4.*served by 2 others, and by demo-10\.0\.0\.3 until they leave/);
  });

  it("is healthy while members leave that nobody replaces", () =>
    assert.deepEqual(told(["10.0.0.1"]), {
      reason: "AllMembersHealthy",
      message: "3 voting members, one leader, all healthy. 2 of them vote until they leave.",
    }));

  it("has a member that never started: one of nobody is told of as that, with what becomes of it", () => {
    const id = "00000000000000ff";
    const stranger = { id, name: "", peerUrls: ["https://10.0.0.9:2380"], clientUrls: [], isLearner: false };
    const looks = Object.fromEntries(
      members.map((address, index) => {
        const own = member(index, 3);
        return [address, running({ ...own, members: [...(own.members ?? []), stranger] })];
      }),
    );
    const seen = observed({
      controlPlane: controlPlane(3),
      facts: facts({ machines: members.map((address) => configured(address)), bootstrapDone: founded }),
      looks,
    });
    assert.match(etcdHealth(seen).message, /has not started/);
    const said = `member without a name (${id}, https://10.0.0.9:2380) is removed when that is still so in two minutes`;
    assert.deepEqual(etcdHealth(seen, said), {
      reason: "MemberUnexpected",
      message: `Of etcd, ${said}. See docs/runbooks/stray-member.md.`,
    });
  });

  it("is unknown where nobody answers, staying or leaving", () => assert.equal(told(others, {}).reason, "NoAnswer"));
});

describe("a member that is not healthy", () => {
  const idOf = (n: number): string => String(n).padStart(16, "0");
  /** The third of three; @param known the record knows its member */
  const said = (known: boolean, unwellMs: number, look: Partial<SeenEtcd> = { isHealthy: false }): ReturnType<typeof etcdHealth> => {
    const machines = members.map((address, index) => {
      const { memberId: _unknown, ...fact } = configured(address);
      return known || index < 2 ? { ...fact, memberId: idOf(index + 1) } : fact;
    });
    const ill = running({ ...member(2, 3), ...look }, { etcdUnwellSince: NOW - unwellMs });
    return etcdHealth(
      observed({
        controlPlane: controlPlane(3),
        facts: facts({ machines, bootstrapDone: founded }),
        looks: { ...healthy, "10.0.0.3": ill },
      }),
    );
  };
  it("has just been promoted, and is joining", () =>
    assert.deepEqual(said(false, 10_000), {
      reason: "MemberMissing",
      message: "Joining etcd: demo-10.0.0.3, with a vote and before the first health check.",
    }));
  for (const [what, known, unwellMs] of [
    ["was a member before", true, 10_000],
    ["has not become healthy within a minute", false, 60_000],
  ] as const)
    it(`${what}, and is told of as that`, () =>
      assert.deepEqual(said(known, unwellMs), { reason: "MemberUnhealthy", message: "etcd on demo-10.0.0.3 is not healthy." }));
});

describe("a member that somebody removed", () => {
  const removed = (platform: string, unwellMs: number): ReturnType<typeof etcdHealth> => {
    const machines = members.map((address, index) =>
      configured(address, "controlplane", "demo", { memberId: String(index + 1).padStart(16, "0") }),
    );
    const etcd: SeenEtcd = {
      service: "Waiting",
      isHealthy: false,
      hasData: true,
      localMember: "none",
      members: undefined,
      leader: undefined,
    };
    const two = Object.fromEntries(members.slice(0, 2).map((address, index) => [address, running(member(index, 2))]));
    return etcdHealth(
      observed({
        controlPlane: controlPlane(3),
        facts: facts({ machines, bootstrapDone: founded }),
        looks: { ...two, "10.0.0.3": running(etcd, { platform, etcdUnwellSince: NOW - unwellMs }) },
      }),
    );
  };
  it("is wiped of EPHEMERAL on metal", () =>
    assert.match(
      removed("metal", 60_000).message,
      /cannot join with its old data\. To have it join as a new member: talosctl -n 10\.0\.0\.3 reset .*EPHEMERAL\.$/,
    ));
  it("is no container to be reset, which would only stop it", () => {
    const { message, saysRemedy } = removed("container", 60_000);
    assert.match(message, /Stop its container, empty \/var\/lib\/etcd in its volume, and start it again/);
    assert.doesNotMatch(message, /talosctl/);
    assert.equal(saysRemedy, true);
  });
  it("is given a minute before anybody is told to wipe it", () => assert.doesNotMatch(removed("metal", 59_000).message, /reset/));
});

describe("etcd without a majority", () => {
  it("has lost its quorum when one of two members is gone, and needs both", () => {
    const stuck = running({ service: "Running", isHealthy: false, members: undefined, leader: "0", localMember: undefined });
    const seen = observed({
      controlPlane: controlPlane(2),
      facts: facts({
        machines: ["10.0.0.1", "10.0.0.2"].map((address, index) => configured(address, "controlplane", "demo", { memberId: `${index}a` })),
        bootstrapDone: founded,
      }),
      looks: { "10.0.0.1": stuck, "10.0.0.2": silent },
    });
    const { reason, message } = etcdHealth(seen);
    assert.equal(reason, "QuorumLost");
    assert.match(message, /of 2 members only demo-10\.0\.0\.1 runs, and 2 are needed/);
  });
});
