import { clusterRecordResource, talosControlPlaneResource, type ClusterRecord } from "@talos-operator/api";
import { isAlreadyExists, isNotFound, type KubeObject } from "@talos-operator/kube-runtime";
import type { SimulatedMachine } from "@talos-operator/simulator";
import { secretType, type Secret } from "../../world/kinds.ts";
import { pick } from "../fault.ts";
import { addressesOf, CLUSTER_NAME, NAMESPACE } from "../scenario.ts";
import { begin, bundleKey, LATER_FIELD, ofCluster, readRecord, recordThat, type TroubleInput } from "./input.ts";

/** The bundle Secret goes; in `bundle-changed` one with other keys comes in between. */
export async function loseBundle(input: TroubleInput, lastsMs: number): Promise<void> {
  const { client, timers, trace, stage, kind, now } = input;
  await begin(input, lastsMs);
  const secrets = client.resource<Secret>(secretType);
  // Before the record names them, keys have reached no machine, and may be made anew.
  await recordThat(input, () => true);
  const bundle = await secrets.tryGet(bundleKey);
  if (bundle === undefined) return;
  const { generation } = stage;
  await takeAway(input, "Secret");
  // A read of the record that fails at the same time must not make the cluster a new one.
  stage.answerReads(`/clusterrecords/${CLUSTER_NAME}`, 404, 1);
  if (kind === "bundle-changed") {
    const { bundle: text = "" } = bundle.data ?? {};
    const changed = Buffer.from(text, "base64")
      .toString("utf8")
      .replace(/id: .*/, `id: ${Buffer.alloc(32, 7).toString("base64")}`);
    await secrets.create({
      ...bundle,
      metadata: { ...bundleKey, labels: bundle.metadata?.labels ?? {} },
      data: { bundle: Buffer.from(changed).toString("base64") },
    });
    stage.bundleGoneSince = now();
    await timers.sleep(lastsMs);
    if (stage.generation === generation && (await secrets.tryGet(bundleKey)) !== undefined) await secrets.delete(bundleKey);
  } else await timers.sleep(lastsMs);
  const there = await secrets.tryGet(bundleKey);
  // That a product makes no new keys is asked in the end; what was sent before may turn up only now.
  if (there !== undefined) trace("other keys are there");
  if (there?.data?.["bundle"] !== bundle.data?.["bundle"] && !(await isWipedForGood(input, generation))) await putBack(input, bundle);
  stage.bundleGoneSince = undefined;
}

async function takeAway({ client, stage, now }: TroubleInput, kind: "Secret" | "ClusterRecord"): Promise<void> {
  const key = kind === "Secret" ? bundleKey : ofCluster;
  const objects = client.resource(kind === "Secret" ? secretType : clusterRecordResource);
  try {
    await objects.patch(key, { type: "merge", value: { metadata: { finalizers: null } } });
    await objects.delete(key);
  } catch (thrown) {
    // Another trouble took it first.
    if (!isNotFound(thrown)) throw thrown;
  }
  if (kind === "Secret") stage.bundleGoneSince = now();
}

/** A backup takes the place of what was made there meanwhile. */
async function putBack(input: TroubleInput, object: KubeObject): Promise<void> {
  const { name = "", labels = {}, finalizers = [] } = object.metadata ?? {};
  const kind = object.kind === "ClusterRecord" ? "ClusterRecord" : "Secret";
  const objects = input.client.resource(kind === "ClusterRecord" ? clusterRecordResource : secretType);
  if ((await objects.tryGet({ namespace: NAMESPACE, name })) !== undefined) await takeAway(input, kind);
  await objects.create({ ...object, metadata: { namespace: NAMESPACE, name, labels, finalizers } });
}

/** Record and bundle of a cluster that runs. */
export async function loseAll(input: TroubleInput, lastsMs: number): Promise<void> {
  const controlPlanes = input.client.resource<Conditioned>(talosControlPlaneResource);
  for (;;) {
    const conditions = (await controlPlanes.tryGet(ofCluster))?.status?.conditions ?? [];
    if (conditions.some((one) => one.type === "Bootstrapped" && one.status === "True")) break;
    await input.timers.sleep(1000);
  }
  await loseBoth(input, lastsMs);
}

/** Record and bundle, as early as the first machines have their configuration. */
export async function loseBeforeFounding(input: TroubleInput, lastsMs: number): Promise<void> {
  await input.tookEffect("T2", 1 + Math.floor(input.random.fraction() * 2));
  await input.timers.sleep(Math.floor(input.random.fraction() * 3_000));
  await loseBoth(input, lastsMs);
}

async function loseBoth(input: TroubleInput, lastsMs: number): Promise<void> {
  const { client, timers, trace, stage, kind } = input;
  const { record, bundle } = await bothThere(input);
  const { generation } = stage;
  trace(`trouble ${kind} for ${lastsMs} ms`);
  await takeAway(input, "Secret");
  await takeAway(input, "ClusterRecord");
  await timers.sleep(lastsMs);
  // Whoever lost everything else as well imports the cluster.
  const there = await client.resource<Secret>(secretType).tryGet(bundleKey);
  // Other keys were sent before, and arrived when those of the machines were gone.
  const hasTheirs = there?.data?.["bundle"] !== undefined && there.data["bundle"] === bundle.data?.["bundle"];
  if (!stage.isManagementLost && !(await isWipedForGood(input, generation)) && !hasTheirs) {
    await putBack(input, record);
    await putBack(input, bundle);
  }
  stage.bundleGoneSince = undefined;
}

