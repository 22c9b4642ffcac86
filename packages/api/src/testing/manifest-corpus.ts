import type { KubeRequest, KubeTransport } from "@talos-operator/ports";

/** One manifest with the verdict that the published CRDs gave it on a genuine kube-apiserver. */
export interface ManifestCase {
  /** File name; also the name of the case. */
  readonly file: string;
  readonly object: KubeManifest;
  /** Verdict of a create, or of an update or status write, with unknown fields only warned about. */
  readonly expected: Verdict;
  /** Verdict of a server-side apply, which refuses fields the schema does not declare. */
  readonly apply: Verdict;
  /** Object that must be stored first; the case is then an update of it. */
  readonly updateOf?: KubeManifest;
  /** True: the object is created from its spec, and the case writes status through the subresource. */
  readonly isStatusWrite: boolean;
  /** `spec` as it must be stored, defaults filled in; absent where none was recorded. */
  readonly storedSpec?: unknown;
}

/** `accept` when the server answered 2xx. */
export type Verdict = "accept" | "reject";

/** A manifest as parsed. */
export interface KubeManifest {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent in manifests that are to be refused for it. */
  readonly metadata?: { readonly name: string; readonly namespace?: string };
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** What was wrong with one case. */
export interface CorpusDifference {
  readonly file: string;
  readonly check: "create" | "update" | "status" | "apply" | "stored spec";
  readonly want: string;
  readonly got: string;
}

/** What a corpus is run against: a server with the CRDs installed and the namespace there. */
export interface CorpusSubject {
  readonly transport: KubeTransport;
  /** Namespace for manifests that name none, and for those that do: all go there. Should be empty. */
  readonly namespace: string;
  /** Plural of a kind, lower case. */
  readonly pluralOf: (kind: string) => string;
  /** Whether a kind lives in namespaces. Default: every kind does. */
  readonly isNamespaced?: (kind: string) => boolean;
}

/**
 * Sends every manifest the way `kubectl create` and `kubectl apply --server-side` would, as a dry run, and compares verdicts
 * and stored specs. What an update needs beforehand is stored, and deleted again.
 *
 * @returns the differences; empty when the subject agrees with the genuine server on every case
 */
export async function runManifestCorpus(subject: CorpusSubject, cases: readonly ManifestCase[]): Promise<readonly CorpusDifference[]> {
  const differences: CorpusDifference[] = [];
  for (const manifest of cases) differences.push(...(await runCase(subject, manifest)));
  return differences;
}

async function runCase(subject: CorpusSubject, manifest: ManifestCase): Promise<CorpusDifference[]> {
  const { file } = manifest;
  const differences: CorpusDifference[] = [];
  const differ = (check: CorpusDifference["check"], want: string, got: string) => differences.push({ file, check, want, got });
  const before = manifest.updateOf ?? (manifest.isStatusWrite ? withoutStatus(manifest.object) : undefined);

  const write = before === undefined ? await create(subject, manifest.object, true) : await writeOver(subject, manifest, before);
  const check = before === undefined ? "create" : manifest.isStatusWrite ? "status" : "update";
  if (write.verdict !== manifest.expected) differ(check, manifest.expected, `${write.verdict}: ${write.message}`);
  if (write.verdict === "accept" && manifest.storedSpec !== undefined) {
    const want = canonical(manifest.storedSpec);
    // A spec of null is dropped before it is stored.
    const got = canonical(write.spec ?? null);
    if (want !== got) differ("stored spec", want, got);
  }

  if (manifest.updateOf !== undefined) await apply(subject, manifest.updateOf, false);
  const applied = await apply(subject, manifest.object, true);
  if (manifest.updateOf !== undefined) await remove(subject, manifest.updateOf);
  if (applied.verdict !== manifest.apply) differ("apply", manifest.apply, `${applied.verdict}: ${applied.message}`);
  return differences;
}

async function writeOver(subject: CorpusSubject, manifest: ManifestCase, before: KubeManifest): Promise<Answer> {
  const stored = await create(subject, before, false);
  if (stored.verdict === "reject") throw new Error(`${manifest.file}: the object to write over was refused: ${stored.message}`);
  try {
    return await send(subject, {
      method: "PUT",
      path: `${collection(subject, before)}/${before.metadata?.name}${manifest.isStatusWrite ? "/status" : ""}`,
      query: { dryRun: "All", fieldValidation: "Warn" },
      body: inNamespace(subject, {
        ...manifest.object,
        metadata: { name: "", ...manifest.object.metadata, ...versionOf(stored.resourceVersion) },
      }),
    });
  } finally {
    await remove(subject, before);
  }
}

interface Answer {
  readonly verdict: Verdict;
  readonly message: string;
  readonly spec: unknown;
  readonly resourceVersion: string | undefined;
}

function create(subject: CorpusSubject, object: KubeManifest, isDryRun: boolean): Promise<Answer> {
  return send(subject, {
    method: "POST",
    path: collection(subject, object),
    query: { fieldValidation: "Warn", ...(isDryRun && { dryRun: "All" }) },
    body: inNamespace(subject, object),
  });
}

function apply(subject: CorpusSubject, object: KubeManifest, isDryRun: boolean): Promise<Answer> {
  return send(subject, {
    method: "PATCH",
    // Without a name the server has something to say too.
    path: `${collection(subject, object)}/${object.metadata?.name ?? ""}`,
    query: { fieldManager: "manifest-corpus", fieldValidation: "Strict", ...(isDryRun && { dryRun: "All" }) },
    headers: { "content-type": "application/apply-patch+yaml" },
    body: inNamespace(subject, object),
  });
}

async function remove(subject: CorpusSubject, object: KubeManifest): Promise<void> {
  const gone = await send(subject, { method: "DELETE", path: `${collection(subject, object)}/${object.metadata?.name}` });
  if (gone.verdict === "reject") throw new Error(`${object.kind}/${object.metadata?.name} could not be deleted: ${gone.message}`);
}

async function send({ transport }: CorpusSubject, request: KubeRequest): Promise<Answer> {
  const { status, body } = await transport.send(request);
  const object = (typeof body === "object" && body !== null ? body : {}) as {
    message?: string;
    spec?: unknown;
    metadata?: { resourceVersion?: string };
  };
  return {
    verdict: status >= 200 && status < 300 ? "accept" : "reject",
    message: `${status} ${object.message ?? ""}`,
    spec: object.spec,
    resourceVersion: object.metadata?.resourceVersion,
  };
}

function collection({ namespace, pluralOf, isNamespaced }: CorpusSubject, { apiVersion, kind }: KubeManifest): string {
  const place = isNamespaced?.(kind) === false ? "" : `/namespaces/${namespace}`;
  return `/apis/${apiVersion}${place}/${pluralOf(kind)}`;
}

function inNamespace({ namespace, isNamespaced }: CorpusSubject, object: KubeManifest): unknown {
  if (isNamespaced?.(object.kind) === false) return object;
  return { ...object, metadata: { ...object.metadata, namespace } };
}

function withoutStatus(manifest: KubeManifest): KubeManifest {
  const { apiVersion, kind, metadata, spec } = manifest;
  return { apiVersion, kind, ...(metadata && { metadata }), spec };
}

function versionOf(resourceVersion: string | undefined): { readonly resourceVersion?: string } {
  return resourceVersion === undefined ? {} : { resourceVersion };
}

/** JSON with sorted keys, for comparison. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
