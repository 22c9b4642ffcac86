import { defaultInstallerImage, defaultSchematicId, noSchematic, schematicOfImage } from "@talos-operator/talos";
import type { DeclaredMachine } from "../../model/machine.ts";
import type { TalosBuild } from "../../record/upgrades.ts";

/** From what a machine is upgraded, or why from nothing: without a full stop. */
export type UpgradeImage =
  /** `schematic`: what it is built from, by its name; absent where that tells nothing. */
  { readonly kind: "image"; readonly reference: string; readonly schematic?: string } | { readonly kind: "none"; readonly why: string };

/**
 * The installer for a machine and a build: `image` without a tag gets the version. One with a tag of another version, or with a digest alone, is not taken for
 * it: what would be installed is not what was asked for, or nobody can tell.
 *
 * @param build what the hop brings: on the way through minors between, a machine keeps the schematic that it runs
 */
export function imageFor({ machineSpec: { image } }: Pick<DeclaredMachine, "machineSpec">, build: TalosBuild): UpgradeImage {
  const { version } = build;
  if (image === undefined || image === "") return installer(defaultInstallerImage(version));
  const [place = ""] = image.split("@");
  const [, tag] = /:([^:/]+)$/.exec(place) ?? [];
  if (tag === undefined && image.includes("@"))
    return { kind: "none", why: `its installer ${image} is named by a digest alone, and shows no version` };
  if (tag === undefined) return installer(`${withSchematic(image, build.schematic)}:${version}`);
  return tag === version
    ? installer(image)
    : { kind: "none", why: `its installer ${image} is not that of ${version}: set image to it, or to a name without a tag` };
}

function installer(reference: string): UpgradeImage {
  const schematic = schematicOfImage(reference);
  return { kind: "image", reference, ...(schematic === undefined ? {} : { schematic }) };
}

/** An installer of Talos or of an Image Factory whose name says that it is not made for Secure Boot; what others build they name as they like. */
export function isUnsigned(reference: string): boolean {
  return /(?:^ghcr\.io\/siderolabs\/installer:|(?:\/|-)installer\/[0-9a-f]{64}[:@])/.test(reference);
}

/** An installer of an Image Factory whose name says that it is made for Secure Boot. */
export function isForSecureBoot(reference: string): boolean {
  return /(?:\/|-)installer-secureboot\//.test(reference);
}

/** Schematic of the image that a machine asks for, by its name; `undefined` = the name tells none. */
export function schematicAsked({ machineSpec: { image }, version }: Pick<DeclaredMachine, "machineSpec" | "version">): string | undefined {
  return schematicOfImage(image === undefined || image === "" ? defaultInstallerImage(version) : image);
}

/** The image with this schematic in the place of its own: the same factory builds from every one, and what Talos publishes itself from the one that holds nothing. */
export function withSchematic(image: string, schematic: string | undefined): string {
  const id = schematic === noSchematic ? defaultSchematicId : schematic;
  return id === undefined || !/^[0-9a-f]{64}$/.test(id) ? image : image.replace(/\/[0-9a-f]{64}(?=$|[:@])/, `/${id}`);
}
