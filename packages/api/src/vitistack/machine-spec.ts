import { boolean, integer, list, object, oneOf, string, stringMap, required } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";

const text = (description: string) => string({ description });
const flag = (description: string) => boolean({ description });
const texts = (description: string, item: string) => list(text(item), { description });

const dataReference = (what: string) =>
  object(
    { key: text("Key whose value is taken."), name: required(text(`Name of the ${what}, in the namespace of the Machine.`)) },
    { description: `One key of a ${what}.` },
  );

const cloudInit = object(
  {
    networkData: text("Network settings as text."),
    networkDataBase64: text("Network settings, base64."),
    networkDataConfigMapRef: dataReference("ConfigMap"),
    networkDataSecretRef: dataReference("Secret"),
    type: oneOf(["noCloud", "configDrive"], { description: "How the data reaches the machine.", default: "noCloud" }),
    userData: text("User data as text."),
    userDataBase64: text("User data, base64."),
    userDataConfigMapRef: dataReference("ConfigMap"),
    userDataSecretRef: dataReference("Secret"),
  },
  { description: "Data that the provider hands to the machine at its first boot." },
);

const disk = object(
  {
    boot: flag("True on the disk that the machine boots from."),
    device: text("Device name, where the provider lets one choose."),
    encrypted: flag("True encrypts the disk."),
    iops: integer({ description: "Operations a second that are asked for.", minimum: 100, maximum: 64000 }),
    name: text("Name of the disk, unique in the machine."),
    sizeGB: integer({ description: "Size in GiB.", minimum: 1, maximum: 65536 }),
    throughput: integer({ description: "Throughput that is asked for, in MB a second.", minimum: 125, maximum: 4000 }),
    type: text("Kind of storage, in the provider's words."),
  },
  { description: "One disk." },
);

/** One disk of a Machine. */
export interface MachineDisk extends Infer<typeof disk> {}

const network = object(
  {
    assignPublicIP: flag("True asks for an address that is reachable from outside."),
    interfaces: list(
      object(
        {
          name: text("Name of the interface."),
          primary: flag("True on the interface that carries the default route."),
          securityGroups: texts("Security groups of the interface.", "A security group."),
          subnet: text("Subnet of the interface."),
        },
        { description: "One interface." },
      ),
      { description: "Network interfaces." },
    ),
    networkNamespaceName: text("NetworkNamespace that the machine's addresses come from, in the same namespace."),
    privateIP: text("Private address that is asked for."),
    publicIP: text("Public address that is asked for."),
    subnet: text("Subnet of the machine."),
    vpc: text("Virtual network of the machine."),
  },
  { description: "How the machine is connected." },
);

const os = object(
  {
    architecture: oneOf(["amd64", "arm64", "x86_64"], { description: "Processor architecture of the image." }),
    distribution: text("Distribution, for example talos."),
    family: text("Family of operating systems, for example linux."),
    imageFamily: text("Family that the provider takes the newest image of."),
    imageID: text("Image the machine boots from."),
    isoUri: text("Where the boot medium is."),
    version: text("Version of the operating system."),
  },
  { description: "What the machine boots." },
);

const secretInNamespace = object(
  { namespace: text("Namespace of the Secret."), secretName: text("Name of the Secret.") },
  { description: "A Secret with credentials." },
);

/** What the operator tells a machine provider about Talos. */
const talosConfig = object(
  {
    machineType: text("controlplane or worker."),
    clusterEndpoint: text("URL of the Kubernetes API that the machine will serve or join; absent while it is not known."),
    installDisk: text("Disk that Talos will be installed on, for example /dev/sda; absent where the cluster names none."),
    cluster: object(
      {
        network: object(
          {
            dnsDomain: text("DNS domain of the cluster."),
            podSubnets: texts("Networks of pods.", "A network."),
            serviceSubnets: texts("Networks of services.", "A network."),
          },
          { description: "Networks of the cluster." },
        ),
      },
      { description: "The cluster that the machine becomes a part of." },
    ),
  },
  { description: "What the machine becomes. Written by the operator for people and machine providers; nothing is read from it." },
);

/** Everything that may be said about a machine; the kind demands `provider`, a template does not. */
const fields = {
  backup: object(
    {
      enabled: flag("True asks the provider for backups."),
      retentionDays: integer({ description: "Days a backup is kept." }),
      schedule: text("When backups are made, as a cron expression."),
    },
    { description: "Backups of the machine by its provider." },
  ),
  cloudInit,
  cpu: object(
    {
      cores: integer({ description: "Cores.", minimum: 1, maximum: 256 }),
      sockets: integer({ description: "Sockets.", minimum: 1, maximum: 16 }),
      threadsPerCore: integer({ description: "Threads of a core.", minimum: 1, maximum: 8 }),
    },
    { description: "Processors; beside a machine class they win." },
  ),
  disks: list<MachineDisk>(disk, { description: "Disks, in order." }),
  machineClass: string({ description: "MachineClass that says how big the machine is.", minLength: 1 }),
  machineType: text("Type of machine, in the provider's words."),
  memory: integer({ description: "Memory in bytes; beside a machine class it wins.", minimum: 0 }),
  monitoring: flag("True asks the provider to watch the machine."),
  name: string({ description: "Name of the machine at its provider.", minLength: 1 }),
  network,
  os,
  provider: text("Machine provider that is to make the machine, for example kubevirt or proxmox."),
  providerConfig: object(
    {
      config: stringMap({ description: "Further settings, in the provider's words." }),
      credentialsRef: secretInNamespace,
      name: text("Name of the provider's configuration."),
      region: text("Region."),
      zone: text("Zone."),
    },
    { description: "Settings that only the provider understands." },
  ),
  securityGroups: texts("Security groups.", "A security group."),
  sshKeys: texts("SSH keys; Talos has no use for them.", "A public key."),
  tags: stringMap({ description: "Words by key that the provider keeps with the machine." }),
  talosConfig,
  userData: text("User data as text."),
};

const { talosConfig: _, ...templateFields } = fields;
const template = object(templateFields, {
  description:
    "What each machine of the group is made from, field for field as the spec of a Machine. Empty leaves everything to the provider.",
  nullable: true,
});

/** What a machine is made from: the spec of a Machine without what the operator adds. */
export interface MachineTemplateSpec extends Infer<typeof template> {}
export const machineTemplateSpecField: Field<MachineTemplateSpec, false> = template;

const spec = object({ ...fields, provider: required(fields.provider) }, { description: "The machine as it should be." });

/** One machine, as it should be. */
export interface VitistackMachineSpec extends Infer<typeof spec> {}
export const vitistackMachineSpecField: Field<VitistackMachineSpec, false> = spec;
