import { canonicalAddress, controllerOf, reconcileModeOf } from "@talos-operator/api";
import type { MachineAddress, ReconcileMode, TalosCluster, TalosControlPlane, TalosMachine, TalosWorker } from "@talos-operator/api";
import { keyText } from "@talos-operator/kube-runtime";
import type { ObjectKey } from "@talos-operator/kube-runtime";
import { endpointHost } from "../config/endpoint-host.ts";
import type { TalosCaches } from "../controllers/shared/controller-ports.ts";
import { isOlder } from "../controllers/shared/is-older.ts";
import { effectiveMode, isTakenOver } from "../controllers/shared/mode.ts";
import type { Pauses } from "./pauses.ts";
import { canonicalAddressesOf, endpointPlaces, isIn, nameFor } from "../spec/places.ts";

/** The objects around a control plane, as the caches show them now. */
export class Surroundings {
  readonly #caches: TalosCaches;

  constructor(caches: TalosCaches) {
    this.#caches = caches;
  }

  /** The TalosCluster in dry run whose control plane this is, or would be. */
  triedCluster(key: ObjectKey, stored: TalosControlPlane | undefined): TalosCluster | undefined {
    const cluster = this.#caches.talosClusters.store.get(key);
    if (cluster?.spec?.controlPlane === undefined || reconcileModeOf(cluster.metadata) !== "dryrun") return undefined;
    if (stored === undefined) return cluster;
    const isItsOwn = controllerOf(stored.metadata)?.uid === cluster.metadata.uid;
    return isItsOwn && reconcileModeOf(stored.metadata) === "reconcile" ? cluster : undefined;
  }

  /** The TalosCluster that made this control plane is being deleted: its workers go first, and the control plane hears of it only when they are gone. */
  isParentGoing(key: ObjectKey, controlPlane: TalosControlPlane): boolean {
    const parent = this.#caches.talosClusters.store.get(key);
    return parent?.metadata.deletionTimestamp !== undefined && controllerOf(controlPlane.metadata)?.uid === parent.metadata.uid;
  }

  /** What is paused by an annotation of its own, or of a TalosCluster that is not the control plane's. */
  pausesOf(controlPlane: TalosControlPlane, pools: readonly TalosWorker[], objects: readonly TalosMachine[]): Pauses {
    const clusters = this.#caches.talosClusters.store;
    const paused = <T extends { readonly metadata: TalosWorker["metadata"] }>(of: readonly T[]): ReadonlyMap<string, ReconcileMode> =>
      new Map(
        of.flatMap(({ metadata }): readonly (readonly [string, ReconcileMode])[] => {
          const mode = effectiveMode(metadata, clusters);
          return mode === "reconcile" || (mode === "import" && isTakenOver(controlPlane)) ? [] : [[metadata.name, mode]];
        }),
      );
    // A dry run of the whole cluster tells what would be without the word on it.
    return effectiveMode(controlPlane.metadata, clusters) === "reconcile"
      ? { pools: paused(pools), machines: paused(objects) }
      : { pools: new Map(), machines: new Map() };
  }

