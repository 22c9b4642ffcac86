import { boolean, list, object, oneOf, string } from "../schema/field.ts";
import type { Infer } from "../schema/field.ts";

const properties = {
  name: oneOf(["flannel", "custom", "none"], { description: "Which plugin Talos installs. Default: flannel." }),
  urls: list(string({ description: "URL of a manifest." }), { description: "Manifests to install, for custom." }),
  flannel: object(
    {
      extraArgs: list(string({ description: "One argument." }), { description: "Further arguments for flanneld." }),
      kubeNetworkPoliciesEnabled: boolean({ description: "True installs kube-network-policies beside flannel. Default: false." }),
    },
    { description: "Settings of flannel." },
  ),
};

/** Of a cluster as it is asked for. */
export const cniField = object(properties, { description: "The network plugin, chosen when the cluster is made." });

/** Of a cluster as it was made. */
export const recordedCniField = object(properties, {
  description: "Network plugin in every machine config, chosen once; empty when none was named. Absent in older records.",
});

/** The network plugin of a cluster. */
export interface Cni extends Infer<typeof cniField> {}
