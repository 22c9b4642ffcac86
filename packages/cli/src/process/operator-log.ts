import { createLogger } from "@talos-operator/adapters";
import type { Logger } from "@talos-operator/ports";
import type { Settings } from "../settings/read-settings.ts";

/** The log of a process that runs the operator, on standard error where nothing else is said; the first thing in it is what was set in vain. */
export function openLog({ values, ineffective }: Pick<Settings, "values" | "ineffective">, destination?: NodeJS.WritableStream): Logger {
  const log = createLogger({
    level: values.logLevel,
    format: values.logJson ? "json" : "text",
    ...(destination === undefined ? {} : { destination }),
  });
  for (const { variable, instead } of ineffective) log.warn({ variable, instead }, "An environment variable has no effect here");
  return log;
}
