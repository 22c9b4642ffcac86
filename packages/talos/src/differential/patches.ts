import { array, constantFrom, gen, oneof, tuple, uniqueArray, type Arbitrary } from "fast-check";
import { legacyKind } from "../config/document-identity.ts";
import { schemaOf, type Generation } from "../config/schema/notation.ts";
import { below, configOf, documentOf } from "./documents.ts";

/** A config and patches for it. */
export interface PatchCase {
  readonly config: string;
  readonly patches: readonly string[];
}

/** One to three patches, of generated configs and of random ones. */
export function patchCase(generation: Generation, configs: readonly string[]): Arbitrary<PatchCase> {
  const config = oneof({ arbitrary: constantFrom(...configs), weight: 3 }, { arbitrary: withLegacy(generation), weight: 1 });
  return tuple(config, array(patchOf(generation), { minLength: 1, maxLength: 3 })).map(([text, patches]) => ({ config: text, patches }));
}

/** A random config that has the v1alpha1 document: without it Talos 1.13 deletes from what a deletion made. */
function withLegacy(generation: Generation): Arbitrary<string> {
  const tame = { oddValues: 0, damage: 0 };
  return tuple(documentOf(legacyKind, generation, tame), configOf(generation, tame)).map(([legacy, others]) =>
    [legacy, ...others.split("---\n").filter((text) => text.includes("apiVersion: v1alpha1\nkind: "))].join("---\n"),
  );
}

/** Fragments of configs, deletions, and lists of operations. */
export function patchOf(generation: Generation, isFlat = false): Arbitrary<string> {
  const kinds = schemaOf(generation).kinds;
  const kind = oneof({ arbitrary: constantFrom(legacyKind), weight: 3 }, { arbitrary: constantFrom(...kinds), weight: 2 });
  const of = (name: string): Arbitrary<string> => documentOf(name, generation, { oddValues: 2, damage: 3, deletes: 4, isFlat });
  const fragment = kind.chain(of);
  return oneof(
    { arbitrary: fragment, weight: 5 },
    {
      arbitrary: uniqueArray(kind, { minLength: 2, maxLength: 3 })
        .chain((names) => tuple(...names.map(of)))
        .map((list) => list.join("---\n")),
      weight: 1,
    },
    { arbitrary: deletion(), weight: 2 },
    { arbitrary: operations(), weight: 2 },
  );
}

const paths = [
  "machine.network.interfaces",
  "machine.install.disk",
  "machine.install",
  "machine.sysctls",
  "machine.kubelet.image",
  "machine.features.hostDNS",
  "machine.nodeLabels",
  "cluster.apiServer.certSANs",
  "cluster.apiServer.admissionControl",
  "cluster.network.podSubnets",
  "cluster.discovery",
  "cluster.proxy",
  "cluster",
  "machine.bogus",
  "machine.certSANs.0",
] as const;

/** Lists of structs, with the field that tells their items apart; some lie in items of other lists. */
const lists = [
  "machine.network.interfaces.interface=eth0",
  "machine.network.interfaces.[].vlans.vlanId=5",
  "machine.network.interfaces.[].routes.network=0.0.0.0/0",
  "machine.network.interfaces.mtu=1500",
  "machine.network.interfaces.deviceSelector.driver=virtio",
  "machine.network.extraHostEntries.ip=10.0.0.1",
  "machine.network.extraHostEntries.aliases=a",
  "machine.disks.device=/dev/sda",
  "machine.disks.[].partitions.mountpoint=/var/lib/a",
  "machine.files.path=/etc/b",
  "machine.pods.kind=text",
  "machine.kernel.modules.name=data",
  "machine.logging.destinations.endpoint=https://example.org/path",
  "machine.logging.destinations.format=json_lines",
  "machine.kubelet.extraMounts.destination=plain",
  "machine.seccompProfiles.name=custom",
  "machine.acceptedCAs.crt=YWJj",
  "cluster.inlineManifests.name=a",
  "cluster.apiServer.extraVolumes.hostPath=plain",
  "cluster.apiServer.auditPolicy.rules.level=Metadata",
  "cluster.apiServer.admissionControl.[].configuration.exemptions.namespaces.x=1",
  "cluster.apiServer.admissionControl.configuration=1",
  "cluster.apiServer.certSANs.x=1",
  "machine.registries.mirrors.docker\\.io.endpoints.x=1",
] as const;

