import { isObjects, jobReader, type JobSettings } from "./job-settings.ts";

/** What the Jobs of addons are made of. Their scratch has room for one chart, and for what Helm makes of it; the image has helm. */
export interface AddonJobSettings extends JobSettings {
  /** Environment, as a container has it: the proxy to the repositories. */
  readonly env?: readonly Readonly<Record<string, unknown>>[];
}

export const readAddonJob = jobReader<AddonJobSettings>({ env: isObjects });
