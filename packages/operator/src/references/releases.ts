import { isForbidden } from "@talos-operator/kube-runtime";
import type { KubeClient, KubeObject, ResourceType } from "@talos-operator/kube-runtime";
import type { Clock, Logger } from "@talos-operator/ports";
import { builtInCatalogue, extendCatalogue, isConfigError } from "@talos-operator/talos";
import { elapsedMs } from "../elapsed.ts";
import { bounded } from "../looking/reported-words.ts";
import type { SeenReleases } from "../model/observation.ts";

/** Where a ConfigMap stands that names further releases of Talos and Kubernetes. */
export interface ReleasesPlace {
  readonly namespace: string;
  readonly name: string;
}

/** The releases that upgrades go through: those that this release knows, and those that a ConfigMap adds. */
export interface Releases {
  /** Never throws: where the ConfigMap cannot be used, the own ones go on, and it says why. */
  read(): Promise<SeenReleases>;
}

/** Key of the ConfigMap that holds the text. */
export const RELEASES_KEY = "releases.yaml";

/** How long an answer counts: it is read only while an upgrade is asked for, and then once for all clusters. */
const FRESH_MS = 60_000;

/** Longer than a hundred releases of each product need. */
const MOST_CHARACTERS = 64 * 1024;

/** Characters of what is wrong that people are told. */
const LONGEST_REASON = 400;

const configMapType: ResourceType = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const own: SeenReleases = { catalogue: builtInCatalogue };

/** Without a place the releases are those that are built in. */
export function createReleases(client: KubeClient, clock: Clock, log: Logger, place: ReleasesPlace | undefined): Releases {
  if (place === undefined) return { read: () => Promise.resolve(own) };
  const source = `ConfigMap ${place.namespace}/${place.name}`;
  const configMaps = client.resource<ConfigMap>(configMapType);
  let known: { readonly at: number; readonly resourceVersion: string | undefined; readonly seen: SeenReleases } | undefined;
  let reading: Promise<SeenReleases> | undefined;

  const wrong = (problem: string): SeenReleases => ({ ...own, problem: `${source} ${problem}: the releases that are built in count` });

  const read = async (): Promise<SeenReleases> => {
    const at = clock.now();
    try {
      const object = await configMaps.tryGet(place);
      const resourceVersion = object?.metadata?.resourceVersion;
      if (known === undefined || resourceVersion === undefined || known.resourceVersion !== resourceVersion)
        keep(at, resourceVersion, object === undefined ? own : extended(object));
      else known = { ...known, at };
    } catch (thrown) {
      const why = isForbidden(thrown) ? "may not be read by the operator" : "cannot be read now";
      // What it said before is the best that anybody knows.
      keep(at, undefined, known === undefined || known.seen.problem !== undefined ? wrong(why) : known.seen);
    }
    return known?.seen ?? own;
  };

  const keep = (at: number, resourceVersion: string | undefined, seen: SeenReleases): void => {
    if (seen.problem !== undefined && seen.problem !== known?.seen.problem)
      log.warn({ problem: seen.problem }, "Releases are not extended");
    known = { at, resourceVersion, seen };
  };

  const extended = ({ data = {} }: ConfigMap): SeenReleases => {
    const text = data[RELEASES_KEY];
    if (text === undefined) return wrong(`has no key ${RELEASES_KEY}`);
    if (text.length > MOST_CHARACTERS) return wrong(`holds more than ${MOST_CHARACTERS / 1024} KiB`);
    try {
      return { catalogue: extendCatalogue(builtInCatalogue, text) };
    } catch (thrown) {
      if (isConfigError(thrown)) return wrong(`is not understood (${bounded(thrown.detail, LONGEST_REASON)})`);
      throw thrown;
    }
  };

  return {
    async read() {
      if (known !== undefined && elapsedMs(known.at, clock.now()) < FRESH_MS) return known.seen;
      reading ??= read().finally(() => (reading = undefined));
      return reading;
    },
  };
}
