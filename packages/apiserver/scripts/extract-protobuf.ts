// extract-protobuf.ts API APIMACHINERY OUT: writes OUT/protobuf-messages.ts, the fields of every message that a client may send for the kinds that
// the embedded API serves, from the `generated.proto` and the Go types of k8s.io/api and k8s.io/apimachinery. See hack/openapi/update.sh.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kinds } from "../src/builtin/gen/kinds.ts";

const [api = "", machinery = "", out = ""] = process.argv.slice(2);

interface Field {
  readonly number: string;
  readonly name: string;
  readonly type: string;
  readonly repeated: boolean;
}

/** How Go prints a field into JSON: under which name, what is inline has none, what is kept is printed even when it is zero. */
interface GoFacts {
  readonly names: ReadonlyMap<string, string>;
  readonly inline: ReadonlySet<string>;
  readonly kept: ReadonlySet<string>;
}

const messages = new Map<string, readonly Field[]>();
const goFacts = new Map<string, GoFacts>();

for (const file of [
  ...globSync(`${api}/*/v*/generated.proto`),
  ...globSync(`${machinery}/pkg/{api/resource,apis/meta/v1,runtime,util/intstr}/generated.proto`),
]) {
  readProto(readFileSync(file, "utf8"));
  const folder = join(file, "..");
  for (const types of globSync(`${folder}/*types*.go`)) readGo(packageOf(readFileSync(file, "utf8")), readFileSync(types, "utf8"));
}

function packageOf(text: string): string {
  return /^package ([\w.]+);/m.exec(text)?.[1] ?? "";
}

function readProto(text: string): void {
  const home = packageOf(text);
  for (const [, name = "", body = ""] of text.matchAll(/^message (\w+) \{\n([^]*?)^\}/gm)) {
    const fields = [...body.matchAll(/^\s+(optional |repeated |map<string, )([\w.]+)(>?) (\w+) = (\d+);/gm)].map(
      ([, label = "", type = "", , field = "", number = ""]) => {
        const full = type.startsWith(".") ? type.slice(1) : /^(string|bool|int32|int64|bytes)$/.test(type) ? type : `${home}.${type}`;
        return { number, name: field, type: label.startsWith("map") ? `map:${full}` : full, repeated: label === "repeated " };
      },
    );
    messages.set(`${home}.${name}`, fields);
  }
}

function readGo(home: string, text: string): void {
  for (const [, name = "", body = ""] of text.matchAll(/^type (\w+) struct \{\n([^]*?)^\}/gm)) {
    const names = new Map<string, string>();
    const inline = new Set<string>();
    const kept = new Set<string>();
    for (const [, type = "", json = "", named] of body.matchAll(
      /^\t(?:\w+\s+)?([*\w.[\]]+)\s+`json:"([^"]*)".*protobuf:"(?:[^"]*name=(\w+))?/gm,
    )) {
      // What is embedded may have no name in protobuf either; the messages call it like its type.
      const field = named ?? `${type.charAt(0).toLowerCase()}${type.slice(1)}`;
      names.set(field, /^[^,]*/.exec(json)?.[0] ?? "");
      if (json.startsWith(",inline") || json === "") inline.add(field);
      else if (type.startsWith("*") || !json.includes(",omit")) kept.add(field);
    }
    goFacts.set(`${home}.${name}`, { names, inline, kept });
  }
}

const scalars: Readonly<Record<string, string>> = {
  string: "text",
  bool: "boolean",
  int32: "integer",
  int64: "integer",
  bytes: "bytes",
  "k8s.io.apimachinery.pkg.apis.meta.v1.Time": "time",
  "k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime": "microTime",
  "k8s.io.apimachinery.pkg.apis.meta.v1.Duration": "duration",
  "k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1": "json",
  "k8s.io.apimachinery.pkg.runtime.RawExtension": "json",
  "k8s.io.apimachinery.pkg.api.resource.Quantity": "quantity",
  "k8s.io.apimachinery.pkg.util.intstr.IntOrString": "intOrString",
};

/** Messages that are lists in JSON. */
const isItems = (name: string): boolean => name.endsWith(".ExtraValue");

const roots = new Map<string, string>();
for (const { group, version, kind, definition } of kinds) {
  const name = definition.replace(/^io\.k8s\./, "k8s.io.");
  if (messages.has(name)) roots.set(`${group === "" ? "" : `${group}/`}${version}/${kind}`, name);
}
roots.set("authentication.k8s.io/v1/TokenRequest", "k8s.io.api.authentication.v1.TokenRequest");
roots.set("autoscaling/v1/Scale", "k8s.io.api.autoscaling.v1.Scale");
roots.set("policy/v1/Eviction", "k8s.io.api.policy.v1.Eviction");
roots.set("v1/DeleteOptions", "k8s.io.apimachinery.pkg.apis.meta.v1.DeleteOptions");

const wanted = new Map<string, string>();
function collect(name: string): void {
  if (wanted.has(name)) return;
  const fields = messages.get(name);
  if (fields === undefined) throw new Error(`no message ${name}`);
  wanted.set(name, "");
  const facts = goFacts.get(name);
  const line = fields.map(({ number, name: field, type, repeated }) => {
    const isMap = type.startsWith("map:");
    const inner = isMap ? type.slice(4) : type;
    const scalar = scalars[inner] ?? (isItems(inner) ? "texts" : undefined);
    if (scalar === undefined) collect(inner);
    const flags = `${isMap ? "%" : ""}${repeated ? "*" : ""}${facts?.inline.has(field) === true ? "~" : ""}${facts?.kept.has(field) === true ? "!" : ""}`;
    // Some messages call a field otherwise than JSON does: `uID` is `uid`.
    return `${number} ${facts?.names.get(field) || field} ${flags}${scalar ?? inner}`;
  });
  wanted.set(name, line.join(";"));
}
for (const name of roots.values()) collect(name);
if (!existsSync(out)) throw new Error(`no folder ${out}`);
const print = (entries: Iterable<readonly [string, string]>): string =>
  [...entries]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`)
    .join("");
const version = /@v([\d.]+)$/.exec(api)?.[1] ?? "";
writeFileSync(
  `${out}/protobuf-messages.ts`,
  `// Generated by hack/openapi/update.sh from the messages of k8s.io/api v${version}. Do not edit.

/** Message of a kind, by \`<apiVersion>/<kind>\`. */
export const messageOfKind: Readonly<Record<string, string>> = {
${print(roots)}};

/** Fields of a message: number, name in JSON, type; \`*\` a list, \`%\` a map by text, \`~\` its fields belong to the message itself, \`!\` printed even when zero. */
export const messageFields: Readonly<Record<string, string>> = {
${print(wanted)}};
`,
);
