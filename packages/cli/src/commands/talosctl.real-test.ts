// Genuine parts: talosctl
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

const tools = process.env["TALOS_OPERATOR_TOOLS"];
const main = join(import.meta.dirname, "../main.ts");

interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function run(program: string, args: readonly string[], cwd: string): Promise<Said> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, encoding: "utf8" }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), out, err });
    });
  });
}

let root = "";
before(() => (root = mkdtempSync(join(tmpdir(), "talos-operator-talosctl-"))));
after(() => rmSync(root, { recursive: true, force: true }));

/** The same command line in two equal folders, by both programs. */
async function both(
  name: string,
  genuine: readonly string[],
  ours: readonly string[],
  files: Readonly<Record<string, string>> = {},
): Promise<{ readonly theirs: Said; readonly own: Said; readonly theirFolder: string; readonly ownFolder: string }> {
  assert.ok(tools !== undefined, "TALOS_OPERATOR_TOOLS names the folder of the genuine tools: use npm run test:real");
  const folders = ["genuine", "ours"].map((side) => {
    const folder = join(root, name.replaceAll(/[^a-z0-9]+/gi, "-"), side);
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    return folder;
  });
  const [theirFolder = "", ownFolder = ""] = folders;
  const [theirs, own] = await Promise.all([
    run(join(tools, "talosctl"), genuine, theirFolder),
    run(process.execPath, [main, ...ours], ownFolder),
  ]);
  return { theirs, own, theirFolder, ownFolder };
}

const withoutRandom = (text: string): string => text.replaceAll(/^( *(?:crt|key)): .*$/gm, "$1: <random>");

/** Both succeed or both fail, and both leave the same files with the same bytes. */
function assertSame({ theirs, own, theirFolder, ownFolder }: Awaited<ReturnType<typeof both>>): void {
  assert.equal(own.code === 0, theirs.code === 0, `genuine: ${theirs.err}\nours: ${own.err}`);
  const filesOf = (folder: string): Record<string, string> =>
    Object.fromEntries(
      readdirSync(folder, { recursive: true })
        .map(String)
        .filter((file) => statSync(join(folder, file)).isFile())
        .toSorted()
        .map((file) => {
          const text = readFileSync(join(folder, file), "utf8");
          return [file, file.endsWith("talosconfig") ? withoutRandom(text) : text];
        }),
    );
  // Ours looks at all files before it writes the first: a refusal leaves nothing behind.
  if (theirs.code === 0) assert.deepEqual(filesOf(ownFolder), filesOf(theirFolder));
}

