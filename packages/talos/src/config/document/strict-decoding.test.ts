import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ConfigError } from "../errors.ts";
import { legacyKind } from "../document-identity.ts";
import { schemaOf, type Generation, type Type } from "../schema/notation.ts";
import { loadDocuments } from "./load.ts";

const generations: readonly Generation[] = ["1.13", "1.14"];

function refusalOf(text: string, generation: Generation): ConfigError {
  try {
    loadDocuments(text, generation);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  return assert.fail(`taken:\n${text}`);
}

/** A field with what it cannot hold. */
function misfit(type: Type): { readonly field: string; readonly value: string } | undefined {
  if (type.kind !== "struct") return undefined;
  for (const field of type.fields) {
    const inner = field.type.kind === "pointer" ? field.type.to : field.type;
    if (["apiVersion", "kind", "name", "version", "machine"].includes(field.name) || inner.kind === "any" || inner.kind === "argument")
      continue;
    return { field: field.name, value: ["struct", "list", "map"].includes(inner.kind) ? "some text" : "[some text]" };
  }
  return undefined;
}

for (const generation of generations) {
  describe(`strict decoding of Talos ${generation}`, () => {
    const schema = schemaOf(generation);
    for (const kind of schema.kinds) {
      const shape = schema.document(kind);
      assert.ok(shape !== undefined);
      const isLegacy = kind === legacyKind;
      const head = isLegacy
        ? "version: v1alpha1\nmachine: {}\n"
        : `apiVersion: v1alpha1\nkind: ${kind}\n${shape.isNamed ? "name: one\n" : ""}`;
      const identity = isLegacy ? "/v1alpha1/" : `v1alpha1/${kind}/${shape.isNamed ? "one" : ""}`;
      const before = "# a comment\n---\n";
      const lines = head.split("\n").length - 1;

      const placed = (error: ConfigError): unknown => ({
        code: error.code,
        document: error.document,
        path: error.path,
        line: error.line,
        column: error.column,
      });

      test(`${kind}: a key that the kind does not have`, () => {
        assert.deepEqual(placed(refusalOf(`${before}${head}notThere: 1\n`, generation)), {
          code: "UNKNOWN_FIELD",
          document: identity,
          path: "notThere",
          line: lines + 3,
          column: 1,
        });
      });

      test(`${kind}: a key twice`, () => {
        const [key, value] = isLegacy ? ["version", "v1alpha1"] : ["kind", kind];
        assert.deepEqual(placed(refusalOf(`${before}${head}${key}: ${value}\n`, generation)), {
          code: "DUPLICATE_KEY",
          document: identity,
          path: key,
          line: lines + 3,
          column: 1,
        });
      });

      test(`${kind}: the document twice`, () => {
        assert.deepEqual(placed(refusalOf(`${head}---\n${head}`, generation)), {
          code: "DUPLICATE_DOCUMENT",
          document: identity,
          path: undefined,
          line: lines + 2,
          column: 1,
        });
      });

      const wrong = misfit(shape.type);
      if (wrong === undefined) continue;
      test(`${kind}: something in ${wrong.field} that it cannot hold`, () => {
        const found = placed(refusalOf(`${before}${head}${wrong.field}: ${wrong.value}\n`, generation));
        const column = wrong.field.length + 3;
        assert.deepEqual(found, { code: "WRONG_TYPE", document: identity, path: wrong.field, line: lines + 3, column });
      });
    }
  });
}

test("keys that stand twice deep inside, tags and aliases are found by their path", () => {
  const cases: readonly (readonly [string, string, string, number, number])[] = [
    [
      "machine:\n  network:\n    interfaces:\n      - mtu: 1\n      - mtu: 1\n        mtu: 2\n",
      "DUPLICATE_KEY",
      "machine.network.interfaces[1].mtu",
      6,
      9,
    ],
    ["machine:\n  certSANs: [a, !own b]\n", "YAML_TAG", "machine.certSANs[1]", 2, 17],
    ["machine:\n  type: &a worker\n  token: *b\n", "YAML_ALIAS", "machine.token", 3, 11],
  ];
  for (const [text, code, path, line, column] of cases) {
    const error = refusalOf(text, "1.13");
    const { code: found, document, path: at, line: row, column: place } = error;
    assert.deepEqual({ found, document, at, row, place }, { found: code, document: "/v1alpha1/", at: path, row: line, place: column });
  }
});

test("an unknown part is shown as it stands in the text, its comments included", () => {
  const cases: readonly (readonly [text: string, shown: string])[] = [
    ["machine:\n  # head\n  bogus: x # c\n  type: worker\n", "machine:\n    bogus: x # c\n"],
    ['machine:\n  bogus: "x"   # c\n  other: ~\n', 'machine:\n    bogus: "x" # c\n    other: ~\n'],
    ["machine:\n  bogus:\n  - a # i\n  - b\n", "machine:\n    bogus:\n        - a # i\n        - b\n"],
    ["machine:\n  bogus: # c\n", "machine:\n    bogus:\n"],
    ["machine:\n  bogus: &a x\n  type: *a\n", "machine:\n    bogus: &a x\n"],
    ["machine:\n  type: &a x\n  bogus: *a\n", "machine:\n    bogus: *a\n"],
  ];
  for (const [text, shown] of cases)
    assert.equal(
      refusalOf(text, "1.13").detail,
      `error decoding document /v1alpha1/ (line 1): unknown keys found during decoding:\n${shown}`,
    );
});

test("the newer library takes a date for a text no more, the older one does", () => {
  const cases: readonly (readonly [text: string, path: string])[] = [
    ["machine:\n  sysctls:\n    a: 2001-01-01\n", "machine.sysctls.a"],
    ["machine:\n  nodeLabels:\n    2001-01-01: a\n", "machine.nodeLabels.2001-01-01"],
    ["machine:\n  certSANs: [b, 2001-01-01]\n", "machine.certSANs[1]"],
    ["machine:\n  kubelet:\n    extraArgs:\n      a: [2001-01-01]\n", "machine.kubelet.extraArgs.a[0]"],
    ["machine:\n  kubelet:\n    extraConfig:\n      2001-01-01: a\n", "machine.kubelet.extraConfig.2001-01-01"],
    ["cluster:\n  controlPlane:\n    endpoint: 2001-01-01\n", "cluster.controlPlane.endpoint"],
  ];
  for (const [text, path] of cases) {
    const { code, path: found } = refusalOf(text, "1.14");
    assert.deepEqual({ code, found }, { code: "WRONG_TYPE", found: path });
    loadDocuments(text, "1.13");
    loadDocuments(text.replaceAll("2001-01-01", "'2001-01-01'"), "1.14");
  }
  loadDocuments("apiVersion: v1alpha1\nkind: LinkAliasConfig\nname: a\nselector:\n  match: 2001-01-01\n", "1.14");
});

test("kind and version are told as Talos finds them", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["apiVersion: v1alpha1\nauto: stable\n", "UNKNOWN_FIELD: error decoding document v1alpha1/v1alpha1/ (line 1): unknown keys"],
    ["kind: null\napiVersion: v1alpha1\n", "UNKNOWN_FIELD: error decoding document v1alpha1/null/ (line 1): unknown keys"],
    ["auto: stable\n", "MISSING_KIND: error decoding document /v1alpha1/ (line 1): missing kind"],
    ["machine: {}\napiVersion: v2\n", "MISSING_KIND: error decoding document v2/v1alpha1/ (line 1): missing kind"],
    ["kind: HostnameConfig\napiVersion:\n", "MISSING_KIND: error decoding document /HostnameConfig/ (line 1): missing apiVersion"],
    ["kind: [HostnameConfig]\n", "WRONG_TYPE: error decoding document /v1alpha1/ (line 1): kind decode: yaml: construct errors:"],
    [
      "apiVersion: v1alpha1\nkind: KmsgLogConfig\nname: kind\nurl: tcp://a:1\n",
      'UNKNOWN_KIND: error decoding document v1alpha1/KmsgLogConfig/kind (line 1): "url" "v1alpha1": not registered',
    ],
    ["machine: {}\n---\nmachine: []\n", "DUPLICATE_DOCUMENT: duplicate document /v1alpha1/ is not allowed (line 3)"],
  ];
  for (const [text, start] of cases) {
    const { code, detail } = refusalOf(text, "1.13");
    assert.equal(`${code}: ${detail}`.slice(0, start.length), start);
  }
  assert.equal(loadDocuments("---\nnull\n---\nmachine: {}\n", "1.13").length, 1);
});
