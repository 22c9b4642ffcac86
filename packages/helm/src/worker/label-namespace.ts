import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import type { Job } from "./job.ts";

const namespaces: ResourceType = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

interface Namespace {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

/** Makes the namespace with these labels, or gives it them: what an installation needs is there before its first object. */
export async function labelNamespace(
  { client }: { readonly client: KubeClient } & Pick<Job, "client">,
  name: string,
  labels: Readonly<Record<string, string>>,
): Promise<void> {
  await client
    .resource<Namespace>(namespaces)
    .apply({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } }, { fieldManager: "talos-operator/addons", force: true });
}
