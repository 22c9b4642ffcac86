import { createHash } from "node:crypto";
import { emitYaml, type YamlMapping, type YamlValue } from "../config/yaml/emit.ts";
import { PlainScalar } from "../config/yaml/plain-scalar.ts";
import { sortedByKey } from "../config/yaml/key-order.ts";
import type { Schematic, SchematicCustomization } from "./schematic.ts";

/** The canonical text of a schematic: the bytes whose hash is its id. */
export function printSchematic({ owner, overlay, customization }: Schematic): string {
  return emitYaml(
    {
      owner,
      overlay:
        overlay === undefined
          ? undefined
          : {
              image: overlay.image,
              name: overlay.name,
              options: overlay.options === undefined ? undefined : sortedDeep(overlay.options),
            },
      customization: customizationFields(customization),
    },
    { oldBooleanQuotes: "single" },
  );
}

/** The id under which the Image Factory knows a schematic: SHA-256 of its canonical text in lower-case hex. */
export function schematicId(schematic: Schematic): string {
  return createHash("sha256").update(printSchematic(schematic)).digest("hex");
}

function customizationFields(customization: SchematicCustomization): YamlMapping {
  const { secureboot, diskImage } = customization;
  return {
    embeddedMachineConfiguration: customization.embeddedMachineConfiguration,
    extraKernelArgs: customization.extraKernelArgs,
    meta: customization.meta?.map(({ key, value }) => ({ key, value })),
    systemExtensions:
      customization.systemExtensions === undefined ? undefined : { officialExtensions: customization.systemExtensions.officialExtensions },
    bootloader: customization.bootloader,
    secureboot:
      secureboot === undefined
        ? undefined
        : { enrollKeys: secureboot.enrollKeys, includeWellKnownCertificates: secureboot.includeWellKnownCertificates },
    diskImage: diskImage === undefined ? undefined : { sectorSize: diskImage.sectorSize },
  };
}

/** Options are free-form: their keys are sorted at every level, as the library prints maps. */
function sortedDeep(value: YamlValue): YamlValue {
  if (Array.isArray(value)) return (value as readonly YamlValue[]).map(sortedDeep);
  if (typeof value !== "object" || value === null || value instanceof PlainScalar) return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return sortedByKey(new Map(entries.map(([key, member]) => [key, sortedDeep(member as YamlValue)])));
}