describe("commands do what genuine talosctl does", () => {
  let secrets = "";
  const configs: Record<string, string> = {};
  before(async () => {
    const made = await both("secrets", ["gen", "secrets", "-o", "s.yaml"], ["secrets", "generate", "-o", "s.yaml"]);
    assert.deepEqual([made.theirs.code, made.own.code], [0, 0]);
    secrets = readFileSync(join(made.ownFolder, "s.yaml"), "utf8");
    for (const version of ["v1.8", "v1.13"]) {
      const words = ["a", "https://192.0.2.1:6443", "--with-secrets", "s.yaml", "--talos-version", version, "-o", "."];
      const plain = ["--with-docs=false", "--with-examples=false"];
      const generated = await both(`base ${version}`, ["gen", "config", ...words, ...plain], ["config", "generate", ...words, ...plain], {
        "s.yaml": secrets,
      });
      assertSame(generated);
      for (const role of ["controlplane", "worker"])
        configs[`${role}-${version}.yaml`] = readFileSync(join(generated.theirFolder, `${role}.yaml`), "utf8");
    }
  });

  /** Options of `gen config`; each line is run with secrets given. */
  const generations: readonly string[] = [
    "one https://192.0.2.10:6443",
    "one https://192.0.2.10:6443 -o out",
    "one https://192.0.2.10:6443 --output-dir out -t worker",
    "one https://192.0.2.10:6443 -t controlplane -o cp.yaml",
    "one https://192.0.2.10:6443 -t=worker -o=w.yaml",
    "one https://192.0.2.10:6443 --output-types talosconfig,worker -o out",
    "one https://api.example.org --talos-version v1.5 --kubernetes-version v1.28.3",
    "one https://api.example.org --talos-version 1.10.2 --install-image r.example/i:v1",
    "one https://[2001:db8::1]:6443 --with-kubespan",
    "one https://[2001:db8::1]:6443 --with-kubespan=true --talos-version v1.11",
    "one https://api.example.org --with-cluster-discovery=false --additional-sans a,10.0.0.1 --additional-sans b",
    'one https://api.example.org --additional-sans "a,b",c',
    "one https://api.example.org --registry-mirror docker.io=https://m.example,ghcr.io=http://n.example --registry-mirror docker.io=https://o.example",
    "one https://api.example.org --dns-domain corp.example --install-disk /dev/nvme0n1",
    "one https://api.example.org --config-patch @patch.yaml --config-patch-worker worker-patch.yaml",
    'one https://api.example.org --config-patch {"machine":{"sysctls":{"a":"1"}}}',
    'one https://api.example.org --talos-version v1.8 --config-patch [{"op":"add","path":"/machine/sysctls","value":{"a":"1"}}]',
    'one https://api.example.org --config-patch [{"op":"add","path":"/machine/sysctls","value":{"a":"1"}}]',
    "one https://api.example.org --talos-version v1.8 --registry-mirror 10.0.0.10:5000=http://a,10.0.0.9:5000=http://b",
    "one https://api.example.org --talos-version= --output-dir= -o out",
    "one https://api.example.org --config-patch null.yaml",
    "one https://api.example.org --talos-version v1.8 --config-patch null.yaml",
    "one https://api.example.org --config-patch gone.yaml",
    "one https://api.example.org --config-patch bad-patch.yaml",
    "one 192.0.2.10",
    "one 192.0.2.10:6443",
    "one http://192.0.2.10:6443",
    "one https://192.0.2.10:70000",
    "one https://",
    "one",
    "one https://api.example.org two",
    "one https://api.example.org -t init",
    "one https://api.example.org -o -",
    "one https://api.example.org -t worker -t talosconfig -o -",
    "one https://api.example.org --registry-mirror docker.io",
    "one https://api.example.org --talos-version latest",
    "one https://api.example.org --version v2",
    "one https://api.example.org --bogus",
  ];
  for (const words of generations) {
    test(`config generate ${words}`, async () => {
      const args = [...words.split(" "), "--with-secrets", "s.yaml"];
      const plain = ["--with-docs=false", "--with-examples=false"];
      const files = {
        "s.yaml": secrets,
        "patch.yaml": "machine:\n  sysctls:\n    a: '1'\n",
        "worker-patch.yaml": "machine:\n  nodeLabels:\n    a: b\n",
        "null.yaml": "null\n",
        "bad-patch.yaml": "machine:\n  bogus: 1\n",
      };
      assertSame(await both(words, ["gen", "config", ...args, ...plain], ["config", "generate", ...args, ...plain], files));
    });
  }

  test("config generate to standard output", async () => {
    const words = [
      "one",
      "https://api.example.org",
      "-t",
      "worker",
      "-o",
      "-",
      "--with-secrets",
      "s.yaml",
      "--with-docs=false",
      "--with-examples=false",
    ];
    const { theirs, own } = await both("stdout", ["gen", "config", ...words], ["config", "generate", ...words], { "s.yaml": secrets });
    assert.equal(own.out, theirs.out);
    assert.equal(own.err, theirs.err);
  });

  test("files that exist are not overwritten, and are with --force", async () => {
    const files = { "s.yaml": secrets, "worker.yaml": "precious\n" };
    const words = ["one", "https://api.example.org", "-t", "worker", "-o", "worker.yaml", "--with-secrets", "s.yaml"];
    const plain = ["--with-docs=false", "--with-examples=false"];
    const refused = await both("no force", ["gen", "config", ...words, ...plain], ["config", "generate", ...words, ...plain], files);
    assertSame(refused);
    assert.ok(refused.own.err.includes(refused.theirs.err.trim().split("\n").at(-1) ?? "?"));
    assert.equal(readFileSync(join(refused.ownFolder, "worker.yaml"), "utf8"), "precious\n");
    assertSame(await both("force", ["gen", "config", ...words, ...plain, "-f"], ["config", "generate", ...words, ...plain, "-f"], files));
  });

  const patches: readonly string[] = [
    "machine: {sysctls: {a: '1'}}",
    "machine:\n  install:\n    $patch: delete\n",
    "apiVersion: v1alpha1\nkind: KubeSpanConfig\nenabled: true\n",
    '[{"op": "replace", "path": "/machine/install/disk", "value": "/dev/vdb"}]',
    "- op: remove\n  path: /machine/install\n",
    "machine:\n  bogus: 1\n",
    "machine: {sysctls: {a10: '1', a9: '1'}}\n---\nnull\n",
    '[{"op": "remove", "path": "/machine/bogus"}]',
  ];
  for (const patch of patches) {
    for (const file of patch.includes("op") ? ["controlplane-v1.8.yaml"] : ["worker-v1.13.yaml"]) {
      test(`config patch ${file} ${patch.slice(0, 50)}`, async () => {
        const args = ["config.yaml", "-p", patch];
        const files = { "config.yaml": configs[file] ?? "" };
        const { theirs, own } = await both(
          `patch ${file} ${patch}`,
          ["machineconfig", "patch", ...args],
          ["config", "patch", ...args],
          files,
        );
        assert.equal(own.code === 0, theirs.code === 0, own.err);
        assert.equal(own.out, theirs.out);
        const toFile = [...args, "-o", "deep/out.yaml"];
        assertSame(
          await both(`patch ${file} ${patch} to file`, ["machineconfig", "patch", ...toFile], ["config", "patch", ...toFile], files),
        );
      });
    }
  }

  for (const mode of ["metal", "container", "metal-agent", "bogus"]) {
    for (const [what, change] of [
      ["as it is", (text: string) => text],
      ["without a token", (text: string) => text.replace(/ {4}token: .*\n/, "")],
      ["that cannot be read", (text: string) => `${text}bogus: 1\n`],
    ] as const) {
      // What the mode has no part in is asked once.
      if (mode !== "metal" && what !== "as it is") continue;
      test(`config validate a control plane ${what} for ${mode}`, async () => {
        const files = { "config.yaml": change(configs["controlplane-v1.8.yaml"] ?? "") };
        const args = ["-c", "config.yaml", "--mode", mode, "--strict"];
        const { theirs, own } = await both(`validate ${mode} ${what}`, ["validate", ...args], ["config", "validate", ...args], files);
        assert.equal(own.code === 0, theirs.code === 0, own.err);
        assert.equal(own.out, theirs.out);
        // Ours says where the unknown key stands; what stands under it may be a password and is not shown.
        const words = what === "that cannot be read" ? theirs.err.split(":\n")[0] : theirs.err.trim();
        assert.ok(own.err.includes(words ?? theirs.err), `genuine: ${theirs.err}\nours: ${own.err}`);
      });
    }
  }

  test("secrets from a config are those that it was made from", async () => {
    const files = { "cp.yaml": configs["controlplane-v1.13.yaml"] ?? "" };
    const made = await both(
      "from config",
      ["gen", "secrets", "--from-controlplane-config", "cp.yaml", "-o", "out.yaml"],
      ["secrets", "from-config", "cp.yaml", "-o", "out.yaml"],
      files,
    );
    assertSame(made);
    assert.equal(readFileSync(join(made.ownFolder, "out.yaml"), "utf8"), secrets);
  });
});
