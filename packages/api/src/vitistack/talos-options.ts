import { boolean, list, object, required, string, stringMap } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";

const text = (description: string) => string({ description });
const texts = (description: string, item: string) => list(text(item), { description });

const machine = object(
  {
    type: text("controlplane. The role of a machine follows from its group."),
    token: string({
      description:
        "Token that machines join the Talos API with, instead of a generated one. Cannot change. Better kept in a Secret: secretRef.",
      rules: [{ rule: "self == oldSelf", message: "token is immutable: machines hold it" }],
    }),
    ca: object(
      {
        crt: required(text("Certificate of the authority of the Talos API, base64 of its PEM.")),
        key: required(text("Private key of that authority, base64 of its PEM.")),
      },
      {
        description: "Authority of the Talos API, instead of a generated one. Cannot change. Better kept in a Secret: secretRef.",
        rules: [{ rule: "self.crt == oldSelf.crt && self.key == oldSelf.key", message: "ca is immutable: machines trust it" }],
      },
    ),
    secretRef: object(
      {
        name: required(
          string({
            description: "Name of a Secret of the same namespace with the keys token, ca.crt and ca.key (PEM).",
            minLength: 1,
            maxLength: 253,
            rules: [{ rule: "self == oldSelf", message: "secretRef.name is immutable: machines hold what it names" }],
          }),
        ),
      },
      { description: "Where token and authority are given, instead of token and ca. Read once, when the keys of the cluster are made." },
    ),
    certSANs: texts("Further names and addresses in the certificates of the Talos API and the Kubernetes API.", "A name or an address."),
    kubelet: object(
      {
        image: text("Image of the kubelet; a tag must be the Kubernetes version."),
        extraArgs: stringMap({ description: "Further arguments of the kubelet." }),
      },
      { description: "The kubelet of each machine." },
    ),
  },
  {
    description: "Settings of the machines. Of type, token and ca all are given, or none.",
    rules: [
      {
        rule: "has(self.token) == has(self.ca) && (has(self.type) == has(self.token) || has(self.secretRef))",
        message: "give type, token and ca together: machines trust each other by all of them",
      },
      { rule: "!has(self.secretRef) || !has(self.token)", message: "give secretRef, or token and ca, and not both" },
    ],
  },
);

const talosConfig = object(
  {
    machine,
    cluster: object(
      {
        name: text("Name of the Talos cluster; the same as clusterName, or data.clusterId."),
        controlPlane: object(
          { endpoint: text("URL of the Kubernetes API; the same as clusterEndpoint.") },
          { description: "How the control plane is reached." },
        ),
        network: object(
          {
            dnsDomain: text("DNS domain of the cluster. Default: cluster.local."),
            podSubnets: texts("Networks of pods; the same as podSubnets. Default: 10.244.0.0/16.", "A network."),
            serviceSubnets: texts("Networks of services; the same as serviceSubnets. Default: 10.96.0.0/12.", "A network."),
          },
          { description: "Networks of the cluster." },
        ),
      },
      { description: "The cluster." },
    ),
    install: object(
      {
        disk: text(
          "Disk that Talos is installed on. Default: the only disk of each machine; before Talos 1.8, which reports no disks, /dev/sda.",
        ),
        image: text("Installer image. Default: that of the Talos version."),
        bootloader: boolean({ description: "False installs no boot loader; Talos 1.14 always does. Default: true." }),
        wipe: boolean({ description: "True wipes the disk before the installation. Default: false." }),
        extraKernelArgs: texts(
          "Further kernel arguments. They take effect with an installation. Talos 1.14 takes them from the image alone.",
          "An argument.",
        ),
      },
      { description: "The installation." },
    ),
  },
  { description: "Talos settings of all machines. Default: generated secrets, the only disk of each machine, cluster.local." },
);

/** `spec.talosConfig` of a KubernetesCluster. */
export interface TalosOptionsSpec extends Infer<typeof talosConfig> {}
export const talosConfigField: Field<TalosOptionsSpec, false> = talosConfig;
