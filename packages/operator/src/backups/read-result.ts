import type { TaskResult } from "@talos-operator/backup";

/** What a worker told; `undefined` for anything that is no result. Whether it is to be believed is another question. */
export function readBackupResult(message: string | undefined): TaskResult | undefined {
  try {
    const told: unknown = JSON.parse(message ?? "");
    if (typeof told !== "object" || told === null || !("kind" in told)) return undefined;
    return isResult(told) ? told : undefined;
  } catch {
    // The kubelet cuts what is too long, and a worker that is killed tells nothing.
    return undefined;
  }
}

function isResult(told: { readonly kind: unknown }): told is TaskResult {
  const has = (...fields: readonly string[]): boolean =>
    fields.every((field) => Object.hasOwn(told, field) && Object.getOwnPropertyDescriptor(told, field)?.value !== null);
  const isObject = (field: string): boolean => typeof Object.getOwnPropertyDescriptor(told, field)?.value === "object";
  switch (told.kind) {
    case "taken":
    case "proved":
      return has("facts", "proof") && isObject("facts") && isObject("proof");
    case "removed":
      return has("slots", "kept") && isObject("slots") && isObject("kept");
    case "failed":
      return has("reason", "message", "mayRepeat") && typeof Object.getOwnPropertyDescriptor(told, "message")?.value === "string";
    default:
      return false;
  }
}
