import { quote } from "@talos-operator/api";
import type { Finding, TalosControlPlaneSpec, TalosWorkerSpec } from "@talos-operator/api";
import type { SpecOptions } from "./spec-options.ts";

/** Longest image reference that is taken, in characters. */
const MAX_IMAGE = 512;

/**
 * `registry/path`, `:tag`, `@sha256:…`, as registries take them: what is none would only be found out on the machine.
 *
 * @see distribution/reference `regexp.go`
 */
const IMAGE =
  /^[a-z0-9]+(?:[.-][a-z0-9]+)*(?::\d{1,5})?(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)+(?::(?<tag>\w[\w.-]{0,127}))?(?:@sha256:[0-9a-f]{64})?$/;

/** What is wrong with an installer image; `undefined` = nothing that can be told from here. */
export function imageProblem(
  image: string,
  registries: readonly string[] | undefined,
): readonly [message: string, remedy: string] | undefined {
  const example = "Write it as ghcr.io/siderolabs/installer:v1.13.9, or with a digest";
  if (image.length > MAX_IMAGE) return [`it is longer than ${MAX_IMAGE} characters`, example];
  const match = IMAGE.exec(image);
  if (match === null) return [`${quote(image)} is no image`, example];
  if (match.groups?.["tag"] === "latest" && !image.includes("@"))
    return [
      `${quote(image)} is another image tomorrow`,
      "Name a version or a digest: a machine that joins later must get what the others run",
    ];
  if (registries !== undefined && !registries.some((registry) => isIn(image, registry)))
    return [
      `${quote(image)} is from a registry that this operator takes no installer from`,
      `Use one of ${registries.slice(0, 8).join(", ")}, or have it added to --installer-registries`,
    ];
  return undefined;
}

/** The registry, or the beginning of the path, with whole parts of names. */
function isIn(image: string, registry: string): boolean {
  const whole = registry.replace(/\/+$/, "");
  return image === whole || ["/", ":", "@"].some((end) => image.startsWith(`${whole}${end}`));
}

/** Installer images of the pool and of single machines. */
export function imageProblems(spec: TalosControlPlaneSpec | TalosWorkerSpec, { installerRegistries }: SpecOptions): readonly Finding[] {
  const images = [
    { field: "spec.metalSpec.machineSpec.image", image: spec.metalSpec?.machineSpec?.image },
    ...(spec.metalSpec?.machines ?? []).map(({ image }, index) => ({ field: `spec.metalSpec.machines[${index}].image`, image })),
  ];
  return images.flatMap(({ field, image }): readonly Finding[] => {
    const problem = image === undefined || image === "" ? undefined : imageProblem(image, installerRegistries);
    return problem === undefined ? [] : [{ field, message: problem[0], remedy: problem[1], reason: "InvalidConfig" }];
  });
}
