import type { TalosChannel, TalosTarget } from "@talos-operator/ports";

import { resourceCalls } from "../resources/resource-calls.ts";
import type { ResourceCalls } from "../resources/resource-calls.ts";
import { createCaller } from "./call.ts";
import { etcdMaintenanceCalls } from "./etcd-maintenance.ts";
import type { EtcdMaintenanceCalls } from "./etcd-maintenance.ts";
import { healthCalls } from "./health.ts";
import type { HealthCalls } from "./health.ts";
import { imageCalls } from "./images.ts";
import type { ImageCalls } from "./images.ts";
import { metaCalls } from "./meta.ts";
import type { MetaCalls } from "./meta.ts";
import { systemCalls } from "./system.ts";
import type { SystemCalls } from "./system.ts";
import { upgradeCalls } from "./upgrade.ts";
import type { UpgradeCalls } from "./upgrade.ts";
import { configurationCalls } from "./configuration.ts";
import type { ConfigurationCalls } from "./configuration.ts";
import { diskCalls } from "./disks.ts";
import type { DiskCalls } from "./disks.ts";
import { etcdCalls } from "./etcd.ts";
import type { EtcdCalls } from "./etcd.ts";
import { eventCalls } from "./events.ts";
import type { EventCalls } from "./events.ts";
import { fileCalls } from "./files.ts";
import type { FileCalls } from "./files.ts";
import { kubeconfigCalls } from "./kubeconfig.ts";
import type { KubeconfigCalls } from "./kubeconfig.ts";
import { lifecycleCalls } from "./lifecycle.ts";
import type { LifecycleCalls } from "./lifecycle.ts";
import { machineFactsCalls } from "./machine-facts.ts";
import type { MachineFactsCalls } from "./machine-facts.ts";
import { serviceCalls } from "./services.ts";
import type { ServiceCalls } from "./services.ts";

/**
 * The machine API of one endpoint, typed.
 *
 * Every call takes `{ timeoutMs, signal, node }` as its last argument, has a default deadline, and fails with a `TalosError`.
 * Nothing is repeated by itself.
 */
export interface TalosClient
  extends
    MachineFactsCalls,
    ConfigurationCalls,
    EtcdCalls,
    ServiceCalls,
    LifecycleCalls,
    FileCalls,
    EventCalls,
    DiskCalls,
    KubeconfigCalls,
    EtcdMaintenanceCalls,
    HealthCalls,
    ImageCalls,
    MetaCalls,
    SystemCalls,
    UpgradeCalls {
  readonly target: TalosTarget;
  readonly resources: ResourceCalls;
  /** base64(SHA-256(SubjectPublicKeyInfo)) of the machine on the current connection; `undefined` before the first answer. */
  peerSpki(): string | undefined;
  /** Closes the channel. Calls in flight fail. */
  close(): void;
}

/** A client on `channel`, which it owns from then on: closing the client closes the channel. */
export function createTalosClient(channel: TalosChannel): TalosClient {
  const caller = createCaller(channel);
  return {
    target: channel.target,
    ...machineFactsCalls(caller),
    ...configurationCalls(caller),
    ...etcdCalls(caller),
    ...serviceCalls(caller),
    ...lifecycleCalls(caller),
    ...fileCalls(caller),
    ...eventCalls(caller),
    ...diskCalls(caller),
    ...kubeconfigCalls(caller),
    ...etcdMaintenanceCalls(caller),
    ...healthCalls(caller),
    ...imageCalls(caller),
    ...metaCalls(caller),
    ...systemCalls(caller),
    ...upgradeCalls(caller),
    resources: resourceCalls(caller),
    peerSpki: () => channel.peerSpki(),
    close: () => channel.close(),
  };
}
