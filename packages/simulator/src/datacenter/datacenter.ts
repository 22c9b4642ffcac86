import { demoTimings } from "../node/timings.ts";
import type { MachineSpec } from "../node/hardware.ts";
import { handleCall } from "../rpc/dispatch.ts";
import { createDialer } from "./channel.ts";
import { SimulatorError } from "./errors.ts";
import { buildMachine } from "./machines.ts";
import type { Datacenter, DatacenterOptions, DatacenterSnapshot } from "./types.ts";
import { World } from "./world.ts";

/**
 * A datacenter of simulated Talos machines that wait in maintenance mode (or go on where a snapshot left them).
 *
 * Nothing in it touches sockets, clocks or random numbers but through its options; on timings of 0 and without faults every answer
 * comes from the microtask queue.
 *
 * @throws SimulatorError `BAD_MACHINE`, `ADDRESS_IN_USE`, `BAD_SNAPSHOT`
 */
export function createDatacenter(options: DatacenterOptions): Datacenter {
  const world = new World(options, options.timings ?? demoTimings);
  if (options.snapshot !== undefined) restore(world, options.snapshot);
  const known = new Set(world.cells().map((cell) => cell.address));
  for (const spec of options.machines) if (!known.has(spec.address)) addMachine(world, spec);

  return {
    dialer: (callerClock) => createDialer(world, callerClock ?? world.clock),
    machine(address) {
      const cell = world.cell(address);
      if (cell === undefined) throw new SimulatorError("UNKNOWN_MACHINE", `no machine has the address ${address}`, { machine: address });
      return cell;
    },
    machines: () => world.cells(),
    addMachine: (spec) => addMachine(world, spec),
    inject: (fault) => world.faults.inject(fault),
    setReleaseFault(version, fault) {
      if (fault === undefined) world.releases.delete(version);
      else world.releases.set(version, fault);
    },
    setKernelArguments: (schematic, names) => void world.kernelArguments.set(schematic, names),
    setExtensions: (schematic, extensions) => void world.extensions.set(schematic, extensions),
    etcdClusters: () => world.etcd.all(),
    etcdDatabase: (key) => world.spaces.databaseOf(key),
    handle: (address, call) => handleCall(world, address, call),
    onMachine: (listener) => world.onMachine(listener),
    snapshot: (): DatacenterSnapshot => ({ version: 1, machines: world.cells().map((cell) => cell.state), etcdClusters: world.etcd.all() }),
    close: () => world.close(),
  };
}

function addMachine(world: World, spec: MachineSpec): ReturnType<World["add"]> {
  if (world.isClosed) throw new SimulatorError("CLOSED", "the datacenter is closed; create a new one", { machine: spec.address });
  if (world.cell(spec.address) !== undefined) {
    throw new SimulatorError("ADDRESS_IN_USE", `two machines with the address ${spec.address}; give each its own`, {
      machine: spec.address,
    });
  }
  const cell = world.add(buildMachine(spec, world.random));
  cell.dispatch({ kind: "power-on" });
  return cell;
}

function restore(world: World, snapshot: DatacenterSnapshot): void {
  if (snapshot.version !== 1) {
    throw new SimulatorError(
      "BAD_SNAPSHOT",
      `snapshot version ${String(snapshot.version)} is not known; it was written by another release`,
    );
  }
  for (const machine of snapshot.machines) {
    if (world.cell(machine.hardware.address) !== undefined) {
      throw new SimulatorError("BAD_SNAPSHOT", `two machines with the address ${machine.hardware.address}`, {
        machine: machine.hardware.address,
      });
    }
    world.add(machine);
  }
  const inUse = new Set(world.cells().map((cell) => cell.state.etcd.data?.cluster));
  // An etcd that no machine knows was written down, its founder was not: the founding has not happened.
  world.etcd.restore(snapshot.etcdClusters.filter((cluster) => inUse.has(cluster.key)));
  for (const cell of world.cells()) cell.resume();
  for (const cluster of world.etcd.all()) world.etcd.evaluate(cluster.key);
}
