// The members of etcd as the first control plane that answers lists them.
import { isTalosError } from "@talos-operator/talos/client";
import { clientsOf, runWhenMain } from "./context.ts";
import type { Example } from "./context.ts";

export const etcdMembers: Example = async (talosconfig, dialer) => {
  for await (const [, client] of clientsOf(talosconfig, dialer)) {
    try {
      const members = await client.etcdMemberList({ queryLocal: true });
      return members.map(({ hostname, peerUrls, isLearner }) => `${hostname} ${peerUrls.join(",")}${isLearner ? " learner" : ""}`);
    } catch (thrown) {
      // The next one may know; a fault of this program is none of a machine.
      if (!isTalosError(thrown)) throw thrown;
    }
  }
  return ["no control plane answers"];
};

await runWhenMain(import.meta.url, etcdMembers);
