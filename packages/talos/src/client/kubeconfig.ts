import { gunzipSync } from "node:zlib";

import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";

import { MachineService } from "../gen/machine/machine_pb.ts";
import { methodOf } from "../method-of.ts";
import { collectBytes } from "./byte-stream.ts";
import { EFFECT_TIMEOUT_MS } from "./call.ts";
import type { Caller, CallOptions } from "./call.ts";
import { TalosError } from "./errors.ts";

export interface KubeconfigCalls {
  /**
   * An administrator's kubeconfig, made by the machine for this call. YAML text with a private key in it: never log it.
   *
   * Needs `os:admin` and a control plane machine. Default deadline 30 s.
   */
  kubeconfig(options?: CallOptions): Promise<string>;
}

const KUBECONFIG = methodOf(MachineService.method.kubeconfig);
const MAX_BYTES = 4 * 1024 * 1024;

export function kubeconfigCalls(caller: Caller): KubeconfigCalls {
  return {
    async kubeconfig(options) {
      const limits = { maxBytes: MAX_BYTES, timeoutMs: EFFECT_TIMEOUT_MS };
      const archive = await collectBytes(caller, KUBECONFIG, create(EmptySchema), limits, options);
      try {
        return new TextDecoder("utf-8", { fatal: true }).decode(firstFileOf(archive));
      } catch (thrown) {
        // The cause would carry bytes of the kubeconfig; its kind is enough.
        const facts = { node: options?.node ?? caller.channel.target.address, method: KUBECONFIG.path };
        const reason = thrown instanceof ArchiveFault ? thrown.message : "not a gzip archive with a text file";
        throw new TalosError("MALFORMED_REPLY", facts, reason);
      }
    },
  };
}

class ArchiveFault extends Error {}

const BLOCK = 512;

/**
 * Content of the first file in a gzip tar archive.
 *
 * The machine closes the gzip stream and never the tar writer, so the end blocks, and the padding after the file, are missing;
 * tar readers that wait for them fail. We look at the one header and take as many bytes as it says.
 *
 * @see talos `internal/app/machined/internal/server/v1alpha1/v1alpha1_server.go` Kubeconfig
 */
function firstFileOf(archive: Uint8Array): Uint8Array {
  const tar = gunzipSync(archive, { maxOutputLength: MAX_BYTES });
  if (tar.length < BLOCK) throw new ArchiveFault("archive has no file header");
  const header = tar.subarray(0, BLOCK);
  if (checksumOf(header) !== octalAt(header, 148, 8)) throw new ArchiveFault("file header of the archive has a wrong checksum");
  const sizeBytes = octalAt(header, 124, 12);
  if (BLOCK + sizeBytes > tar.length) throw new ArchiveFault(`archive ends inside the file: ${tar.length - BLOCK} of ${sizeBytes} bytes`);
  return tar.subarray(BLOCK, BLOCK + sizeBytes);
}

function octalAt(header: Uint8Array, offset: number, length: number): number {
  const text = Buffer.from(header.subarray(offset, offset + length))
    .toString("latin1")
    .replaceAll(/[\0 ]/g, "");
  if (!/^[0-7]+$/.test(text)) throw new ArchiveFault("file header of the archive is unreadable");
  return Number.parseInt(text, 8);
}

/** Sum of the header's bytes with the checksum field itself read as blanks. */
function checksumOf(header: Uint8Array): number {
  return header.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0);
}
