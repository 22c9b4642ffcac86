import { defineKind } from "./define-kind.ts";

/** Which protections are in force. */
export interface SecurityStateSpec {
  readonly isSecureBoot: boolean;
  /** `enforcing`, `permissive`, `disabled`, ...; empty where the machine does not say. */
  readonly selinux: string;
  readonly isBootedWithUki: boolean;
}

/** What the platform says of the machine. */
export interface PlatformMetadataSpec {
  /** `metal`, `container`, `aws`, ... */
  readonly platform: string;
  readonly hostname: string;
  readonly region: string;
  readonly zone: string;
  readonly instanceType: string;
  readonly instanceId: string;
  readonly providerId: string;
}

/** The machine and its system. */
export const runtimeKinds = {
  /** Where the machine runs, as the platform says. */
  platformMetadata: defineKind<PlatformMetadataSpec>("PlatformMetadatas.talos.dev", "runtime", "platformmetadata", (spec) => ({
    platform: spec.text("platform"),
    hostname: spec.text("hostname"),
    region: spec.text("region"),
    zone: spec.text("zone"),
    instanceType: spec.text("instanceType"),
    instanceId: spec.text("instanceId"),
    providerId: spec.text("providerId"),
  })),
  /** Secure boot and its like. */
  securityState: defineKind<SecurityStateSpec>("SecurityStates.talos.dev", "runtime", "securitystate", (spec) => ({
    isSecureBoot: spec.flag("secureBoot"),
    selinux: spec.text("selinuxState"),
    isBootedWithUki: spec.flag("bootedWithUKI"),
  })),
  /** Keys of META; the id is the key in hex, `0x0a`. */
  metaKey: defineKind<{ readonly value: string }>("MetaKeys.runtime.talos.dev", "runtime", undefined, (spec) => ({
    value: spec.text("value"),
  })),
  /** What the kernel was started with (Talos 1.11). May hold secrets, as the token of SideroLink. */
  kernelCmdline: defineKind<{ readonly cmdline: string }>("KernelCmdlines.runtime.talos.dev", "runtime", "cmdline", (spec) => ({
    cmdline: spec.text("cmdline"),
  })),
  /** Changes with each boot (Talos 1.14); needs no `os:admin`, unlike the file. */
  bootId: defineKind<{ readonly bootId: string }>("BootIDs.runtime.talos.dev", "runtime", "boot-id", (spec) => ({
    bootId: spec.text("bootID"),
  })),
  /** How the installation that a config asks for goes (Talos 1.14). */
  unattendedInstallStatus: defineKind<{ readonly image: string; readonly phase: string; readonly error: string }>(
    "UnattendedInstallStatuses.runtime.talos.dev",
    "runtime",
    "unattended-install",
    (spec) => ({ image: spec.text("image"), phase: spec.text("phase"), error: spec.text("error") }),
  ),
  /** Troubles that the machine has found in itself (Talos 1.8); the id names the trouble. */
  diagnostic: defineKind<{ readonly message: string; readonly details: readonly string[] }>(
    "Diagnostics.runtime.talos.dev",
    "runtime",
    undefined,
    (spec) => ({ message: spec.text("message"), details: spec.texts("details") }),
  ),
  /** What the running image was built from (Talos 1.14); before, the extension named `schematic` tells the id. */
  imageFactorySchematic: defineKind<{ readonly schematicId: string; readonly flavor: string }>(
    "ImageFactorySchematics.runtime.talos.dev",
    "runtime",
    "image-factory-schematic",
    (spec) => ({ schematicId: spec.text("schematicId"), flavor: spec.text("flavor") }),
  ),
} as const;
