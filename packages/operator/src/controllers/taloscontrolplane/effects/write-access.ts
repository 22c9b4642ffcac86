import { createTalosconfig, printTalosconfig, signClientCertificate } from "@talos-operator/talos";
import { TalosError } from "@talos-operator/talos/client";
import { BACKDATE_MS } from "../../../secrets/credentials.ts";
import { kubeconfigFault } from "../../../secrets/kubeconfig-fault.ts";
import type { Effects } from "../execute.ts";
import type { Action } from "../model.ts";
import { seenAccess } from "../session.ts";
import { asAdmin } from "./admin.ts";

/** Life of the administrator's certificate, as talosctl has it. */
const YEAR_MS = 365 * 24 * 3_600_000;

/** Fetches a kubeconfig from a control plane and stores it. */
export async function writeKubeconfig(action: Extract<Action, { readonly kind: "WriteKubeconfig" }>, effects: Effects): Promise<void> {
  const { seen, session, log, signal, clock } = effects;
  try {
    const text = await asAdmin(action.via, effects, (client) => client.kubeconfig({ timeoutMs: 5_000, signal }));
    const fault = kubeconfigFault(text);
    if (fault !== undefined) {
      session.noteSent("WriteKubeconfig", "refused", fault);
      const note = `The kubeconfig that ${action.via} makes is not given to people: ${fault}. Find out what runs there.`;
      effects.event(seen.controlPlane, "Warning", "KubeconfigRejected", "WriteKubeconfig", note);
      return;
    }
    const stored = await effects.access.writeKubeconfig(seen.controlPlane.metadata.namespace ?? "", action.secret, seen.controlPlane, text);
    session.kubeconfig = { at: clock.now(), value: seenAccess(stored) };
    session.noteSent("WriteKubeconfig", "answered", "");
    if (stored.isOurs)
      effects.event(seen.controlPlane, "Normal", "Created", "WriteKubeconfig", `Wrote the kubeconfig into Secret ${action.secret}.`);
  } catch (thrown) {
    session.noteSent("WriteKubeconfig", "unknown", "");
    if (!(thrown instanceof TalosError)) throw thrown;
    log.debug({ action: "WriteKubeconfig", endpoint: action.via, err: thrown.message }, "The machine gives no kubeconfig yet");
  }
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
  const stored = await effects.access.writeTalosconfig(namespace, action.secret, seen.controlPlane, text);
  session.talosconfig = { at: clock.now(), value: seenAccess(stored) };
  session.noteSent("WriteTalosconfig", "answered", "");
}
