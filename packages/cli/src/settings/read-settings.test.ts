import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { environmentReference } from "./reference.ts";
import { tracesUrl } from "../process/tracing.ts";
import { CliError } from "../cli-error.ts";
import { readSettings } from "./read-settings.ts";
import { foreignVariables, variables } from "./variables.ts";

const namesOf = (text: string): readonly string[] => [...text.matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name = ""]) => name);

describe("settings", () => {
  it("have the defaults of the reference page", () => {
    const { values, given, ineffective } = readSettings({}, {});
    assert.deepEqual(
      { ...values },
      {
        logLevel: "info",
        logJson: true,
        development: false,
        metricsAddress: ":8080",
        healthAddress: ":8081",
        reconcileIntervalMs: 30_000,
        maxConcurrentReconciles: 1,
        resultsPath: "hack/results",
        talosVersion: "",
        kubernetesVersion: "",
        endpointMode: "networkconfiguration",
        customEndpoint: "",
        machineRefNamespaces: undefined,
        requireBackupStoreLabel: false,
        backupEndpoints: undefined,
        backupIdentityNamespaces: undefined,
        metricsObjects: 1_000,
        podName: "",
        podNamespace: "",
        podUid: "",
        backupJob: undefined,
        addonJob: undefined,
        otlpEndpoint: "",
        tracesEndpoint: "",
      },
    );
    assert.deepEqual([given.size, ineffective], [0, []]);
  });

  it("take a flag before a variable, and a flag of ours before one of zap", () => {
    const env = { LOG_LEVEL: "error", METRICS_BIND_ADDRESS: ":1" };
    assert.equal(readSettings({}, env).values.logLevel, "error");
    assert.equal(readSettings({ "zap-log-level": "2" }, env).values.logLevel, "debug");
    assert.equal(readSettings({ "zap-log-level": "panic", "log-level": "warn" }, env).values.logLevel, "warn");
    assert.equal(readSettings({ "metrics-bind-address": "0" }, env).values.metricsAddress, "0");
    assert.equal(readSettings({ "zap-encoder": "console" }, {}).values.logJson, false);
  });

  it("bound what backups may use", () => {
    const { values } = readSettings(
      { "require-backup-store-label": true, "backup-endpoints": "aws, https://s3.example.org/team" },
      { BACKUP_ENDPOINTS: "*", BACKUP_IDENTITY_NAMESPACES: "" },
    );
    const { requireBackupStoreLabel, backupEndpoints, backupIdentityNamespaces } = values;
    assert.deepEqual(
      [requireBackupStoreLabel, backupEndpoints, backupIdentityNamespaces],
      [true, ["aws", "https://s3.example.org/team"], []],
    );
    for (const wrong of ["s3.example.org", "ftp://s3.example.org", "https://me:hunter2@s3.example.org", "*,aws"])
      assert.throws(
        () => readSettings({ "backup-endpoints": wrong }, {}),
        (thrown) => thrown instanceof CliError && thrown.exitCode === 2,
        wrong,
      );
  });

  it("of a development process are for people, unless they are set", () => {
    const level = (env: Record<string, string>): unknown => {
      const { values } = readSettings({}, env);
      return [values.logLevel, values.logJson];
    };
    assert.deepEqual(level({ DEVELOPMENT: "true" }), ["debug", false]);
    assert.deepEqual(level({ DEVELOPMENT: "true", LOG_LEVEL: "warn", LOG_JSON: "true" }), ["warn", true]);
  });

  it("read durations as Go writes them", () => {
    const interval = (text: string): number => readSettings({}, { RECONCILE_INTERVAL: text }).values.reconcileIntervalMs;
    for (const [text, ms] of [
      ["30s", 30_000],
      ["1m30s", 90_000],
      ["1.5h", 5_400_000],
      ["1500ms", 1500],
    ] as const)
      assert.equal(interval(text), ms);
  });

  const refused: readonly (readonly [string, string])[] = [
    ["LOG_LEVEL", "loud"],
    ["LOG_JSON", "perhaps"],
    ["METRICS_BIND_ADDRESS", "8080"],
    ["HEALTH_PROBE_BIND_ADDRESS", ":99999"],
    ["RECONCILE_INTERVAL", "soon"],
    ["RECONCILE_INTERVAL", "30"],
    ["RECONCILE_INTERVAL", "0s"],
    ["TALOS_VERSION", "1.13"],
    ["CUSTOM_ENDPOINT", "a b"],
    ["CUSTOM_ENDPOINT", "10.0.0.1,https://api.example.com"],
    ["CUSTOM_ENDPOINT", "api.example.com:6443"],
    ["MAX_CONCURRENT_RECONCILES", "0"],
    ["MAX_CONCURRENT_RECONCILES", "1e3"],
    ["PROVISION_FAILURE_TIMEOUT_MINUTES", "-1"],
    ["ENABLE_PXE_BOOT_STACK", "true"],
    ["TENANT_CONFIGMAP_NAME", "talos-tenant-config"],
    ["TALOS_VERSION_ENFORCE_ENABLED", "true"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://collector:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://"],
    ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://user:password@collector"],
  ];
  for (const [name, value] of refused)
    it(`refuse ${name}=${value} by its name`, () =>
      assert.throws(() => readSettings({}, { [name]: value }), { name: "CliError", exitCode: 2, message: new RegExp(name) }));

  it("take hosts of any kind for CUSTOM_ENDPOINT", () => {
    for (const text of ["", "10.0.0.1", "api.example.com, fd00::1", "127.0.0.1"])
      assert.equal(readSettings({}, { CUSTOM_ENDPOINT: text }).values.customEndpoint, text);
  });

  for (const [name, value] of [
    ["metrics-secure", true],
    ["webhook-cert-path", "/certs"],
    ["enable-tracing", true],
    ["zap-log-level", "loud"],
    ["zap-encoder", "xml"],
  ] as const)
    it(`refuse --${name} ${String(value)} by its name`, () =>
      assert.throws(() => readSettings({ [name]: value }, {}), { name: "CliError", exitCode: 2, message: new RegExp(`--${name}`) }));

  it("say where traces go: nowhere, unless a flag or a variable names a collector", () => {
    const url = (flags: Record<string, string | boolean>, env: Record<string, string> = {}): string | undefined =>
      tracesUrl(readSettings(flags, env).values);
    const both = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://a/base/", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://b/in" };
    assert.equal(url({}), undefined);
    assert.equal(url({ "otlp-endpoint": "collector:4318" }), "http://collector:4318/v1/traces");
    assert.equal(url({}, { OTEL_EXPORTER_OTLP_ENDPOINT: both.OTEL_EXPORTER_OTLP_ENDPOINT }), "https://a/base/v1/traces");
    assert.equal(url({ "enable-tracing": true }, both), "https://b/in");
    assert.equal(url({ "otlp-endpoint": "http://c" }, both), "http://c/v1/traces");
    assert.equal(url({ "enable-tracing": false, "otlp-endpoint": "http://c" }, both), undefined);
  });

  it("say what was set in vain, and nothing of what asks for nothing", () => {
    const { ineffective } = readSettings(
      { "metrics-secure": false, "webhook-cert-key": "tls.key" },
      { LOG_COLORIZE_LINE: "true", LOG_ADD_CALLER: "false", BOOT_IMAGE: "x", VITISTACK_NAME: "vitistack" },
    );
    assert.deepEqual(
      ineffective.map(({ variable }) => variable),
      ["LOG_COLORIZE_LINE", "BOOT_IMAGE"],
    );
  });

  it("are all on the reference page, and no others", () => {
    const all = [...Object.values(variables), ...foreignVariables].map(({ name }) => name);
    assert.equal(new Set(all).size, all.length);
    const page = readFileSync(new URL("../../../../docs/reference/environment.md", import.meta.url), "utf8");
    assert.deepEqual(namesOf(page), all);
    assert.equal(page, environmentReference());
  });
});
