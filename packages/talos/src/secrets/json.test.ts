import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { ConfigError } from "../config/errors.ts";
import { parseSecretsBundleJson, printSecretsBundleJson } from "./json.ts";
import { parseSecretsBundle } from "./parse.ts";
import { printSecretsBundle } from "./print.ts";

const text = readFileSync(new URL("../../testdata/golden/genconfig/c1.13-cli/secrets.yaml", import.meta.url), "utf8");
const bundle = parseSecretsBundle(text);
const json = printSecretsBundleJson(bundle);

test("what is printed as JSON is read as the same bundle", () => {
  assert.equal(printSecretsBundle(parseSecretsBundleJson(json)), text);
});

test("names are taken in any case, unknown ones are passed over", () => {
  const other = json.replace('"TrustdInfo"', '"trustdinfo"').replace('"Cluster": {', '"Future": 1, "CLUSTER": {');
  assert.equal(printSecretsBundle(parseSecretsBundleJson(other)), text);
});

test("what could end a script element is escaped, as Go escapes it", () => {
  const printed = printSecretsBundleJson({ ...bundle, trustdInfo: { token: "<a>&\u2028" } });
  assert.match(printed, /"Token": "\\u003ca\\u003e\\u0026\\u2028"/);
  assert.equal(parseSecretsBundleJson(printed).trustdInfo.token, "<a>&\u2028");
});

describe("JSON that is refused", () => {
  const cases: readonly (readonly [name: string, text: string, code: string, detail: RegExp])[] = [
    ["text that is not JSON, without quoting it", `{"Cluster": ${bundle.cluster.secret}`, "WRONG_TYPE", /^the text is not JSON$/],
    ["a list", "[]", "WRONG_TYPE", /^the bundle is not an object$/],
    ["a number for a text", '{"Cluster": {"Id": 1}}', "WRONG_TYPE", /^cluster\.id is not a string$/],
    ["a key that is not base64", '{"Certs": {"OS": {"Crt": "!"}}}', "INVALID_VALUE", /illegal base64 data at input byte 0/],
    ["more than anyone's keys", " ".repeat(5_000_000), "YAML_LIMIT", /larger than/],
    ["lists without end", "[".repeat(1_000_000), "WRONG_TYPE", /not JSON/],
    ["nothing in it", "{}", "INVALID_BUNDLE", /^4 errors occurred:/],
  ];
  for (const [name, given, code, detail] of cases) {
    test(name, () => {
      assert.throws(
        () => parseSecretsBundleJson(given),
        (error: unknown) => error instanceof ConfigError && error.code === code && detail.test(error.detail),
      );
    });
  }
});
