import { createTalosClient } from "@talos-operator/talos/client";
import type { TalosClient } from "@talos-operator/talos/client";
import type { TalosCredentials, TalosDialer } from "@talos-operator/ports";
import { Steady } from "./steady.ts";
import type { ReportedImage } from "./reported-image.ts";
import type { Hardware, InMaintenance, SeenEtcd, SeenVersion } from "../model/look.ts";

/** The certificate with which a cluster's machines are looked at (`os:reader`). */
export type ReaderCredentials = Extract<TalosCredentials, { readonly kind: "mutual" }>;

/** Far longer than a machine is looked at in a row; another machine has another key. */
const HARDWARE_FRESH_MS = 600_000;

/** Where a machine says nothing else that is new, the name of its Node is none. Milliseconds. */
const NODE_NAME_FRESH_MS = 3_600_000;

/**
 * The open channels to one machine: at most one in maintenance mode and one with mutual TLS.
 *
 * A channel is kept while it answers. After a failure it is closed, because a channel that reconnects by itself waits longer each time,
 * and because a machine that changes its mode must be met by a fresh handshake.
 */
export class MachineConnections {
  readonly address: string;
  /** What a machine in maintenance mode is, apart from that it waits. */
  readonly waiting = new Steady<Pick<InMaintenance, "version" | "platform" | "uuid" | "macs" | "disks" | "addresses">>();
  /** What a machine with a configuration runs. */
  readonly version = new Steady<SeenVersion>();
  /** UUID and hardware addresses of whoever presents this key. They do not change while it runs. */
  readonly hardware = new Steady<Hardware | undefined>(HARDWARE_FRESH_MS);
  /** Name of its Kubernetes Node. It changes with the machine's hostname alone. */
  readonly nodeName = new Steady<string | undefined>(NODE_NAME_FRESH_MS);
  #nodeNames: { readonly now: string; readonly before: string | undefined } | undefined;
  /** What its Talos was built from. A boot may change it, nothing else does. */
  readonly image = new Steady<ReportedImage | undefined>(Number.POSITIVE_INFINITY);
  /** Discovery is on: it was asked for. */
  readonly discovers = new Steady<boolean | undefined>();
  /** etcd as it should be, told through a control plane; what the machine tells itself takes its place. */
  readonly etcd = new Steady<SeenEtcd>();
  readonly #dialer: TalosDialer;
  #maintenance: TalosClient | undefined;
  #mutual: { readonly client: TalosClient; readonly credentials: ReaderCredentials } | undefined;

  constructor(dialer: TalosDialer, address: string) {
    this.#dialer = dialer;
    this.address = address;
  }

  /** Notes the name that its Node has. @returns the one that it had before; `undefined` = it had none, as far as this process knows */
  nodeNameBefore(now: string): string | undefined {
    if (this.#nodeNames?.now !== now) this.#nodeNames = { now, before: this.#nodeNames?.now };
    return this.#nodeNames.before;
  }

  /** Client without any proof of identity on either side: for looking at a machine in maintenance mode, never for sending to it. */
  maintenance(): TalosClient {
    this.#maintenance ??= createTalosClient(this.#dialer.dial({ address: this.address }, { kind: "maintenance" }));
    return this.#maintenance;
  }

  /** Client that talks only to a machine of this cluster. */
  mutual(credentials: ReaderCredentials): TalosClient {
    if (this.#mutual?.credentials !== credentials) {
      this.closeMutual();
      this.#mutual = { client: createTalosClient(this.#dialer.dial({ address: this.address }, credentials)), credentials };
    }
    return this.#mutual.client;
  }

  closeMaintenance(): void {
    this.waiting.forget();
    this.#maintenance?.close();
    this.#maintenance = undefined;
  }

  /** What was told under the machine's key is kept: a machine that boots, and another one, presents another key. */
  closeMutual(): void {
    this.#mutual?.client.close();
    this.#mutual = undefined;
  }

  /** Closes the channels; the next look dials. What does not change is kept. */
  close(): void {
    this.closeMaintenance();
    this.closeMutual();
  }
}
