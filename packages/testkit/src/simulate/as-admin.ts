import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Keys } from "@talos-operator/ports";
import type { Datacenter } from "@talos-operator/simulator";
import { parseSecretsBundle } from "@talos-operator/talos";
import { createTalosClient, type TalosClient } from "@talos-operator/talos/client";
import { secretType, type Secret } from "../world/kinds.ts";
import { NAMESPACE } from "./scenario.ts";

/** Whom a person with the cluster's keys may call, past every fault. */
export interface AdminInput {
  readonly client: KubeClient;
  readonly datacenter: Datacenter;
  readonly keys: Keys;
  readonly now: () => number;
}

/** Does something on one machine with the keys in a Secret, as `talosctl` in somebody's hand; nothing where there are none. */
export async function asAdmin(
  { client, datacenter, keys, now }: AdminInput,
  secret: string,
  address: string,
  act: (talos: TalosClient) => Promise<void>,
): Promise<void> {
  const stored = await client.resource<Secret>(secretType).tryGet({ namespace: NAMESPACE, name: secret });
  const bundle = stored?.data?.["bundle"];
  if (bundle === undefined) return;
  const { os } = parseSecretsBundle(Buffer.from(bundle, "base64").toString("utf8")).certs;
  const signed = await keys.signCertificate(os, {
    usage: "client",
    organizations: ["os:admin"],
    notBefore: now() - 1000,
    lifetimeMs: 600_000,
  });
  const talos = createTalosClient(datacenter.dialer().dial({ address }, { kind: "mutual", ca: os.certificate, ...signed }));
  try {
    await act(talos);
  } finally {
    talos.close();
  }
}
