import { TalosError } from "@talos-operator/talos/client";
import { kubeconfigDoubt } from "../secrets/kubeconfig-doubt.ts";
import { kubeconfigFault } from "../secrets/kubeconfig-fault.ts";
import { YEAR_MS } from "../planning/afterwards.ts";
import { stored } from "../planning/step-of.ts";
import { seenAccess } from "../reconcilers/cluster-session.ts";
import { accessPauseMs, isNotedRefusal } from "./access-refused.ts";
import { asAdmin } from "./admin.ts";
import { defineEffect, rememberedAs } from "./define.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    WriteKubeconfig: { readonly secret: string; readonly via: string };
  }
}

/** By the Secret, and by the control plane that was asked for one. */
const retry = { word: "WriteKubeconfig", refusals: [], pauseMs: accessPauseMs } as const;

/** Fetches a kubeconfig from a control plane and stores it, if it gets people into this cluster and does nothing else. */
export const writeKubeconfig = defineEffect("WriteKubeconfig", {
  inventory: "K4",
  at: "objects",
  disrupts: "nothing",
  goesTogether: true,
  retry,
  async carryOut({ action, effects }) {
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
        effects.event("KubeconfigRejected", "WriteKubeconfig", `${words} Find out what runs there.`);
        return;
      }
      const stored = await effects.access.writeKubeconfig(
        seen.controlPlane.metadata.namespace ?? "",
        action.secret,
        seen.controlPlane,
        text,
      );
      session.kubeconfig = { at: clock.now(), value: seenAccess(stored) };
      note("answered");
      if (stored.isOurs) effects.event("Created", "WriteKubeconfig", `Wrote the kubeconfig into Secret ${action.secret}.`);
    } catch (thrown) {
      note("unknown");
      if (isNotedRefusal("WriteKubeconfig", thrown, effects)) return;
      if (!(thrown instanceof TalosError)) throw thrown;
      log.debug({ action: "WriteKubeconfig", endpoint: action.via, err: thrown.message }, "The machine gives no kubeconfig yet");
    }
  },
  step: ({ secret }) => stored(secret, (named) => `Write the kubeconfig: Secret ${named}.`),
  afterwards: (seen) => ({ ...seen, kubeconfig: { kind: "present", value: { expiresAt: seen.now + YEAR_MS, isOurs: true } } }),
});

/** What a control plane is remembered by that was asked for a kubeconfig. */
export function askedForKubeconfig(address: string): string {
  return rememberedAs({ retry }, address);
}
