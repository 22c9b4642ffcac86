import { boolean, integer, list, object, oneOf, rawObject, required, string } from "../schema/field.ts";
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

const machineSpec = object(
  {
    installDisk: string({
      description:
        "Disk Talos is installed on. Default: chosen by the operator, and refused when the choice is not clear. A later change acts when the machine is installed anew.",
      pattern: "^/dev/(sd[a-z][0-9]*|vd[a-z][0-9]*|nvme[0-9]+n[0-9]+(p[0-9]+)?)$",
    }),
    wipe: boolean({
      description:
        "True wipes the install disk before installation. A later change acts when the machine is installed anew. Default: false.",
      default: false,
    }),
    image: string({
      description:
        "Installer image; the Talos version is added as tag when it has none. A later change is reported as UpgradePending and does not touch running machines. Default: ghcr.io/siderolabs/installer.",
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
  { description: "How the machine boots over the network." },
);

/** How a machine boots over the network. */
export interface PxeClientSpec extends Infer<typeof pxeClientSpec> {}
export const pxeClientSpecField: Field<PxeClientSpec, false> = pxeClientSpec;
