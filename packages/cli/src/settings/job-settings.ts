import type { Reader } from "./readers.ts";

/** What Jobs of workers are made of, whatever their tasks are. */
export interface JobSettings {
  /** The operator's own, which has what workers drive beside the program. */
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
  /** In the operator's namespace, without any right. */
  readonly serviceAccountName: string;
  /** As a container has them. */
  readonly resources?: Readonly<Record<string, unknown>>;
  /** Of the scratch, as a quantity. */
  readonly scratchSize: string;
  /** Labels and annotations of the pods, beside those of the operator. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly Readonly<Record<string, unknown>>[];
  readonly priorityClassName?: string;
}

type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === "string" && value !== "";
const isObject: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isTexts: Check = (value) =>
  isObject(value) && Object.values(value as Record<string, unknown>).every((one) => typeof one === "string");
export const isObjects: Check = (value) => Array.isArray(value) && value.every(isObject);
const isSize: Check = (value) => typeof value === "string" && /^\d+(\.\d+)?([KMGTP]i?)?$/.test(value);

const demanded = ["image", "serviceAccountName", "scratchSize"] as const satisfies readonly (keyof JobSettings)[];
const common: Readonly<Record<keyof JobSettings, Check>> = {
  image: isText,
  imagePullPolicy: isText,
  imagePullSecrets: isObjects,
  serviceAccountName: isText,
  resources: isObject,
  scratchSize: isSize,
  labels: isTexts,
  annotations: isTexts,
  nodeSelector: isTexts,
  tolerations: isObjects,
  priorityClassName: isText,
};

/**
 * JSON of settings; empty is none. A field that nothing reads is refused, for it would have no effect.
 *
 * @param further fields beside those of every kind
 */
export function jobReader<Settings extends JobSettings>(
  further: Readonly<Record<Exclude<keyof Settings, keyof JobSettings>, Check>>,
): Reader<Settings | undefined> {
  const checks: ReadonlyMap<string, Check> = new Map([...Object.entries<Check>(common), ...Object.entries<Check>(further)]);
  return (text) => {
    if (text.trim() === "") return { value: undefined };
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      return { problem: "is no JSON" };
    }
    if (!isObject(parsed)) return { problem: "is no JSON object" };
    const job = parsed as Record<string, unknown>;
    const wrong = [
      ...demanded.filter((name) => job[name] === undefined),
      ...Object.keys(job).filter((name) => checks.get(name)?.(job[name]) !== true),
    ];
    return wrong.length > 0
      ? { problem: `has fields that are missing, unknown or of another form: ${wrong.join(", ")}` }
      : { value: parsed as Settings };
  };
}
