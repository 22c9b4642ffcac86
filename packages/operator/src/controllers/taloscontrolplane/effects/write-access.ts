import { KubeApiError } from "@talos-operator/kube-runtime";
import { createTalosconfig, printTalosconfig, signClientCertificate } from "@talos-operator/talos";
import { TalosError } from "@talos-operator/talos/client";
import { BACKDATE_MS } from "../../../secrets/credentials.ts";
import { kubeconfigDoubt } from "../../../secrets/kubeconfig-doubt.ts";
import { kubeconfigFault } from "../../../secrets/kubeconfig-fault.ts";
import { isRefusedWrite } from "../../shared/refused-write.ts";
import { askedForKubeconfig } from "../rules/access.ts";
import { seenAccess } from "../session.ts";
import { asAdmin } from "./admin.ts";
import type { Action } from "../../../model/effect.ts";
import type { Effects } from "./ports.ts";

/** Life of the administrator's certificate, as talosctl has it. */
const YEAR_MS = 365 * 24 * 3_600_000;

/** Fetches a kubeconfig from a control plane and stores it, if it gets people into this cluster and does nothing else. */
export async function writeKubeconfig(action: Extract<Action, { readonly kind: "WriteKubeconfig" }>, effects: Effects): Promise<void> {
  const { seen, session, keys, log, signal, clock } = effects;
  const note = (outcome: "answered" | "unknown" | "refused", detail = ""): void => {
    session.noteSent(askedForKubeconfig(action.via), outcome, detail);
    session.noteSent("WriteKubeconfig", outcome === "refused" ? "unknown" : outcome, detail);
  };
  try {
    const text = await asAdmin(action.via, effects, (client) => client.kubeconfig({ timeoutMs: 5_000, signal }));
    const authority = (await effects.bundle()).certs.k8s.certificate;
    const fault = kubeconfigFault(text) ?? kubeconfigDoubt(text, { authority, keys, now: clock.now() });
    if (fault !== undefined) {
      const words = `The kubeconfig that ${action.via} makes is not given to people: ${fault}.`;
      note("refused", words);
      effects.event(seen.controlPlane, "KubeconfigRejected", "WriteKubeconfig", `${words} Find out what runs there.`);
      return;
    }
    const stored = await effects.access.writeKubeconfig(seen.controlPlane.metadata.namespace ?? "", action.secret, seen.controlPlane, text);
    session.kubeconfig = { at: clock.now(), value: seenAccess(stored) };
    note("answered");
    if (stored.isOurs) effects.event(seen.controlPlane, "Created", "WriteKubeconfig", `Wrote the kubeconfig into Secret ${action.secret}.`);
  } catch (thrown) {
    note("unknown");
    if (isNotedRefusal("WriteKubeconfig", thrown, effects)) return;
    if (!(thrown instanceof TalosError)) throw thrown;
    log.debug({ action: "WriteKubeconfig", endpoint: action.via, err: thrown.message }, "The machine gives no kubeconfig yet");
  }
}

/**
 * True for a Secret that the API server refuses: the condition AccessNotRenewed tells it, and the rest of the cluster goes on. It is tried again after a while
 * only: for each one a certificate of an administrator is made.
 */
function isNotedRefusal(effect: "WriteKubeconfig" | "WriteTalosconfig", thrown: unknown, { session, log }: Effects): boolean {
  if (!(thrown instanceof KubeApiError)) return false;
  // What was read of it before may be why: it is read again.
  session[effect === "WriteKubeconfig" ? "kubeconfig" : "talosconfig"] = undefined;
  session.noteSent(effect, isRefusedWrite(thrown) ? "refused" : "unknown", thrown.message.replace(/\.$/, ""));
  if (!isRefusedWrite(thrown)) return false;
  log.warn({ action: effect, err: thrown.message }, "The API server refuses an access Secret");
  return true;
}

/** Makes an administrator's talosconfig and stores it. */
export async function writeTalosconfig(action: Extract<Action, { readonly kind: "WriteTalosconfig" }>, effects: Effects): Promise<void> {
  const { seen, session, keys, clock } = effects;
  const { name, namespace = "" } = seen.controlPlane.metadata;
  const { os } = (await effects.bundle()).certs;
  const admin = await signClientCertificate({
    keys,
    authority: os,
    notBefore: clock.now() - BACKDATE_MS,
    lifetimeMs: BACKDATE_MS + YEAR_MS,
  });
  const text = printTalosconfig(
    createTalosconfig({
      clusterName: name,
      endpoints: action.endpoints,
      nodes: action.endpoints.slice(0, 1),
      ca: os.certificate,
      certificate: admin.certificate,
      key: admin.key,
    }),
  );
  try {
    const stored = await effects.access.writeTalosconfig(namespace, action.secret, seen.controlPlane, text);
    session.talosconfig = { at: clock.now(), value: seenAccess(stored) };
    session.noteSent("WriteTalosconfig", "answered", "");
  } catch (thrown) {
    if (!isNotedRefusal("WriteTalosconfig", thrown, effects)) throw thrown;
  }
}
