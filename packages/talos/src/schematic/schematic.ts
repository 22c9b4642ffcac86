import type { YamlValue } from "../config/yaml/emit.ts";

/**
 * What an image of the Image Factory is built from. Fields have the names that they have in the YAML; empty ones are absent.
 *
 * An embedded machine config may hold keys: `JSON.stringify` and `console.log` show that there is one, not what it says.
 *
 * @see siderolabs/image-factory `pkg/schematic`
 */
export interface Schematic {
  /** Account that owns the schematic. Only the Enterprise edition of the factory takes it. */
  readonly owner?: string;
  /** Firmware and boot files of a single-board computer. */
  readonly overlay?: SchematicOverlay;
  readonly customization: SchematicCustomization;
}

/** An overlay: the image it comes from, its name in there, and whatever options it reads. */
export interface SchematicOverlay {
  readonly image: string;
  readonly name: string;
  readonly options?: ReadonlyMap<string, YamlValue>;
}

/** What differs from the plain image. The order of lists counts: another order is another image. */
export interface SchematicCustomization {
  /** YAML text of machine config documents. */
  readonly embeddedMachineConfiguration?: string;
  readonly extraKernelArgs?: readonly string[];
  /** First contents of META; `key` is 0 to 255. */
  readonly meta?: readonly { readonly key: number; readonly value: string }[];
  readonly systemExtensions?: { readonly officialExtensions: readonly string[] };
  /** Default: the factory chooses by Talos version and architecture. */
  readonly bootloader?: Bootloader;
  readonly secureboot?: {
    /** `off`, `manual`, `if-safe`, `force`; the factory looks at it when it builds, so other words have an id too. */
    readonly enrollKeys?: string;
    readonly includeWellKnownCertificates?: true;
  };
  /** Bytes per sector of disk images. Default: the factory's 512. */
  readonly diskImage?: { readonly sectorSize: bigint };
}

/** Boot loaders that a schematic may ask for. `none` is what asking for none means, and is not written. */
export const bootloaders = ["dual-boot", "sd-boot", "grub"] as const;

/** Boot loader of the images of a schematic. */
export type Bootloader = (typeof bootloaders)[number];
