import { boolean, integer, list, object, oneOf, rawObject, required, string, textLike } from "../schema/field.ts";
import type { Field, Infer } from "../schema/field.ts";

/** Strategic merge patches, in the order they are applied. */
export const configPatchesField = list(rawObject({ description: "A strategic merge patch or a whole config document." }), {
  description: "Strategic merge patches on the generated machine config, applied in order; those of a machine come after the shared ones.",
});

/** Further documents of the machine config. */
export const additionalConfigField = list(rawObject({ description: "A config document with apiVersion and kind." }), {
  description: "Documents added to the machine config as they are; those of a machine come after the shared ones.",
});

const meta = object(
  {
    hostname: string({ description: "Host name of the machine. Without effect where the object lists several: each needs its own." }),
    interface: string({ description: "Network interface that gets the machine's address." }),
    subnet: integer({ description: "Prefix length of the address, for example 24." }),
    gateway: string({ description: "Default gateway." }),
    dnsServers: list(string({ description: "Address of a resolver." }), { description: "Resolvers, in order." }),
  },
  { description: "Static network settings that Talos reads from its META partition (key 0x0a)." },
);

/** Static network settings for the META partition. */
export interface MachineMeta extends Infer<typeof meta> {}

/** A path below /dev, as Talos takes it. Steps begin with a letter or digit, so that none leads upwards. */
const INSTALL_DISK_PATTERN = "^/dev/[A-Za-z0-9][A-Za-z0-9._:+@=,#\\\\-]*(/[A-Za-z0-9][A-Za-z0-9._:+@=,#\\\\-]*)*$";

/** The disk that Talos is installed on. */
export const installDiskField = (description: string) =>
  textLike(INSTALL_DISK_PATTERN, "must be a path below /dev, for example /dev/sda", { description, maxLength: 512 });

const diskSelector = object(
  {
    size: textLike(
      "^ *(>=|<=|==|>|<)? *[0-9]+([.][0-9]+)? *([kKmMgGtTpPeE]?[bB]?|[kKmMgGtTpPeE][iI][bB]?) *$",
      "must be a size, for example >= 100GB",
      { description: "Size, with >=, <=, >, < or == before it; without one it must be equal. For example >= 100GB.", maxLength: 64 },
    ),
    type: oneOf(["ssd", "hdd", "nvme", "sd"], {
      description: "Type: nvme and sd by how the disk is connected, hdd for those that turn, ssd for all others.",
    }),
    model: string({ description: "Model; * stands for anything, as in the fields after it.", maxLength: 256 }),
    serial: string({ description: "Serial number.", maxLength: 256 }),
    wwid: string({ description: "World Wide Identifier.", maxLength: 256 }),
    uuid: string({ description: "UUID of the disk.", maxLength: 256 }),
    modalias: string({ description: "Modalias of the disk.", maxLength: 256 }),
    busPath: string({ description: "Path on the bus, for example /pci0000:00/0000:00:17.0/ata1/*.", maxLength: 256 }),
  },
  {
    description:
      "Finds the disk Talos is installed on by what it is; every part that is set has to fit, as in Talos. Has priority over installDisk. The disk is chosen before anything is sent: an empty one of those that fit, or with wipe any. A later change acts when the machine is installed anew.",
  },
);

/** What a disk has to be. */
export interface DiskSelector extends Infer<typeof diskSelector> {}

const machineSpec = object(
  {
    installDisk: installDiskField(
      "Disk Talos is installed on, for example /dev/sda, /dev/mmcblk0 or a link such as /dev/disk/by-id/nvme-x. Default: chosen by the operator, and refused when the choice is not clear. A later change acts when the machine is installed anew.",
    ),
    diskSelector,
    wipe: boolean({
      description:
        "True wipes the install disk before installation. A later change acts when the machine is installed anew. Default: false.",
      default: false,
    }),
    image: string({
      description:
        "Installer image; the Talos version is added as tag when it has none. A later change of its schematic upgrades the machines that run; of its tag or registry alone nothing is sent, and UpgradePending says so. Default: ghcr.io/siderolabs/installer.",
    }),
    meta: meta,
    airGap: boolean({ description: "True turns off NTP and the public cluster discovery service. Default: false.", default: false }),
    imageCache: boolean({ description: "True turns on the local image cache and gives it a volume. Default: false.", default: false }),
    allowSchedulingOnControlPlanes: boolean({ description: "True lets pods run on control-plane nodes. Default: false.", default: false }),
    registries: rawObject({ description: "Registry mirrors and their authentication and TLS settings, as in machine.registries." }),
    additionalConfig: additionalConfigField,
    configPatches: configPatchesField,
  },
  { description: "Settings shared by all machines of the object." },
);

/** Settings shared by all machines of a control plane or worker pool. */
export interface MachineSpec extends Infer<typeof machineSpec> {}
export const machineSpecField: Field<MachineSpec, false> = machineSpec;

const pxeClientSpec = object(
  {
    macAddress: required(string({ description: "MAC address of the interface that boots." })),
    cpuArchitecture: required(oneOf(["amd64", "arm64"], { description: "Architecture of the boot image." })),
    kernelCmdlineArgs: string({ description: "Further kernel arguments, for the network boot only." }),
  },
  { description: "How the machine boots over the network. Not supported yet: it has no effect." },
);

/** How a machine boots over the network. */
export interface PxeClientSpec extends Infer<typeof pxeClientSpec> {}
export const pxeClientSpecField: Field<PxeClientSpec, false> = pxeClientSpec;
