import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import type { common } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import { hostnameOf } from "../node/identity.ts";
import type { Machine } from "../node/machine.ts";
import type { HandlerContext } from "./context.ts";
import { chunksOf } from "./log-handlers.ts";

/** The few files of a simulated machine. */
function filesOf(state: Machine): Readonly<Record<string, string>> {
  return {
    "/proc/sys/kernel/random/boot_id": `${state.bootId}\n`,
    "/etc/os-release": `NAME="Talos"\nID=talos\nVERSION_ID=${state.hardware.talosVersion}\nPRETTY_NAME="Talos (${state.hardware.talosVersion})"\n`,
    "/etc/hostname": `${hostnameOf(state)}\n`,
    "/proc/cmdline": `talos.platform=${state.hardware.platform}\n`,
    "/proc/uptime": "0.00 0.00\n",
  };
}

/** MachineService/Read. @throws RpcError NOT_FOUND */
export async function* read(context: HandlerContext, { path }: machine.ReadRequest): AsyncIterable<common.Data> {
  const text = filesOf(context.cell.state)[path];
  if (text === undefined) throw new RpcError(grpcStatus.notFound, `stat ${path}: no such file or directory`);
  await Promise.resolve();
  yield* chunksOf(text);
}

const goDirectoryMode = 0x8000_01ed;

/** MachineService/List: the folder itself and, when asked to recurse, the files below it. */
export async function* list(context: HandlerContext, request: machine.ListRequest): AsyncIterable<machine.FileInfo> {
  const { state } = context.cell;
  const root = request.root.replace(/\/$/, "") || "/";
  const prefix = root === "/" ? "/" : `${root}/`;
  const below = Object.entries(filesOf(state)).filter(([path]) => path.startsWith(prefix));
  if (below.length === 0) throw new RpcError(grpcStatus.unknown, `stat ${root}: no such file or directory`);
  const modified = BigInt(Math.floor(state.bootedAt / 1000));
  await Promise.resolve();
  yield create(machine.FileInfoSchema, { name: root, size: 4_096n, mode: goDirectoryMode, modified, isDir: true, relativeName: "." });
  if (!request.recurse) return;
  for (const [path, text] of below) {
    yield create(machine.FileInfoSchema, {
      name: path,
      size: BigInt(text.length),
      mode: 0o644,
      modified,
      relativeName: path.slice(prefix.length),
    });
  }
}
