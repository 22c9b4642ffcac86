import { createHash } from "node:crypto";
import type { RandomSource } from "@talos-operator/ports";
import type { Hardware, MachineSpec } from "../node/hardware.ts";
import { addressBytes } from "../node/identity.ts";
import { newMachine, uuidFrom } from "../node/machine.ts";
import type { Machine } from "../node/machine.ts";
import { SimulatorError } from "./errors.ts";

/**
 * A machine from its description. Hardware depends only on name and address, so that the same machine is found again;
 * what must be unguessable (boot ids, node identity) comes from `random`.
 *
 * @throws SimulatorError `BAD_MACHINE` naming the field
 */
export function buildMachine(spec: MachineSpec, random: RandomSource): Machine {
  if (addressBytes(spec.address) === undefined) {
    throw new SimulatorError("BAD_MACHINE", `address "${spec.address}" is no IPv4 or IPv6 address; give each machine one of its own`, {
      machine: spec.address,
    });
  }
  const talosVersion = spec.talosVersion ?? "v1.13.9";
  if (!/^v1\.(12|13|14)\.\d+(-[0-9A-Za-z.-]+)?$/.test(talosVersion)) {
    throw new SimulatorError("BAD_MACHINE", `talosVersion "${talosVersion}" is not simulated; use v1.12.x, v1.13.x or v1.14.x`, {
      machine: spec.address,
    });
  }
  const name = spec.name ?? spec.address.replaceAll(/[^A-Za-z0-9]/g, "-");
  const platform = spec.platform ?? "metal";
  const digest = createHash("sha256").update(`${name}|${spec.address}`).digest("hex");
  const hardware: Hardware = {
    name,
    address: spec.address,
    prefixLength: spec.prefixLength ?? (spec.address.includes(":") ? 64 : 24),
    ...(spec.moreAddresses === undefined ? {} : { moreAddresses: spec.moreAddresses }),
    talosVersion,
    platform,
    uuid: (spec.uuid ?? uuidFrom(`hardware|${digest}`)).toLowerCase(),
    serial: spec.serial ?? `SIM${digest.slice(0, 10).toUpperCase()}`,
    mac: spec.mac ?? `02:${(digest.slice(10, 20).match(/../g) ?? []).join(":")}`,
    cpuCores: spec.cpuCores ?? 4,
    memoryMib: spec.memoryMib ?? 8192,
    ...(spec.isSecureBoot === true ? { isSecureBoot: true } : {}),
    ...(spec.hasGrub === true ? { hasGrub: true } : {}),
    disks:
      spec.disks ??
      (platform === "container"
        ? []
        : [
            {
              device: "/dev/sda",
              sizeBytes: 107_374_182_400,
              model: "Simulated Disk",
              serial: `DISK${digest.slice(20, 30).toUpperCase()}`,
            },
          ]),
  };
  return newMachine(hardware, Buffer.from(random.bytes(16)).toString("hex"));
}
