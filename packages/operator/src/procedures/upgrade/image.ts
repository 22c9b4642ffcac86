import { defaultInstallerImage } from "@talos-operator/talos";
import type { DeclaredMachine } from "../../model/machine.ts";

/** From what a machine is upgraded, or why from nothing: without a full stop. */
export type UpgradeImage = { readonly kind: "image"; readonly reference: string } | { readonly kind: "none"; readonly why: string };

/**
 * The installer for a machine and a version: `image` without a tag gets the version. One with a tag of another version, or with a digest alone, is not taken for
 * it: what would be installed is not what was asked for, or nobody can tell.
 */
export function imageFor({ machineSpec: { image } }: DeclaredMachine, version: string): UpgradeImage {
  if (image === undefined || image === "") return { kind: "image", reference: defaultInstallerImage(version) };
  const [place = ""] = image.split("@");
  const [, tag] = /:([^:/]+)$/.exec(place) ?? [];
  if (tag === undefined && image.includes("@"))
    return { kind: "none", why: `its installer ${image} is named by a digest alone, and tells no version` };
  if (tag === undefined) return { kind: "image", reference: `${image}:${version}` };
  return tag === version
    ? { kind: "image", reference: image }
    : { kind: "none", why: `its installer ${image} is not that of ${version}: set image to it, or to a name without a tag` };
}
