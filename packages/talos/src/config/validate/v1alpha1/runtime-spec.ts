import type { ConfigMap } from "../../document/value.ts";
import type { Report } from "../report.ts";

/** Sections of the OCI runtime specification, and what they must be. */
const sections: ReadonlyMap<string, readonly [type: "string" | "object" | "list", name: string]> = new Map([
  ["ociVersion", ["string", "string"]],
  ["process", ["object", "specs.Process"]],
  ["root", ["object", "specs.Root"]],
  ["hostname", ["string", "string"]],
  ["domainname", ["string", "string"]],
  ["mounts", ["list", "[]specs.Mount"]],
  ["hooks", ["object", "specs.Hooks"]],
  ["annotations", ["object", "map[string]string"]],
  ["linux", ["object", "specs.Linux"]],
  ["solaris", ["object", "specs.Solaris"]],
  ["windows", ["object", "specs.Windows"]],
  ["vm", ["object", "specs.VM"]],
  ["zos", ["object", "specs.ZOS"]],
]);

/** Overrides of the container runtime: each section must have the shape of the OCI runtime specification. What is inside is not looked at. */
export function checkRuntimeSpec(overrides: ConfigMap | undefined, report: Report): void {
  for (const [section, value] of overrides ?? []) {
    const wanted = sections.get(section);
    const given = Array.isArray(value) ? "array" : value instanceof Map ? "object" : typeof value === "bigint" ? "number" : typeof value;
    if (wanted === undefined || value === null) continue;
    const [type, name] = wanted;
    const isRight = type === "list" ? given === "array" : given === type;
    const shown = given === "boolean" ? "bool" : given;
    report.errorIf(
      !isRight,
      `failed to unmarshal base runtime spec overrides: json: cannot unmarshal ${shown} into Go struct field Spec.${section} of type ${name}`,
    );
  }
}
