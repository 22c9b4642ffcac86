// The generated stubs say what the facts of the API say: names, numbers, types, streaming.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { create, createRegistry, ScalarType } from "@bufbuild/protobuf";
import type { DescField, DescFile, DescMessage, DescService } from "@bufbuild/protobuf";

import * as protocol from "./protocol.ts";

interface Facts {
  readonly services: Record<
    string,
    { readonly rpcs: { name: string; request: string; response: string; client_streaming: boolean; server_streaming: boolean }[] }
  >;
  readonly messages: Record<string, { readonly fields: { name: string; number: number; type: string; label: string; oneof?: string }[] }>;
  readonly enums: Record<string, { readonly values: { name: string; number: number }[] }>;
}
const facts = JSON.parse(readFileSync(new URL("../proto/api.json", import.meta.url), "utf8")) as Facts;

/** The generated files behind the namespaces of the public surface, and those that they import. */
const files = Object.values(protocol)
  .flatMap((namespace) => (typeof namespace === "object" ? Object.values(namespace as object) : []))
  .filter((value): value is DescFile => typeof value === "object" && value !== null && "kind" in value && value.kind === "file");
const withImports = (file: DescFile): DescFile[] => [file, ...file.dependencies.flatMap(withImports)];
const registry = createRegistry(...files.flatMap(withImports));

function typeOf(field: DescField): string {
  if (field.message !== undefined) return field.message.typeName;
  if (field.enum !== undefined) return field.enum.typeName;
  return field.scalar === undefined ? "" : ScalarType[field.scalar].toLowerCase();
}

function labelOf(field: DescField): string {
  if (field.fieldKind === "list") return "repeated";
  if (field.fieldKind === "map") return "map";
  if (field.oneof !== undefined) return "oneof";
  return field.proto.proto3Optional ? "optional" : "singular";
}

test("every message has the fields of the facts", () => {
  for (const [name, { fields }] of Object.entries(facts.messages)) {
    const descriptor: DescMessage | undefined = registry.getMessage(name);
    assert.ok(descriptor !== undefined, `${name} is not reachable from protocol.ts`);
    const seen = descriptor.fields.map((field) => [field.name, field.number, typeOf(field), labelOf(field)]);
    const want = fields.map((field) => [field.name, field.number, field.type, field.label]);
    const byNumber = (left: (string | number)[], right: (string | number)[]): number => Number(left[1]) - Number(right[1]);
    assert.deepEqual(seen.toSorted(byNumber), want.toSorted(byNumber), name);
  }
});

test("every enum has the values of the facts", () => {
  for (const [name, { values }] of Object.entries(facts.enums)) {
    const seen = registry.getEnum(name)?.values.map((value) => [value.name, value.number]);
    assert.deepEqual(
      seen,
      values.map((value) => [value.name, value.number]),
      name,
    );
  }
});

test("every service has the calls of the facts", () => {
  for (const [name, { rpcs }] of Object.entries(facts.services)) {
    const service: DescService | undefined = registry.getService(name);
    assert.ok(service !== undefined, name);
    assert.deepEqual(
      service.methods.map((method) => [method.name, method.input.typeName, method.output.typeName, method.methodKind]),
      rpcs.map((rpc) => [
        rpc.name,
        rpc.request,
        rpc.response,
        rpc.client_streaming
          ? rpc.server_streaming
            ? "bidi_streaming"
            : "client_streaming"
          : rpc.server_streaming
            ? "server_streaming"
            : "unary",
      ]),
    );
  }
});

test("methodOf gives path and both encodings, and keeps fields of a newer Talos", () => {
  const method = protocol.methodOf(protocol.machine.MachineService.method.hostname);
  assert.equal(method.path, "/machine.MachineService/Hostname");
  const unknownField = Uint8Array.from([0x0a, 0x04, 0x12, 0x02, 0x6e, 0x31, 0xf8, 0x3f, 0x01]);
  assert.equal(method.decode(unknownField).messages[0]?.hostname, "n1");
  const apply = protocol.methodOf(protocol.machine.MachineService.method.applyConfiguration);
  const bytes = apply.encode(create(protocol.machine.ApplyConfigurationRequestSchema, { mode: 1, dryRun: true }));
  assert.deepEqual([...bytes], [0x20, 0x01, 0x28, 0x01]);
});