/** Record and bundle, once both are there: another trouble may have taken the keys, or put others in their place, and gives them back. */
async function bothThere(input: TroubleInput): Promise<{ readonly record: ClusterRecord; readonly bundle: Secret }> {
  for (;;) {
    const record = await recordThat(input, () => true);
    const bundle = await input.client.resource<Secret>(secretType).tryGet(bundleKey);
    if (bundle !== undefined && input.stage.bundleGoneSince === undefined) return { record, bundle };
    await input.timers.sleep(1000);
  }
}

/**
 * The cluster was deleted and its machines were wiped: keys or a record of an object that is gone would only be in the way, all the more of the cluster that was
 * made since under its name.
 */
async function isWipedForGood({ client, stage }: TroubleInput, generation: number): Promise<boolean> {
  if (stage.generation !== generation) return true;
  if (stage.desired !== undefined || stage.deletionPolicy !== "reset") return false;
  return (await client.resource(talosControlPlaneResource).tryGet(ofCluster)) === undefined;
}

/** Right after etcd was bootstrapped, before the others joined. */
export async function loseRecord(input: TroubleInput, lastsMs: number): Promise<void> {
  const { datacenter, timers, trace, stage, scenario } = input;
  const founded = (): SimulatedMachine | undefined =>
    addressesOf(scenario)
      .controlPlanes.map((address) => datacenter.machine(address))
      .find(({ state }) => state.etcd.data !== undefined);
  while (founded() === undefined) await timers.sleep(100);
  const founder = founded();
  trace(`trouble record-lost for ${lastsMs} ms`);
  stage.isRecordLost = true;
  founder?.setConnected(false);
  await takeAway(input, "ClusterRecord");
  await timers.sleep(lastsMs);
  founder?.setConnected(true);
}

/** A newer release was here for a moment, whose CRD stays: it wrote of a machine what this one does not know. */
export async function writeNewer(input: TroubleInput, lastsMs: number): Promise<void> {
  const { client, timers, stage, now } = input;
  await begin(input, lastsMs);
  const records = client.resource(clusterRecordResource);
  const write = async (word: string | undefined): Promise<string | undefined> => {
    for (;;) {
      const record = await recordThat(input, ({ spec }) => (spec.knownControlPlanes ?? []).length > 0);
      const [first, ...others] = record.spec.knownControlPlanes ?? [];
      const { [LATER_FIELD]: _old, ...known } = first as unknown as Record<string, unknown>;
      const changed = word === undefined ? known : { ...known, [LATER_FIELD]: word };
      const spec = { ...record.spec, knownControlPlanes: [changed, ...others] };
      try {
        return (await records.update({ ...record, spec } as KubeObject)).metadata?.uid;
      } catch {
        // Somebody wrote in between.
        await timers.sleep(10);
      }
    }
  };
  const written = await write("of tomorrow");
  stage.newerRecordSince = now();
  await timers.sleep(lastsMs);
  const kept = await readRecord(input);
  // Another trouble may have taken the record, and what was written with it.
  const isTheSame = kept?.metadata.uid === written;
  if (isTheSame && (kept?.spec.knownControlPlanes?.[0] as Record<string, unknown> | undefined)?.[LATER_FIELD] === undefined)
    throw new Error("what a newer release wrote into the record is gone");
  stage.newerRecordSince = undefined;
  await write(undefined);
}

type Conditioned = KubeObject & {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

/**
 * Somebody else's Secret has the name of the bundle or of the kubeconfig. Where the operator's own is there already, somebody puts theirs in the place of the
 * kubeconfig; the keys are lost in other troubles.
 */
export async function takeName({ client, timers, random, trace, now, stage }: TroubleInput, lastsMs: number): Promise<void> {
  const secrets = client.resource<Secret>(secretType);
  const drawn = pick([bundleKey.name, `${CLUSTER_NAME}-kubeconfig`], random);
  const name = stage.wasReady ? `${CLUSTER_NAME}-kubeconfig` : drawn;
  const key = { namespace: NAMESPACE, name };
  const data = { note: Buffer.from("of somebody else").toString("base64") };
  trace(`trouble names-taken: ${name} for ${lastsMs} ms`);
  for (;;) {
    const own = await secrets.tryGet(key);
    if (own !== undefined) await secrets.delete(key);
    try {
      await secrets.create({ apiVersion: "v1", kind: "Secret", metadata: key, type: "Opaque", data });
      stage.takenName = name;
      break;
    } catch (thrown) {
      // The operator made its own anew in between.
      if (!isAlreadyExists(thrown)) throw thrown;
    }
  }
  const until = now() + (name === bundleKey.name ? lastsMs : 300_000 + lastsMs);
  while (now() < until) {
    await timers.sleep(5_000);
    const there = await secrets.tryGet(key);
    // Whoever loses a management cluster loses it, too.
    if (there === undefined && stage.isManagementLost) return;
    if (JSON.stringify(there?.data) !== JSON.stringify(data)) throw new Error(`the operator changed ${name}`);
  }
  await secrets.delete(key);
  stage.takenName = undefined;
}
