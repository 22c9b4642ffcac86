// Genuine parts: kube-apiserver, etcd, kubectl and others, built once from pinned Go modules into a cache folder (hack/tools).
// A real test declares in its first line which of them it needs, and finds these alone in the folder TALOS_OPERATOR_TOOLS.
// Plain JavaScript for Node 20: the gate asks for parts before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { start } from "./children.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** A folder that a variable names, as a path that links may hold; undefined also where the variable is empty. */
const folderIn = (name) => (process.env[name] ? resolve(process.env[name]) : undefined);

/** The folder of everything that is kept between runs. */
export const cacheFolder = join(folderIn("XDG_CACHE_HOME") ?? join(homedir(), ".cache"), "talos-operator");

/** Where parts are built. */
const toolsFolder = folderIn("TALOS_OPERATOR_TOOLS") ?? join(cacheFolder, "tools");

/** What envtest's folder holds; it serves in place of ours. */
const ASSETS = ["etcd", "kube-apiserver", "kubectl"];

/** Parts that a real test file declares in its first line: `// Genuine parts: etcd, kube-apiserver`. @throws when it declares none */
export function partsOf(file) {
  const [, list] = /^\/\/ Genuine parts: (.+)\n/.exec(readFileSync(join(root, file), "utf8")) ?? [];
  if (list === undefined) throw new Error(`${file}: the first line must name its parts: // Genuine parts: etcd, kube-apiserver, kubectl`);
  return list === "none" ? [] : list.split(", ");
}

/** Parts of all these files, each once. */
export function partsOfAll(files) {
  return [...new Set(files.flatMap(partsOf))];
}

/**
 * Builds what is not current.
 *
 * @param compiles how many packages are compiled at once; default: as many as there are cores
 * @returns the path of each part by its name
 * @throws when one cannot be built, with a sentence that says what to do
 */
export async function ensureParts(names, compiles) {
  const assets = folderIn("KUBEBUILDER_ASSETS");
  const given = assets === undefined ? [] : ASSETS.filter((name) => names.includes(name));
  const absent = given.filter((name) => !existsSync(join(assets, name)));
  if (absent.length > 0)
    throw new Error(`KUBEBUILDER_ASSETS names ${assets}, which lacks ${absent.join(", ")}: put them there, or unset it`);
  const own = names.filter((name) => !given.includes(name));
  const missing = notCurrent(own);
  if (missing.length > 0) {
    if (spawnSync("go", ["version"]).status !== 0)
      throw new Error(
        `Genuine parts are missing, and there is no Go to build them: install Go 1.26 or newer (missing in ${toolsFolder}: ${missing.join(", ")}; ${ASSETS.join(", ")} are also taken from KUBEBUILDER_ASSETS)`,
      );
    process.stderr.write(`Building ${missing.join(", ")} in ${toolsFolder} (once; the first build takes about ten minutes on two cores)\n`);
    await build(missing, compiles);
  }
  return new Map(names.map((name) => [name, join(given.includes(name) ? assets : toolsFolder, name)]));
}

/** A new folder with links to the parts of one file: a part that it does not declare is not there. */
export function linkParts(file, paths) {
  const folder = mkdtempSync(join(tmpdir(), "talos-operator-parts-"));
  for (const name of partsOf(file)) symlinkSync(paths.get(name), join(folder, name));
  return folder;
}

function notCurrent(names) {
  if (names.length === 0) return [];
  mkdirSync(toolsFolder, { recursive: true });
  const { status, stdout, stderr } = spawnSync("bash", [join(root, "hack/tools/build.sh"), "--check", ...names], {
    encoding: "utf8",
    env: { ...process.env, BIN: toolsFolder },
  });
  if (status !== 0) throw new Error(stderr);
  return stdout.split("\n").filter((name) => name !== "");
}

function build(names, compiles) {
  return new Promise((done, reject) => {
    const child = start("bash", [join(root, "hack/tools/build.sh"), ...names], {
      stdio: ["ignore", 2, 2],
      env: { ...process.env, BIN: toolsFolder, ...(compiles === undefined ? {} : { P: String(compiles) }) },
    });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? done() : reject(new Error("A genuine part could not be built; the lines above say why."))));
  });
}
