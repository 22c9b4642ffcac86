// Which Talos each control plane runs, and in which stage it is.
import { resourceKinds } from "@talos-operator/talos/client";
import { clientsOf, runWhenMain } from "./context.ts";
import type { Example } from "./context.ts";

export const machines: Example = async (talosconfig, dialer) => {
  const lines: string[] = [];
  for await (const [address, client] of clientsOf(talosconfig, dialer)) {
    const { tag } = await client.version({ timeoutMs: 5_000 });
    const status = await client.resources.get(resourceKinds.machineStatus);
    lines.push(`${address} ${tag} ${status?.spec.stage ?? "no stage"}`);
  }
  return lines;
};

await runWhenMain(import.meta.url, machines);
