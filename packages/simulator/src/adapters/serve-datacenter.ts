import { SimulatorError } from "../datacenter/errors.ts";
import type { Datacenter, SimulatedMachine } from "../datacenter/types.ts";
import { listenForMachine } from "./machine-server.ts";
import type { MachineServer } from "./machine-server.ts";

export interface ServeOptions {
  /** Port on every machine's address. Default 50000; 0 lets the system choose one per machine, kept while the datacenter is served. */
  readonly port?: number;
  /** A machine cannot listen where it should: told once per attempt that failed. Default: nobody is told, the machine stays unreachable. */
  readonly onError?: (error: SimulatorError) => void;
}

/** gRPC servers of a datacenter's machines. */
export interface ServedDatacenter {
  /** Where a machine listens; `undefined` while it does not. */
  portOf(address: string): number | undefined;
  /** Stops listening; the datacenter itself goes on. */
  close(): Promise<void>;
}

/**
 * Serves every machine on its own address with genuine TLS: self-signed in maintenance, mutual under the cluster's OS CA after. A machine whose
 * identity changes, that reboots or is off, drops its connections and refuses new ones until it is back.
 *
 * @throws SimulatorError `CANNOT_LISTEN` when a machine that is up at the start cannot listen
 */
export async function serveDatacenter(datacenter: Datacenter, options: ServeOptions = {}): Promise<ServedDatacenter> {
  const listeners = new Map<string, Listener>();
  const listenerOf = (machine: SimulatedMachine): Listener => {
    const known = listeners.get(machine.address);
    if (known !== undefined) return known;
    const created = new Listener(datacenter, machine, options.port ?? 50_000);
    listeners.set(machine.address, created);
    return created;
  };
  const stop = datacenter.onMachine((machine) => {
    listenerOf(machine)
      .follow()
      .catch((error: unknown) => options.onError?.(error as SimulatorError));
  });
  const close = async (): Promise<void> => {
    stop();
    await Promise.all([...listeners.values()].map((listener) => listener.close()));
  };
  try {
    await Promise.all(datacenter.machines().map((machine) => listenerOf(machine).follow()));
  } catch (error) {
    await close();
    throw error;
  }
  return { portOf: (address) => listeners.get(address)?.port, close };
}

/** Keeps one machine's server in step with its API state: one change at a time, the latest wins. */
class Listener {
  readonly #datacenter: Datacenter;
  readonly #machine: SimulatedMachine;
  #wantedPort: number;
  #server: MachineServer | undefined;
  #epoch: number | undefined;
  #work: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(datacenter: Datacenter, machine: SimulatedMachine, port: number) {
    this.#datacenter = datacenter;
    this.#machine = machine;
    this.#wantedPort = port;
  }

  get port(): number | undefined {
    return this.#server?.port;
  }

  follow(): Promise<void> {
    if (this.#wantedEpoch() === this.#epoch) return this.#work;
    const next = this.#work.catch(() => undefined).then(() => this.#settle());
    this.#work = next;
    return next;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#work.catch(() => undefined);
    await this.#settle();
  }

  /** Identity that should be served now; `undefined` when nothing should listen. */
  #wantedEpoch(): number | undefined {
    const { power, isConnected, api } = this.#machine.state;
    return this.#isClosed || power === "off" || !isConnected || api.kind === "down" ? undefined : api.epoch;
  }

  async #settle(): Promise<void> {
    while (this.#wantedEpoch() !== this.#epoch) {
      const server = this.#server;
      this.#server = undefined;
      this.#epoch = undefined;
      if (server !== undefined) {
        await server.close();
        continue;
      }
      const { state } = this.#machine;
      this.#epoch = state.api.epoch;
      try {
        this.#server = await listenForMachine(this.#datacenter, state, this.#wantedPort);
        this.#wantedPort = this.#server.port;
      } catch (cause) {
        const { address } = this.#machine;
        throw new SimulatorError(
          "CANNOT_LISTEN",
          `cannot listen on ${address}:${this.#wantedPort} (${(cause as Error).message}); free the port, or give the machine an address of this host`,
          { machine: address, cause },
        );
      }
    }
  }
}
