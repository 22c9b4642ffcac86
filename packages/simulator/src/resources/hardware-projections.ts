import { createHash } from "node:crypto";
import { symlinksOf, type Disk } from "../node/hardware.ts";
import { cmdlineOf } from "../node/kernel-arguments.ts";
import { isAtLeast } from "../node/version.ts";
import type { Projection } from "./projection.ts";

/** Disks, hardware, versions, extensions, META: what does not depend on the cluster. */
export const hardwareProjections: Readonly<Record<string, Projection>> = {
  "Disks.block.talos.dev": ({ cell }) =>
    cell.state.hardware.disks.map((disk) => ({ id: nameOf(disk), owner: "block.DisksController", spec: diskSpec(disk) })),
  "SystemDisks.block.talos.dev": ({ cell }) => {
    const [disk] = cell.state.hardware.disks;
    if (disk === undefined || !cell.state.isInstalled) return [];
    return [{ id: "system-disk", owner: "block.SystemDiskController", spec: { diskID: nameOf(disk), devPath: disk.device } }];
  },
  "SystemInformations.hardware.talos.dev": ({ cell }) => {
    const { platform, uuid, serial } = cell.state.hardware;
    if (platform === "container") return [];
    return [
      {
        id: "systeminformation",
        owner: "hardware.SystemInfoController",
        spec: {
          manufacturer: "Simulated",
          productName: "Simulated Machine",
          version: "1",
          serialnumber: serial,
          serialNumber: serial,
          uuid,
          wakeUpType: "Power Switch",
          skuNumber: "",
        },
      },
    ];
  },
  "Processors.hardware.talos.dev": ({ cell }) =>
    cell.state.hardware.platform === "container"
      ? []
      : [
          {
            id: "CPU-0",
            owner: "hardware.SystemInfoController",
            spec: {
              socket: "CPU 0",
              manufacturer: "Simulated",
              productName: "Simulated CPU",
              maxSpeedMhz: 2400,
              bootSpeedMhz: 2400,
              status: 65,
              coreCount: cell.state.hardware.cpuCores,
              coreEnabled: cell.state.hardware.cpuCores,
              threadCount: cell.state.hardware.cpuCores,
            },
          },
        ],
  "MemoryModules.hardware.talos.dev": ({ cell }) =>
    cell.state.hardware.platform === "container"
      ? []
      : [
          {
            id: "DIMM-0",
            owner: "hardware.SystemInfoController",
            spec: {
              size: cell.state.hardware.memoryMib,
              deviceLocator: "DIMM 0",
              bankLocator: "BANK 0",
              speed: 3200,
              manufacturer: "Simulated",
              productName: "Simulated Memory",
            },
          },
        ],
  "Versions.runtime.talos.dev": ({ cell }) => [
    { id: "version", owner: "runtime.VersionController", spec: { name: "Talos", version: cell.state.hardware.talosVersion } },
  ],
  "ExtensionStatuses.runtime.talos.dev": ({ cell: { state }, world }) =>
    state.schematic === undefined
      ? []
      : [
          ...(world.extensions.get(state.schematic) ?? []).map((name, index) => extension(index, name, state.hardware.talosVersion)),
          schematicExtension(world.extensions.get(state.schematic)?.length ?? 0, state.schematic),
        ],
  "ImageFactorySchematics.runtime.talos.dev": ({ cell }) =>
    cell.state.schematic === undefined || !isAtLeast(cell.state.hardware.talosVersion, "1.14")
      ? []
      : [
          {
            id: "image-factory-schematic",
            owner: "runtime.ImageFactorySchematicController",
            spec: { schematicId: cell.state.schematic, flavor: "Image Factory", apiUrl: "" },
          },
        ],
  "MetaKeys.runtime.talos.dev": ({ cell }) =>
    Object.entries(cell.state.meta)
      .filter(([key]) => /^\d+$/.test(key))
      .map(([key, value]) => ({ id: `0x${Number(key).toString(16).padStart(2, "0")}`, owner: "runtime.MetaController", spec: { value } })),
  "PlatformMetadatas.talos.dev": ({ cell }) => [
    {
      id: "platformmetadata",
      owner: "network.PlatformConfigController",
      spec: { platform: cell.state.hardware.platform, hostname: cell.state.hardware.platform === "container" ? cell.name : "" },
    },
  ],
  "KernelCmdlines.runtime.talos.dev": ({ cell, world }) =>
    cell.state.hardware.platform === "container"
      ? []
      : [{ id: "cmdline", owner: "runtime.KernelCmdlineController", spec: { cmdline: cmdlineOf(cell.state, world.kernelArguments) } }],
  "BootIDs.runtime.talos.dev": ({ cell }) =>
    isAtLeast(cell.state.hardware.talosVersion, "1.14")
      ? [{ id: "boot-id", owner: "runtime.BootIDController", spec: { bootID: cell.state.bootId } }]
      : [],
  "SecurityStates.talos.dev": ({ cell }) => [
    {
      id: "securitystate",
      owner: "runtime.SecurityStateController",
      spec: {
        secureBoot: cell.state.hardware.isSecureBoot === true,
        uki: false,
        pcrSigningKeyFingerprint: "",
        selinuxState: "enabled, permissive",
        bootedWithUKI: cell.state.hardware.platform !== "container" && cell.state.hardware.hasGrub !== true,
      },
    },
  ],
};

function extension(index: number, name: string, version: string): ReturnType<Projection>[number] {
  return {
    id: String(index),
    owner: "runtime.ExtensionStatusController",
    spec: {
      image: `${name}.sqsh`,
      metadata: { name, version, author: "Simulated", description: name, compatibility: { talos: { version: ">= 1.0.0" } }, extraInfo: "" },
    },
  };
}

/** As the Image Factory adds it to what it builds. */
function schematicExtension(index: number, id: string): ReturnType<Projection>[number] {
  return {
    id: String(index),
    owner: "runtime.ExtensionStatusController",
    spec: {
      image: "",
      metadata: {
        name: "schematic",
        version: id,
        author: "Image Factory",
        description: "Virtual extension which specifies the schematic of the image built with Image Factory.",
        compatibility: { talos: { version: ">= 1.0.0" } },
        extraInfo: "customization: {}\n",
      },
    },
  };
}

function nameOf(disk: Disk): string {
  return disk.device.replace("/dev/", "");
}

function diskSpec(disk: Disk): Record<string, unknown> {
  return {
    dev_path: disk.device,
    size: disk.sizeBytes,
    pretty_size: prettySize(disk.sizeBytes),
    human_size: prettySize(disk.sizeBytes),
    io_size: 512,
    sector_size: 512,
    readonly: false,
    cdrom: false,
    model: disk.model,
    serial: disk.serial,
    wwid: `sim.${createHash("sha256").update(disk.serial).digest("hex").slice(0, 16)}`,
    bus_path: disk.busPath ?? "/virtual",
    sub_system: "/sys/class/block",
    transport: disk.transport ?? "virtio",
    rotational: disk.isRotational ?? false,
    symlinks: symlinksOf(disk),
  };
}

/** As Talos prints sizes: decimal units, two significant digits below ten. */
function prettySize(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = bytes;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${units[unit] ?? ""}`;
}
