import { gzipSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { machine } from "@talos-operator/talos/protocol";
import type { common } from "@talos-operator/talos/protocol";
import { grpcStatus, RpcError } from "../datacenter/call.ts";
import { hostnameOf } from "../node/identity.ts";
import { cmdlineOf } from "../node/kernel-arguments.ts";
import type { Machine } from "../node/machine.ts";
import type { HandlerContext } from "./context.ts";
import { chunksOf, chunksOfBytes } from "./log-handlers.ts";
import { tarOf } from "./tar.ts";

/** The few files of a simulated machine. */
function filesOf(state: Machine, kernelArguments: ReadonlyMap<string, readonly string[]> = new Map()): Readonly<Record<string, string>> {
  return {
    "/proc/sys/kernel/random/boot_id": `${state.bootId}\n`,
    "/etc/os-release": `NAME="Talos"\nID=talos\nVERSION_ID=${state.hardware.talosVersion}\nPRETTY_NAME="Talos (${state.hardware.talosVersion})"\n`,
    "/etc/hostname": `${hostnameOf(state)}\n`,
    "/proc/cmdline": `${cmdlineOf(state, kernelArguments)}\n`,
    "/proc/uptime": "0.00 0.00\n",
  };
}

/** MachineService/Read. @throws RpcError NOT_FOUND */
export async function* read(context: HandlerContext, { path }: machine.ReadRequest): AsyncIterable<common.Data> {
  const text = filesOf(context.cell.state, context.world.kernelArguments)[path];
  if (text === undefined) throw new RpcError(grpcStatus.notFound, `stat ${path}: no such file or directory`);
  await Promise.resolve();
  yield* chunksOf(text);
}

/** MachineService/Copy: the file, or the files below a folder, as a whole gzip tar archive. @throws RpcError UNKNOWN when there is none */
export async function* copy(context: HandlerContext, request: machine.CopyRequest): AsyncIterable<common.Data> {
  const found = filesBelow(context.cell.state, request.rootPath);
  await Promise.resolve();
  const modified = Math.floor(context.cell.state.bootedAt / 1000);
  const archive = tarOf(
    found.map(({ relative, text }) => ({ name: relative, content: Buffer.from(text) })),
    modified,
  );
  yield* chunksOfBytes(gzipSync(archive));
}

/** MachineService/DiskUsage of the few files that a simulated machine has. */
export async function* diskUsage(context: HandlerContext, request: machine.DiskUsageRequest): AsyncIterable<machine.DiskUsageInfo> {
  await Promise.resolve();
  for (const root of request.paths) {
    const found = filesBelow(context.cell.state, root);
    if (request.all) {
      for (const { path, relative, text } of found)
        yield create(machine.DiskUsageInfoSchema, { name: path, relativeName: relative, size: BigInt(text.length) });
    }
    const size = found.reduce((sum, { text }) => sum + text.length, 0);
    yield create(machine.DiskUsageInfoSchema, { name: root, relativeName: ".", size: BigInt(size) });
  }
}

interface FoundFile {
  readonly path: string;
  readonly relative: string;
  readonly text: string;
}

/** @throws RpcError UNKNOWN when nothing is there */
function filesBelow(state: Machine, path: string): readonly FoundFile[] {
  const files = filesOf(state);
  const own = files[path];
  if (own !== undefined) return [{ path, relative: path.slice(path.lastIndexOf("/") + 1), text: own }];
  const prefix = path === "/" ? "/" : `${path.replace(/\/$/, "")}/`;
  const found = Object.entries(files).filter(([name]) => name.startsWith(prefix));
  if (found.length === 0) throw new RpcError(grpcStatus.unknown, `lstat ${path}: no such file or directory`);
  return found.map(([name, text]) => ({ path: name, relative: name.slice(prefix.length), text }));
}

const goDirectoryMode = 0x8000_01ed;

/** Where etcd keeps its data. */
const etcdDataPath = "/var/lib/etcd";

/** Folders with something in them, and the one that a control plane makes for etcd before it starts. */
function foldersOf(state: Machine): ReadonlySet<string> {
  const folders = new Set(Object.keys(filesOf(state)).flatMap((path) => parentsOf(path)));
  const etcd = state.services["etcd"]?.state;
  if (state.etcd.data !== undefined || (etcd !== undefined && etcd !== "Waiting"))
    for (const path of [...parentsOf(`${etcdDataPath}/member`), ...(state.etcd.data === undefined ? [] : [`${etcdDataPath}/member`])])
      folders.add(path);
  return folders;
}

function parentsOf(path: string): readonly string[] {
  const parts = path.split("/").slice(1, -1);
  return ["/", ...parts.map((_part, index) => `/${parts.slice(0, index + 1).join("/")}`)];
}

/** MachineService/List: the folder itself and what is in it; below that only when asked to recurse. @throws RpcError UNKNOWN when nothing is there */
export async function* list(context: HandlerContext, request: machine.ListRequest): AsyncIterable<machine.FileInfo> {
  const { state } = context.cell;
  const root = `/${request.root}`.replaceAll(/\/+/g, "/").replace(/\/$/, "") || "/";
  const files = filesOf(state);
  const folders = foldersOf(state);
  const text = files[root];
  if (text === undefined && !folders.has(root)) throw new RpcError(grpcStatus.unknown, `lstat ${root}: no such file or directory`);
  const modified = BigInt(Math.floor(state.bootedAt / 1000));
  await Promise.resolve();
  const entry = (path: string, relativeName: string): machine.FileInfo =>
    folders.has(path)
      ? create(machine.FileInfoSchema, { name: path, size: 4_096n, mode: goDirectoryMode, modified, isDir: true, relativeName })
      : create(machine.FileInfoSchema, { name: path, size: BigInt(files[path]?.length ?? 0), mode: 0o644, modified, relativeName });
  if (text !== undefined) return yield entry(root, root.slice(root.lastIndexOf("/") + 1));
  yield entry(root, ".");
  const prefix = root === "/" ? "/" : `${root}/`;
  const deepest = !request.recurse ? 1 : request.recursionDepth === 0 ? Number.POSITIVE_INFINITY : request.recursionDepth;
  for (const path of [...folders, ...Object.keys(files)].toSorted()) {
    const relative = path.slice(prefix.length);
    if (path !== root && path.startsWith(prefix) && relative.split("/").length <= deepest) yield entry(path, relative);
  }
}
