import { crds } from "@talos-operator/api";
import { createApiServer, createMemoryStore, type RequestRecord } from "@talos-operator/apiserver";
import { createSqliteStore, type Durability, serveHttps } from "@talos-operator/apiserver/https";
import { createKubeClient } from "@talos-operator/kube-runtime";
import type { KubeTransport, Keys, Logger } from "@talos-operator/ports";
import { systemClock, systemRandom, systemTimers, threadWorkedMs } from "@talos-operator/adapters";
import { openApiAuthority } from "./authority.ts";
import { applyObject } from "./apply-object.ts";
import type { DataFolder } from "./data-folder.ts";
import { printKubeconfig } from "./kubeconfig.ts";
import { hostPort, type ListenAddress } from "./listen.ts";

export interface EmbeddedApiOptions {
  readonly folder: DataFolder;
  /** False keeps objects in memory; the CA and the kubeconfig are written all the same. */
  readonly persist: boolean;
  readonly durability: Durability;
  readonly listen: ListenAddress;
  readonly keys: Keys;
  readonly log: Logger;
  /** Called once per request, when its status is known. */
  readonly onRequest?: (record: RequestRecord) => void;
}

export interface EmbeddedApi {
  /** As a member of `system:masters`, inside the process. */
  readonly transport: KubeTransport;
  readonly url: string;
  readonly kubeconfigPath: string;
  /** Ends watches, answers what is under way, closes the store. */
  close(): Promise<void>;
}

/** Starts the Kubernetes API of a local process: store, kinds of ours, HTTPS with client certificates, kubeconfig. */
export async function startEmbeddedApi(options: EmbeddedApiOptions): Promise<EmbeddedApi> {
  const { folder, listen, keys, log } = options;
  const store = options.persist ? createSqliteStore(folder.file("api.db"), { durability: options.durability }) : createMemoryStore();
  const server = await createApiServer({
    store,
    clock: systemClock,
    timers: systemTimers,
    random: systemRandom,
    workedMs: threadWorkedMs,
    log,
    ...(options.onRequest === undefined ? {} : { onRequest: options.onRequest }),
  });
  const pki = await openApiAuthority(keys, systemClock, folder, listen.address);
  const transport = server.transport({ name: "system:talos-operator", groups: ["system:masters"] });
  const client = createKubeClient(transport);
  for (const crd of crds) await applyObject(client, crd, "talos-operator-install");

  const https = await serveHttps(server, {
    address: listen.address,
    port: listen.port,
    certificate: pki.server,
    clientAuthorities: [pki.authority.certificate],
  });
  const url = `https://${hostPort({ address: listen.address, port: https.port })}`;
  folder.keep(
    printKubeconfig({
      name: "talos-operator",
      server: url,
      authority: pki.authority.certificate,
      certificate: pki.admin.certificate,
      key: pki.admin.key,
    }),
    "kubeconfig",
  );
  return {
    transport,
    url,
    kubeconfigPath: folder.file("kubeconfig"),
    async close() {
      await https.close();
      server.close();
    },
  };
}
