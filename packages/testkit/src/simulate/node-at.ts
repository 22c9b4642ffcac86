import type { KubeObject } from "@talos-operator/kube-runtime";

/** A Node with where it is. */
export type Located = KubeObject & { readonly status?: { readonly addresses?: readonly { readonly address: string }[] } };

/** The Node of the machine at an address. One that was installed anew has another name, and the Node of before stays until somebody deletes it: the newest is meant. */
export function nodeAt<T extends Located>(nodes: readonly T[], address: string): T | undefined {
  const madeAt = ({ metadata }: T): number => Date.parse(metadata?.creationTimestamp ?? "");
  return nodes
    .filter(({ status }) => status?.addresses?.some((own) => own.address === address) === true)
    .toSorted((a, b) => madeAt(a) - madeAt(b))
    .at(-1);
}
