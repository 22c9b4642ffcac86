import {
  controlPlane,
  inMaintenance,
  NOW,
  observed,
  preparing,
  running,
  silent,
  type Observed,
  type SeenEtcd,
  type SeenMachine,
} from "@talos-operator/operator/testing";
import { addressOf, hasQuorum, indexOf, isLive, type State } from "./state.ts";

const HOUR = 3_600_000;

/** What an operator sees when it looks at everything at this moment. */
export function observe(state: State, operator: number): Observed {
  const now = NOW + state.hour * HOUR;
  const looks = Object.fromEntries(state.machines.map((_machine, index) => [addressOf(index), lookAt(state, index, now)]));
  const spec = controlPlane(0, {
    metalSpec: { machines: state.listed.map((index) => ({ address: addressOf(index) })), machineSpec: { installDisk: "/dev/sda" } },
  });
  const seen = observed({
    now,
    watchedSince: now,
    controlPlane: spec,
    looks,
    mayDisturb: state.operators[operator]?.mayDisturb === true,
    namespaceIsTerminating: false,
  });
  const { facts } = state;
  const listed = new Set(seen.machines.map(({ declared }) => declared.name));
  const pattern = seen.machines[0];
  if (pattern === undefined) throw new Error("a model lists at least one control plane");
  const former = facts.machines
    .filter((fact) => !listed.has(fact.name))
    .map((fact): SeenMachine => ({
      declared: { ...pattern.declared, name: fact.name, address: fact.address },
      look: lookAt(state, indexOf(fact.address), now),
    }));
  const bundle = { fingerprint: facts.bundle.fingerprint, clusterId: facts.clusterId, isOurs: true, isDeleting: false };
  return {
    ...seen,
    former,
    record: { kind: "present", value: { resourceVersion: "1", facts, metadata: seen.controlPlane.metadata } },
    bundle: { kind: "present", value: bundle },
  };
}

function lookAt(state: State, index: number, now: number): SeenMachine["look"] {
  const machine = state.machines[index];
  const address = addressOf(index);
  switch (machine?.stage) {
    case "waiting":
      return inMaintenance(address, { at: now, spki: keyOf(index, machine.life) });
    case "up":
      return running(etcdOf(state, index), { at: now, hardware: { uuid: `uuid-${address}`, macs: [`mac-${address}`] } });
    case "dead":
      // Since long ago: whoever waits a while before it counts a machine as gone has waited.
      return { ...silent, at: now, since: now - HOUR } as SeenMachine["look"];
    default:
      return { ...silent, at: now, since: now } as SeenMachine["look"];
  }
}

/** Key that a machine shows in maintenance mode. */
export function keyOf(index: number, life: number): string {
  return `spki-${addressOf(index)}-${life}`;
}

/** etcd as one machine tells it: a member without quorum tells no list. */
export function etcdOf(state: State, index: number): SeenEtcd {
  const machine = state.machines[index];
  if (machine?.isStopped === true) return { ...preparing, service: "Finished", hasData: false };
  if (machine?.member === undefined) return preparing;
  const isListed = state.etcd?.members.some(({ id }) => id === machine.member) === true;
  if (!isListed || !hasQuorum(state))
    return { service: "Running", isHealthy: false, localMember: machine.member, members: undefined, leader: "0" };
  return {
    service: "Running",
    isHealthy: true,
    localMember: machine.member,
    members: (state.etcd?.members ?? []).map((member) => ({
      id: member.id,
      name: isLive(state, member) || !member.isLearner ? `cp-${member.machine}` : "",
      isLearner: member.isLearner,
      peerUrls: [`https://${addressOf(member.machine)}:2380`],
    })),
    leader: state.etcd?.leader ?? "0",
  };
}
