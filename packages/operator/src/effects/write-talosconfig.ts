import { createTalosconfig, printTalosconfig, signClientCertificate } from "@talos-operator/talos";
import { BACKDATE_MS } from "../secrets/credentials.ts";
import { YEAR_MS } from "../planning/afterwards.ts";
import { stored } from "../planning/step-of.ts";
import { seenAccess } from "../reconcilers/cluster-session.ts";
import { accessPauseMs, isNotedRefusal } from "./access-refused.ts";
import { defineEffect } from "./define.ts";

declare module "../model/effect.ts" {
  interface EffectParameters {
    WriteTalosconfig: { readonly secret: string; readonly endpoints: readonly string[] };
  }
}

/** Makes an administrator's talosconfig and stores it. Its certificate lives for a year, as talosctl has it. */
export const writeTalosconfig = defineEffect("WriteTalosconfig", {
  inventory: "K4",
  at: "objects",
  disrupts: "nothing",
  goesTogether: true,
  retry: { word: "WriteTalosconfig", refusals: [], pauseMs: accessPauseMs },
  async carryOut({ action, effects }) {
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
  },
  step: ({ secret }) => stored(secret, (named) => `Write the talosconfig: Secret ${named}.`),
  afterwards: (seen) => ({ ...seen, talosconfig: { kind: "present", value: { expiresAt: seen.now + YEAR_MS, isOurs: true } } }),
});
