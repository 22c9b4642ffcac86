import { createLogger } from "@talos-operator/adapters";
import type { Logger } from "@talos-operator/ports";
import type { Settings } from "../settings/read-settings.ts";

/** The log of a process that runs the operator; the first thing in it is what was set in vain. */
export function openLog({ values, ineffective }: Pick<Settings, "values" | "ineffective">): Logger {
  const log = createLogger({ level: values.logLevel, format: values.logJson ? "json" : "text" });
  for (const { variable, instead } of ineffective) log.warn({ variable, instead }, "An environment variable has no effect here");
  return log;
}
