import { randomBytes } from "node:crypto";
import { labels } from "@talos-operator/api";
import type { KubeClient } from "@talos-operator/kube-runtime";
import type { Logger } from "@talos-operator/ports";
import { SimulatorError } from "@talos-operator/simulator";
import { errorCode } from "../cli-error.ts";
import { applyObject } from "./apply-object.ts";
import type { DataFolder } from "./data-folder.ts";

/** What `examples/talos-etcd-backup.yaml` names. */
const BUCKET = "talos-backups";
const SECRET = "talos-backup-s3";

/** A small S3 endpoint for the backups of a demo. */
export interface DemoStorage {
  /** `127.0.0.1:9333` */
  readonly host: string;
  /** Writes the Secret that leads into its bucket. */
  tell(client: KubeClient): Promise<void>;
  close(): Promise<void>;
}

export interface DemoStorageOptions {
  /** `undefined` keeps nothing. */
  readonly folder: DataFolder | undefined;
  /** Of 127.0.0.1. */
  readonly port: number;
  readonly log: Logger;
  /** It cannot be served, and why: the demo goes on without. */
  readonly onMissing: (why: string) => void;
}

/** Serves one bucket on loopback, with keys that are made once for a data folder. `undefined` where something else has the port, or its folder cannot be used. */
export async function openDemoStorage({ folder, port, log, onMissing }: DemoStorageOptions): Promise<DemoStorage | undefined> {
  const keys = keysOf(folder);
  const { serveS3 } = await import("@talos-operator/simulator/object-storage");
  try {
    const served = await serveS3({
      ...keys,
      port,
      buckets: [BUCKET],
      ...(folder === undefined ? {} : { folder: folder.file("object-storage") }),
      onError: (err) => log.error({ err }, "The S3 endpoint of the demo failed"),
    });
    return {
      host: new URL(served.endpoint).host,
      async tell(client) {
        // The endpoint for EtcdBackups, which have no field for it.
        const texts = { ...keys, endpoint: served.endpoint };
        const data = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text).toString("base64")]));
        const metadata = { name: SECRET, namespace: "default", labels: { [labels.backupStore]: "true" } };
        const secret = { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data };
        await applyObject(client, secret, "talos-operator-demo");
      },
      close: () => served.close(),
    };
  } catch (error) {
    // A folder that cannot be written ends the demo in words of its own, as soon as something that it cannot do without is written.
    if (!(error instanceof SimulatorError) || (error.code !== "CANNOT_LISTEN" && error.code !== "BAD_OBJECT_STORAGE")) throw error;
    onMissing(errorCode(error.cause) ?? error.message);
    return undefined;
  }
}

/** Kept with the objects that they lead to: a Secret that somebody changed is put right at the next start. */
function keysOf(folder: DataFolder | undefined): { readonly accessKeyID: string; readonly secretAccessKey: string } {
  const [accessKeyID = "", secretAccessKey = ""] = (folder?.read("object-storage.keys") ?? "").split("\n");
  if (accessKeyID !== "" && secretAccessKey !== "") return { accessKeyID, secretAccessKey };
  const made = {
    accessKeyID: `DEMO${randomBytes(8).toString("hex").toUpperCase()}`,
    secretAccessKey: randomBytes(24).toString("base64url"),
  };
  folder?.keep(`${made.accessKeyID}\n${made.secretAccessKey}\n`, "object-storage.keys");
  return made;
}
