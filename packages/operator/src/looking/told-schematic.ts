import { noSchematic } from "@talos-operator/talos";

/**
 * Id of the schematic that the running Talos was built from, by the extensions that it tells: `none` where the Image Factory did not build it, `undefined` where what
 * it tells is no id.
 */
export function toldSchematic(
  extensions: readonly { readonly spec: { readonly name: string; readonly version: string } }[],
): string | undefined {
  const told = extensions.find(({ spec: { name } }) => name === "schematic")?.spec.version;
  if (told === undefined) return noSchematic;
  return /^[0-9a-f]{64}$/.test(told) ? told : undefined;
}
