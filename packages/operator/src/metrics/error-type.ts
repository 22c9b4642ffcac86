/** Why a pass failed, for figures. The first four are about KubernetesClusters. */
export type ErrorType =
  /** The spec is wrong: nothing is tried again until it changes. */
  | "ValidationError"
  | "MachineCreationError"
  | "FileSystemError"
  | "OwnerReferenceError"
  /** The Kubernetes API refused or did not answer. */
  | "ApiError"
  /** A machine refused or did not answer. */
  | "TalosError"
  /** Another process acts, or what a decision was based on is no longer so. */
  | "EffectError"
  /** A fault of the program. */
  | "InternalError";

const kindsOfComposition: ReadonlySet<string> = new Set<ErrorType>([
  "ValidationError",
  "MachineCreationError",
  "FileSystemError",
  "OwnerReferenceError",
]);

/** By the error's name, since errors of other packages count, too; unknown ones are faults. */
export function errorTypeOf(thrown: unknown): ErrorType {
  if (!(thrown instanceof Error)) return "InternalError";
  if (thrown.name === "CompositionError" && "kind" in thrown && kindsOfComposition.has(String(thrown.kind)))
    return thrown.kind as ErrorType;
  if (thrown.name === "KubeApiError" || thrown.name === "CompositionError") return "ApiError";
  if (thrown.name === "TalosError" || thrown.name === "EffectError") return thrown.name;
  return "InternalError";
}
