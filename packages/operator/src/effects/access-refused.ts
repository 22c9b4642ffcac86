import { KubeApiError } from "@talos-operator/kube-runtime";
import { isRefusedWrite } from "../controllers/shared/refused-write.ts";
import type { Retry } from "./define.ts";
import type { Effects } from "./ports.ts";

/** Access Secrets are not tried again at once: for each try a certificate of an administrator is made. */
export const accessPauseMs: Retry["pauseMs"] = { answered: 60_000, refused: 60_000, unknown: 2_000 };

/**
 * True for a Secret that the API server refuses: the condition AccessNotRenewed tells it, and the rest of the cluster goes on. It is tried again after a while
 * only: for each one a certificate of an administrator is made.
 */
export function isNotedRefusal(effect: "WriteKubeconfig" | "WriteTalosconfig", thrown: unknown, { session, log }: Effects): boolean {
  if (!(thrown instanceof KubeApiError)) return false;
  // What was read of it before may be why: it is read again.
  session[effect === "WriteKubeconfig" ? "kubeconfig" : "talosconfig"] = undefined;
  session.noteSent(effect, isRefusedWrite(thrown) ? "refused" : "unknown", thrown.message.replace(/\.$/, ""));
  if (!isRefusedWrite(thrown)) return false;
  log.warn({ action: effect, err: thrown.message }, "The API server refuses an access Secret");
  return true;
}
