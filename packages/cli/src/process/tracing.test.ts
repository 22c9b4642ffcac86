import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createMemoryLog } from "@talos-operator/kube-runtime/testing";
import { readSettings } from "../settings/read-settings.ts";
import { openTracing } from "./tracing.ts";

/** How many modules of OpenTelemetry a process has loaded without and with a collector; they are CommonJS. */
const COUNTING = `
import { createRequire } from "node:module";
import { createMemoryLog } from "@talos-operator/kube-runtime/testing";
import { readSettings } from "./settings/read-settings.ts";
import { openTracing } from "./process/tracing.ts";
const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes("@opentelemetry")).length;
const without = [await openTracing(readSettings({}, {}), {}, createMemoryLog()), loaded()];
await (await openTracing(readSettings({ "otlp-endpoint": "http://127.0.0.1:1" }, {}), {}, createMemoryLog())).close();
console.log(JSON.stringify({ opened: without[0] !== undefined, without: without[1], with: loaded() }));
`;

describe("traces", () => {
  it("are off by default, and nothing is loaded for them", () => {
    const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", COUNTING], {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      encoding: "utf8",
    });
    const counted = JSON.parse(printed) as { readonly opened: boolean; readonly without: number; readonly with: number };
    assert.equal(counted.opened, false);
    assert.equal(counted.without, 0);
    assert.ok(counted.with > 0);
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
