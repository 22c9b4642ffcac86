import type { TalosChannel } from "@talos-operator/ports";
import type { KubeObject } from "@talos-operator/kube-runtime";
import { parseTalosconfig } from "@talos-operator/talos";
import { createTalosClient } from "@talos-operator/talos/client";
import type { TalosClient } from "@talos-operator/talos/client";
import { kinds } from "./story.ts";
import type { Story } from "./story.ts";

/** What a person does with talosctl and the cluster's talosconfig, past the operator. */
export async function asPerson<T>(
  world: Story,
  address: string,
  use: (client: TalosClient, channel: TalosChannel) => Promise<T>,
): Promise<T> {
  const secret = await world.client.resource<KubeObject & { readonly data?: Readonly<Record<string, string>> }>(kinds.secret).get({
    namespace: "default",
    name: "demo-talosconfig",
  });
  const [text = ""] = Object.values(secret.data ?? {}).map((value) => Buffer.from(value, "base64").toString());
  const context = parseTalosconfig(text).contexts.get("demo");
  const pem = (encoded = ""): string => Buffer.from(encoded, "base64").toString();
  const credentials = { kind: "mutual", ca: pem(context?.ca), certificate: pem(context?.crt), key: pem(context?.key) } as const;
  const channel = world.datacenter.dialer().dial({ address }, credentials);
  const client = createTalosClient(channel);
  try {
    return await use(client, channel);
  } finally {
    client.close();
  }
}
