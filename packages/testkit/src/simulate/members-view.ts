import type { Datacenter, EtcdCluster, EtcdDatabase, EtcdMember, SimulatedMachine } from "@talos-operator/simulator";
import { livingEtcd } from "./living-etcd.ts";
import type { Stage } from "./stage.ts";

/** What the operator may have read just before the world changed. */
export const READ_JUST_BEFORE_MS = 5_000;

/** The members of etcd and the machines that they run on, as they are. */
export interface MembersView {
  readonly machineAt: (address: string) => SimulatedMachine;
  readonly isControlPlane: (address: string) => boolean;
  readonly cluster: () => EtcdCluster | undefined;
  readonly machineOf: (member: EtcdMember) => SimulatedMachine | undefined;
  readonly alarms: () => ReturnType<EtcdDatabase["alarms"]>;
  /** It works, or was seen to work just before. */
  readonly isHealthy: (member: EtcdMember) => boolean;
}

export function viewMembers(datacenter: Datacenter, stage: Stage, now: () => number): MembersView {
  const machineAt = (address: string): SimulatedMachine => datacenter.machine(stage.routes.get(address) ?? address);
  const isControlPlane = (address: string): boolean => stage.everControlPlanes.has(address);
  const cluster = (): EtcdCluster | undefined => livingEtcd(datacenter).at(0);
  const machineOf = (member: EtcdMember): SimulatedMachine | undefined =>
    datacenter.machines().find((machine) => machine.state.etcd.data?.memberId === member.id);

  const alarms = (): ReturnType<EtcdDatabase["alarms"]> => {
    const etcd = cluster();
    return etcd === undefined ? [] : (datacenter.etcdDatabase(etcd.key)?.alarms() ?? []);
  };

  function isHealthy(member: EtcdMember): boolean {
    const machine = machineOf(member);
    if (machine === undefined) return false;
    const { power, isConnected, goneSince, services } = machine.state;
    if ((power === "off" || !isConnected) && now() - (goneSince ?? 0) > READ_JUST_BEFORE_MS) return false;
    return services["etcd"]?.state === "Running" || goneSince !== undefined;
  }

  return { machineAt, isControlPlane, cluster, machineOf, alarms, isHealthy };
}
