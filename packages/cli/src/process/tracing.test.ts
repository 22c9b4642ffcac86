import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createMemoryLog } from "@talos-operator/kube-runtime/testing";
import { readSettings } from "../settings/read-settings.ts";
import { openTracing } from "./tracing.ts";

/** Modules of OpenTelemetry that this process has loaded; they are CommonJS. */
const loaded = (): number => Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes("@opentelemetry")).length;

describe("traces", () => {
  it("are off by default, and nothing is loaded for them", async () => {
    assert.equal(await openTracing(readSettings({}, {}), {}, createMemoryLog()), undefined);
    assert.equal(loaded(), 0);
    const tracing = await openTracing(readSettings({ "otlp-endpoint": "http://127.0.0.1:1" }, {}), {}, createMemoryLog());
    await tracing?.close();
    assert.ok(loaded() > 0);
  });

  it("are loaded from one place alone, when they are switched on", () => {
    const root = fileURLToPath(new URL("../../../", import.meta.url));
    const files = globSync("*/src/**/*.ts", { cwd: root }).filter((path) => !path.endsWith(".test.ts"));
    const importing = (pattern: RegExp): readonly string[] =>
      files.filter((path) => pattern.test(readFileSync(root + path, "utf8"))).map((path) => path.replaceAll("\\", "/"));
    assert.deepEqual(importing(/"@opentelemetry\//).toSorted(), ["cli/src/adapters/otlp-tracing.ts", "cli/src/adapters/quiet-exporter.ts"]);
    assert.deepEqual(importing(/^import (?!type ).*\/(otlp-tracing|quiet-exporter)\.ts"/m), ["cli/src/adapters/otlp-tracing.ts"]);
    assert.deepEqual(importing(/await import\(".*\/otlp-tracing\.ts"\)/), ["cli/src/process/tracing.ts"]);
  });

  it("refuse a certificate that cannot be read", async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://127.0.0.1:1", OTEL_EXPORTER_OTLP_CERTIFICATE: "/nowhere/ca.crt" };
    await assert.rejects(openTracing(readSettings({}, env), env, createMemoryLog()), {
      name: "CliError",
      exitCode: 2,
      message: /OTLP_CERTIFICATE/,
    });
  });
});