/** `$patch: delete` of an item of a list. */
function nestedDeletion(draw: (limit: number) => number): string {
  const [path = "", value = ""] = (lists[draw(lists.length)] ?? "").split("=");
  const steps = path.split(/(?<!\\)\./).map((step) => step.replaceAll("\\", ""));
  const key = steps.pop() ?? "";
  const shown = draw(10) === 0 ? ['""', "~", "[]", "{}", '"1"'][draw(5)] : value;
  const item = draw(12) === 0 ? ["$patch: delete"] : [`${key}: ${shown}`, "$patch: delete"];
  if (draw(3) === 0) item.reverse();
  let text = "";
  let indent = 0;
  let isItem = false;
  const write = (line: string): void => {
    text += `${" ".repeat(indent)}${isItem ? "- " : ""}${line}\n`;
    indent += isItem ? 2 : 0;
    isItem = false;
  };
  for (const step of steps) {
    if (step === "[]") {
      isItem = true;
      if (draw(3) > 0) write("interface: eth0");
      continue;
    }
    write(`${step}:`);
    indent += 2;
  }
  isItem = draw(10) > 0;
  for (const line of item) write(line);
  return text;
}

/** `$patch: delete` at a path, and of whole documents. */
function deletion(): Arbitrary<string> {
  const documents = ["HostnameConfig", "KubeSpanConfig", "LinkConfig\nname: eth0", "VolumeConfig\nname: EPHEMERAL", "Bogus"];
  const selectors = ["interface: eth0", "name: PodSecurity", "deviceSelector:\n        physical: true", "bogus: 1"];
  return gen().map((g) => {
    const draw = (limit: number): number => g(below, limit);
    if (draw(4) === 0) return `apiVersion: v1alpha1\nkind: ${documents[draw(documents.length)] ?? ""}\n$patch: delete\n`;
    if (draw(4) === 0)
      return `machine:\n  network:\n    interfaces:\n      - ${selectors[draw(selectors.length)] ?? ""}\n        $patch: delete\n`;
    if (draw(4) === 0) return nestedDeletion(draw);
    if (draw(6) === 0)
      return `cluster:\n  apiServer:\n    admissionControl:\n      - name: ${["PodSecurity", "Other"][draw(2)] ?? ""}\n        $patch: delete\n`;
    const steps = (paths[draw(paths.length)] ?? "").split(".");
    const lines = steps.map((step, depth) => `${"  ".repeat(depth)}${step}:`);
    return `${lines.join("\n")}\n${"  ".repeat(steps.length)}$patch: ${draw(12) === 0 ? "remove" : "delete"}\n`;
  });
}

/** RFC 6902 as JSON or YAML; some of it is wrong. */
function operations(): Arbitrary<string> {
  const ops = ["add", "replace", "remove", "test", "copy", "move", "bogus"] as const;
  const values = [
    "1",
    '"text"',
    "true",
    "null",
    "[1,2]",
    '{"a":1}',
    '"/dev/vda"',
    "1.5",
    '["a"]',
    '{"bind-address":"0.0.0.0"}',
    '{"a10":"b","a9":"c","a9b":"d","a9-":"e","_":"f","N":"g"}',
    '"a text of many words that goes on and on beyond eighty columns, so that the library before breaks its line somewhere"',
    '["# a text of many words that goes on and on beyond eighty columns, so that the library before breaks its line"]',
    '{"a\\nb":"c\\td\\n","e":"\\n"}',
    '"<<"',
  ];
  const pointers = [
    ...paths.map((path) => `/${path.replaceAll(".", "/")}`),
    "/machine/certSANs/-",
    "/machine/certSANs/5",
    "",
    "/",
    "/machine~1x",
    "machine",
  ];
  return gen().map((g) => {
    const draw = (limit: number): number => g(below, limit);
    const list = Array.from({ length: 1 + draw(3) }, () => {
      const op = ops[draw(draw(4) === 0 ? ops.length : 3)] ?? "add";
      const members = [
        ["op", JSON.stringify(op)],
        ["path", JSON.stringify(pointers[draw(pointers.length)])],
        ...(op === "copy" || op === "move" ? [["from", JSON.stringify(pointers[draw(pointers.length)])]] : []),
        // A test for null means one thing in JSON and another in YAML.
        ...(op === "remove" || draw(15) === 0
          ? []
          : [["value", values.filter((value) => op !== "test" || value !== "null")[draw(values.length - 1)] ?? "1"]]),
      ];
      return members;
    });
    const isYaml = draw(2) === 0;
    if (isYaml)
      return list
        .map((members) => members.map(([key, value], index) => `${index === 0 ? "- " : "  "}${key}: ${value}\n`).join(""))
        .join("");
    return `[${list.map((members) => `{${members.map(([key, value]) => `"${key}": ${value}`).join(", ")}}`).join(", ")}]`;
  });
}
