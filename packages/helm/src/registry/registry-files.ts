import { createHash } from "node:crypto";

/** A chart as it is packed. */
export interface PackedChart {
  readonly name: string;
  readonly version: string;
  readonly appVersion?: string;
  /** The `.tgz`. */
  readonly archive: Buffer;
}

/** What stands at a path of a registry. */
export interface RegistryFile {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const MANIFEST = "application/vnd.oci.image.manifest.v1+json";
const CONFIG = "application/vnd.cncf.helm.config.v1+json";
const LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

/**
 * Everything that a registry answers to who pulls these charts from `oci://<host>/<folder>/<chart>`, by path. Pure. It answers GET and HEAD alike; nothing is pushed.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md and https://helm.sh/docs/topics/registries/
 * @param folder `charts`; in it each chart is a repository of its name, with its versions as tags
 */
export function registryFiles(folder: string, charts: readonly PackedChart[]): ReadonlyMap<string, RegistryFile> {
  const files = new Map<string, RegistryFile>([["/v2/", json({})]]);
  const tags = new Map<string, string[]>();
  for (const { name, version, appVersion, archive } of charts) {
    const repository = `/v2/${folder}/${name}`;
    const config = Buffer.from(JSON.stringify({ apiVersion: "v2", name, version, ...(appVersion === undefined ? {} : { appVersion }) }));
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: { mediaType: CONFIG, digest: digestOf(config), size: config.length },
        layers: [{ mediaType: LAYER, digest: digestOf(archive), size: archive.length }],
      }),
    );
    for (const blob of [config, archive])
      files.set(`${repository}/blobs/${digestOf(blob)}`, { body: blob, headers: headersOf(blob, "application/octet-stream") });
    // A tag has no plus, which versions may have.
    const tag = version.replaceAll("+", "_");
    for (const reference of [tag, digestOf(manifest)])
      files.set(`${repository}/manifests/${reference}`, { body: manifest, headers: headersOf(manifest, MANIFEST) });
    tags.set(name, [...(tags.get(name) ?? []), tag]);
  }
  // In lexical order, as the specification asks.
  for (const [name, all] of tags) files.set(`/v2/${folder}/${name}/tags/list`, json({ name: `${folder}/${name}`, tags: all.toSorted() }));
  return files;
}

function json(value: object): RegistryFile {
  const body = Buffer.from(JSON.stringify(value));
  return { body, headers: { "content-type": "application/json", "content-length": String(body.length) } };
}

function headersOf(body: Buffer, type: string): Readonly<Record<string, string>> {
  return { "content-type": type, "content-length": String(body.length), "docker-content-digest": digestOf(body) };
}

function digestOf(body: Buffer): string {
  return `sha256:${createHash("sha256").update(body).digest("hex")}`;
}