  /** Pools of other clusters that list one of our addresses and were there first: theirs is the machine. */
  otherPools(own: TalosControlPlane, workersOfIt: readonly TalosWorker[]): readonly (TalosControlPlane | TalosWorker)[] {
    const addresses = new Set([own, ...workersOfIt].flatMap((pool) => canonicalAddressesOf(pool)));
    return [...new Set([...addresses].flatMap((address) => this.#poolsElsewhere(own, address)))];
  }

  /**
   * Machines of other clusters that are at one of our addresses and were there first, though no list of theirs names the address: they are found by reference, or
   * a person made them. Those of {@link otherPools} are left out.
   */
  otherMachines(own: TalosControlPlane, workersOfIt: readonly TalosWorker[]): readonly MachineAddress[] {
    const addresses = new Set([own, ...workersOfIt].flatMap((pool) => canonicalAddressesOf(pool)));
    return [...addresses].flatMap((address) => {
      const machine = this.#poolsElsewhere(own, address).length > 0 ? undefined : this.#machineThere(own, address);
      if (machine === undefined) return [];
      const { namespace } = own.metadata;
      return [{ object: nameFor(namespace, machine), field: isIn(namespace, machine) ? "spec.endpoint" : "", address }];
    });
  }

  /**
   * What of another, older cluster is where the endpoint of this one leads, in words: one of its machines, or its own Kubernetes API. Whoever joins there
   * joins another cluster, or none.
   */
  endpointElsewhere(own: TalosControlPlane): string | undefined {
    const host = endpointHost(own.spec?.endpoint ?? "");
    if (host === undefined || host === "") return undefined;
    const [pool] = this.#poolsElsewhere(own, canonicalAddress(host));
    const machine = pool === undefined ? this.machineElsewhere(own, host) : nameFor(own.metadata.namespace, pool);
    if (machine !== undefined) return `the address of a machine of another cluster, ${machine}`;
    const same = endpointPlaces(own)
      .flatMap((place) => this.#caches.controlPlanes.store.byIndex("endpoint", place))
      .find((other) => isOtherAndOlder(other, own));
    return same === undefined ? undefined : `the endpoint of another cluster, ${nameFor(own.metadata.namespace, same)}`;
  }

  #poolsElsewhere(own: TalosControlPlane, address: string): readonly (TalosControlPlane | TalosWorker)[] {
    const { controlPlanes, workers } = this.#caches;
    return [
      ...controlPlanes.store.byIndex("address", address).filter((cluster) => isOtherAndOlder(cluster, own)),
      ...workers.store
        .byIndex("address", address)
        .filter((worker) => this.controlPlaneOf(worker).some((cluster) => isOtherAndOlder(controlPlanes.store.get(cluster), own))),
    ];
  }

  /** The TalosMachine of an older cluster at this address, as messages of this one may name it. */
  machineElsewhere(own: TalosControlPlane, address: string): string | undefined {
    const there = this.#machineThere(own, address);
    return there === undefined ? undefined : nameFor(own.metadata.namespace, there);
  }

  #machineThere(own: TalosControlPlane, address: string): TalosMachine | undefined {
    const { controlPlanes, machines } = this.#caches;
    return machines.store
      .byIndex("endpoint", canonicalAddress(address))
      .find((machine) => this.clusterOf(machine).some((cluster) => isOtherAndOlder(controlPlanes.store.get(cluster), own)));
  }

  /** The TalosMachine of this name that is not this cluster's. */
  nameHolder(own: ObjectKey, name: string): TalosMachine | undefined {
    const holder = this.#caches.machines.store.get({ namespace: own.namespace, name });
    return holder === undefined || this.clusterOf(holder).some((cluster) => cluster.name === own.name) ? undefined : holder;
  }

  /** TalosMachines of the control plane and of its pools. */
  machineObjectsOf(key: ObjectKey, pools: readonly TalosWorker[]): readonly TalosMachine[] {
    const { store } = this.#caches.machines;
    return [
      ...store.byIndex("controlPlane", keyText(key)),
      ...pools.flatMap((worker) => store.byIndex("worker", `${key.namespace ?? ""}/${worker.metadata.name}`)),
    ];
  }

  /** The control plane that a pool names; none when it names none. */
  controlPlaneOf(worker: TalosWorker): readonly ObjectKey[] {
    const name = worker.spec?.controlPlaneRef?.name ?? "";
    return name === "" ? [] : [{ namespace: worker.metadata.namespace, name }];
  }

  /** The control plane that a TalosMachine belongs to by its references. */
  clusterOf(machine: TalosMachine): readonly ObjectKey[] {
    const { controlPlaneRef, workerRef } = machine.spec ?? {};
    const { namespace } = machine.metadata;
    if (controlPlaneRef?.name !== undefined) return [{ namespace, name: controlPlaneRef.name }];
    const worker = workerRef?.name === undefined ? undefined : this.#caches.workers.store.get({ namespace, name: workerRef.name });
    return worker === undefined ? [] : this.controlPlaneOf(worker);
  }
}

function isOtherAndOlder(cluster: TalosControlPlane | undefined, own: TalosControlPlane): boolean {
  return cluster !== undefined && cluster.metadata.uid !== own.metadata.uid && isOlder(cluster, own);
}
