import { KubeApiError, fieldConflictsOf } from "@talos-operator/kube-runtime";
import type { ManifestsFailed, ManifestsFailureReason } from "../task/manifests.ts";

/** Longest word of the cluster that a message repeats. */
const LONGEST = 400;

/** Fields that a message names. */
const MOST_FIELDS = 3;

/** Why a set of objects cannot be as it should. The message is for people, and holds no value of an object. */
export class ManifestsFault extends Error {
  override readonly name = "ManifestsFault";
  readonly reason: ManifestsFailureReason;
  readonly mayRepeat: boolean;

  constructor(reason: ManifestsFailureReason, message: string, mayRepeat: boolean, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.mayRepeat = mayRepeat;
  }
}

/** What a refused call stands for. @param what the object: `Deployment web/page` */
export function faultOfCall(thrown: unknown, what: string): ManifestsFault {
  if (thrown instanceof ManifestsFault) return thrown;
  if (!(thrown instanceof KubeApiError)) throw thrown;
  const options = { cause: thrown };
  switch (thrown.code) {
    case "APPLY_CONFLICT":
      return conflict(thrown, what);
    case "UNAUTHORIZED":
      return new ManifestsFault("cluster-refused", "The cluster refuses the access.", true, options);
    case "NO_ANSWER":
    case "UNAVAILABLE":
    case "SERVER_TIMEOUT":
    case "TOO_MANY_REQUESTS":
    case "UNEXPECTED_ANSWER":
      return new ManifestsFault("cluster-unreachable", `The API of the cluster does not answer (${what}).`, true, options);
    case "CANCELED":
      return new ManifestsFault("timed-out", "The worker was asked to stop.", true, options);
    case "INVALID_CALL":
      return new ManifestsFault("manifests-invalid", `${what} has a name or a namespace that none can have.`, false, options);
    case "NOT_SERVED":
      return new ManifestsFault("kind-not-served", `The cluster does not serve the kind of ${what}.`, true, options);
    default:
      return new ManifestsFault("api-refused", `The cluster refuses ${what}: ${wordsOf(thrown)}.`, true, options);
  }
}

function conflict(thrown: KubeApiError, what: string): ManifestsFault {
  const conflicts = fieldConflictsOf(thrown);
  const managers = [...new Set(conflicts.map(({ manager }) => manager))].slice(0, MOST_FIELDS).join(", ");
  const fields = conflicts.slice(0, MOST_FIELDS).map(({ field }) => field);
  const more = conflicts.length > MOST_FIELDS ? ` and ${conflicts.length - MOST_FIELDS} more` : "";
  return new ManifestsFault(
    "fields-not-ours",
    `${what}: ${fields.join(", ")}${more} belong to ${managers}. Leave them out, or set spec.manifests.takeOwnership.`,
    true,
    { cause: thrown },
  );
}

/** What the API server said, without the values that it quotes. */
function wordsOf(error: KubeApiError): string {
  const causes = error.causes.filter(({ message }) => message !== "").map(({ field, message }) => `${field}: ${message}`);
  const said = causes.length > 0 ? causes.join("; ") : error.message.replace(`${error.code}: ${error.call}: `, "");
  return said
    .replace(/(Invalid|Unsupported) value: ("(?:[^"\\]|\\.)*"|[^:]*)(: )?/g, "$1 value: ")
    .slice(0, LONGEST)
    .replace(/[.\s]+$/, "");
}

export function failedBy(thrown: unknown): ManifestsFailed {
  if (thrown instanceof KubeApiError) return failedBy(faultOfCall(thrown, "the cluster"));
  if (thrown instanceof ManifestsFault) {
    const { reason, message, mayRepeat } = thrown;
    return { kind: "manifests-failed", reason, message: message.slice(0, 1_024), mayRepeat };
  }
  const name = thrown instanceof Error ? thrown.name : "unknown";
  return { kind: "manifests-failed", reason: "failed", message: `The worker failed: ${name}.`, mayRepeat: true };
}
