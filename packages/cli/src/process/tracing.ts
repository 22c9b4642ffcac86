import { accessSync, constants } from "node:fs";
import { systemClock } from "@talos-operator/adapters";
import type { Logger } from "@talos-operator/ports";
import type { OtlpTracing } from "../adapters/otlp-tracing.ts";
import { CliError } from "../cli-error.ts";
import type { Environment, Settings } from "../settings/read-settings.ts";

/** Files that the exporter reads; without them it would go on with less than was asked for. */
const fileVariables = ["CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"].flatMap((what) => [
  `OTEL_EXPORTER_OTLP_${what}`,
  `OTEL_EXPORTER_OTLP_TRACES_${what}`,
]);

/** Where traces are posted; `undefined` = there are none. */
export function tracesUrl({
  tracesEndpoint,
  otlpEndpoint,
}: Pick<Settings["values"], "tracesEndpoint" | "otlpEndpoint">): string | undefined {
  if (tracesEndpoint !== "") return tracesEndpoint;
  return otlpEndpoint === "" ? undefined : `${otlpEndpoint.replace(/\/+$/, "")}/v1/traces`;
}

/**
 * Opens the way for traces where they are switched on. Where they are not, nothing is loaded for them.
 *
 * @throws CliError with exit code 2 for a file that the environment names and that cannot be read
 */
export async function openTracing({ values }: Pick<Settings, "values">, env: Environment, log: Logger): Promise<OtlpTracing | undefined> {
  const url = tracesUrl(values);
  if (url === undefined) return undefined;
  for (const name of fileVariables) demandReadable(name, env[name]);
  const { openOtlpTracing } = await import("../adapters/otlp-tracing.ts");
  log.info({ collector: new URL(url).origin }, "Sending traces");
  return openOtlpTracing({ url, clock: systemClock, log, serviceName: env["OTEL_SERVICE_NAME"] });
}

function demandReadable(name: string, path: string | undefined): void {
  if (path === undefined || path === "") return;
  try {
    accessSync(path, constants.R_OK);
  } catch {
    throw new CliError(`${name}: ${JSON.stringify(path)} cannot be read`, `Correct ${name}, or leave it out.`, { exitCode: 2 });
  }
}
