import { talosClusterResource } from "@talos-operator/api";
import type { KubeClient, ResourceType } from "@talos-operator/kube-runtime";
import type { Logger } from "@talos-operator/ports";

/** Counting ends here. */
const MOST = 500;

/** Kinds that the published operator of talos.alperen.cloud acts on and this one does not, by their plurals. */
const UNSERVED: Readonly<Record<string, string>> = {
  talosclusteraddons: "TalosClusterAddon",
  talosclusteraddonreleases: "TalosClusterAddonRelease",
};

/**
 * Says in one line of the log which objects are there that people may take for served: their kinds are installed, and nobody acts on them once the operator is
 * taken away that did.
 *
 * What cannot be read (no such kind, no right, no answer) is not reported. It never throws, and nothing need wait for it.
 *
 * @param namespace these alone; absent: all
 */
export async function reportUnserved(
  client: KubeClient,
  log: Logger,
  { namespace, signal }: { readonly namespace?: string | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const scope = namespace === undefined ? {} : { namespace };
  const counts = await Promise.all(
    Object.entries(UNSERVED).map(async ([plural, kind]) => {
      const type: ResourceType = { ...talosClusterResource, plural, kind };
      try {
        const { items, continue: more } = await client.resource(type).listPage({ limit: MOST, signal, ...scope });
        return [kind, more === undefined ? items.length : `${MOST} or more`] as const;
      } catch (err) {
        log.debug({ kind, err }, "Objects of a kind that is not served were not counted");
        return [kind, 0] as const;
      }
    }),
  );
  const kinds = Object.fromEntries(counts.filter(([, count]) => count !== 0));
  if (Object.keys(kinds).length > 0)
    log.warn(
      { kinds, page: "docs/upgrading/README.md" },
      "Objects are there whose kinds this operator does not serve: nothing is done for them",
    );
}
