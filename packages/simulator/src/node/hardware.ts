/** What cannot change while a machine exists: its hardware, its address and what its boot media carry. */
export interface Hardware {
  /** Name of the machine in the datacenter, unique; also its DHCP-less default host name when the config gives none: `talos-<6 of uuid>`. */
  readonly name: string;
  /** IPv4 or IPv6 address of its only configured link; unique in the datacenter. */
  readonly address: string;
  /** Prefix length of the address. */
  readonly prefixLength: number;
  /** Further addresses of the link, as router advertisements give them. It is reached at the first alone. Absent = none. */
  readonly moreAddresses?: readonly string[];
  /** Talos that runs, or that starts at the next boot of a machine that is off: of boot media, and after an installation of the disk. `v1.13.9`. */
  readonly talosVersion: string;
  readonly platform: Platform;
  /** Canonical lower-case UUID as in SMBIOS. */
  readonly uuid: string;
  readonly serial: string;
  /** Lower-case, colons. */
  readonly mac: string;
  readonly cpuCores: number;
  readonly memoryMib: number;
  /** Its firmware starts only what is signed for it, and started this Talos; absent = it starts anything. */
  readonly isSecureBoot?: true;
  /** It starts by a BIOS, and GRUB starts Talos; absent = systemd-boot starts a UKI. */
  readonly hasGrub?: true;
  /** First disk is the one that Talos installs to when the config names it. Empty on platform `container`. */
  readonly disks: readonly Disk[];
}

/** Where the machine runs. `container` has no disks, no META, no reboot. */
export type Platform = "metal" | "container";

export interface Disk {
  /** `/dev/sda` */
  readonly device: string;
  readonly sizeBytes: number;
  readonly model: string;
  readonly serial: string;
  /** `nvme`, `sata`, `mmc`, ... Default `virtio`. */
  readonly transport?: string;
  /** Default false. */
  readonly isRotational?: boolean;
  /** Default `/virtual`. */
  readonly busPath?: string;
}

/** Links that udev makes for a disk: by its model and serial number, with what a name cannot hold turned into `_`. */
export function symlinksOf({ model, serial, transport = "virtio" }: Disk): readonly string[] {
  const name = `${model}_${serial}`.replaceAll(/[^A-Za-z0-9#+.:=@_-]/g, "_");
  return [`/dev/disk/by-id/${transport}-${name}`];
}

/** What a machine is made from; everything but name and address has a default that depends only on these two. */
export interface MachineSpec {
  /** Default: the address with everything but letters and digits turned into dashes. */
  readonly name?: string;
  readonly address: string;
  /** Default 24 (IPv4), 64 (IPv6). */
  readonly prefixLength?: number;
  /** Default none. */
  readonly moreAddresses?: readonly string[];
  /** Default `v1.13.9`. Behaviour follows the minor: up to 1.12, 1.13, from 1.14. */
  readonly talosVersion?: string;
  /** Default `metal`. */
  readonly platform?: Platform;
  readonly uuid?: string;
  readonly serial?: string;
  readonly mac?: string;
  /** Default 4. */
  readonly cpuCores?: number;
  /** Default 8192. */
  readonly memoryMib?: number;
  /** Secure Boot is on. Default off. */
  readonly isSecureBoot?: true;
  /** GRUB starts Talos. Default systemd-boot. */
  readonly hasGrub?: true;
  /** Default one disk `/dev/sda` of 100 GiB (none on platform `container`). */
  readonly disks?: readonly Disk[];
}
