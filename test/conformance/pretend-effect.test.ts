import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const samples = fileURLToPath(new URL("testdata/restart-service/", import.meta.url));
const operator = "packages/operator/src";

/** What an effect that nobody has yet needs: by file, what is put before a text in it, or the whole file. */
const touched: Readonly<Record<string, { readonly before?: string; readonly put: string }>> = {
  [`${operator}/effects/restart-service.ts`]: { put: readFileSync(`${samples}restart-service.ts.txt`, "utf8") },
  "packages/testkit/src/effects/restart-service.test.ts": { put: readFileSync(`${samples}restart-service.test.ts.txt`, "utf8") },
  [`${operator}/effects/index.ts`]: {
    before: "export { takeBundle }",
    put: 'export { restartService } from "./restart-service.ts";\n',
  },
  [`${operator}/procedures/certificates/rule.ts`]: {
    before: "    const { certificates, controlPlane } = seen;",
    put: `    const service = seen.controlPlane.metadata.annotations?.["example.org/restart"];
    const [first] = seen.machines;
    if (service !== undefined && first !== undefined) {
      const { name: machine, address } = first.declared;
      return { actions: [{ kind: "RestartService", machine, address, ifUuid: "", service }] };
    }
`,
  },
};

/** A copy of what is touched, which finds everything else where it is. */
function copied(folder: string): void {
  for (const name of ["operator", "testkit"])
    for (const part of ["src", "package.json"])
      cpSync(`${root}packages/${name}/${part}`, join(folder, `packages/${name}/${part}`), { recursive: true });
  const scope = "@talos-operator";
  mkdirSync(join(folder, "node_modules", scope), { recursive: true });
  for (const name of readdirSync(`${root}node_modules`))
    if (name !== scope) symlinkSync(`${root}node_modules/${name}`, join(folder, "node_modules", name));
  for (const name of readdirSync(`${root}packages`)) {
    const place = name === "operator" || name === "testkit" ? join(folder, "packages", name) : `${root}packages/${name}`;
    symlinkSync(place, join(folder, "node_modules", scope, name));
  }
  const include = ["packages/operator/src/**/*.ts", "packages/testkit/src/effects/*.ts"];
  const exclude = ["packages/operator/src/**/*test.ts"];
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ extends: `${root}tsconfig.base.json`, include, exclude }));
}

function run(folder: string, ...args: readonly string[]): void {
  const env = { ...process.env, NODE_TEST_CONTEXT: "" };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env });
  assert.equal(status, 0, `${stdout.slice(-3_000)}${stderr.slice(-1_000)}`);
}

test("an effect is added by its own file, its test, a line of the registry and a rule, and by nothing else", () => {
  const folder = mkdtempSync(join(tmpdir(), "pretend-effect-"));
  try {
    copied(folder);
    for (const [file, { before, put }] of Object.entries(touched)) {
      const path = join(folder, file);
      const text = before === undefined ? "" : readFileSync(path, "utf8");
      assert.equal(before === undefined ? 2 : text.split(before).length, 2, file);
      writeFileSync(path, before === undefined ? put : text.replace(before, () => `${put}${before}`));
    }
    run(folder, `${root}node_modules/typescript/bin/tsc`, "--noEmit", "-p", folder);
    run(folder, "--test", join(folder, "packages/testkit/src/effects/restart-service.test.ts"));
  } finally {
    rmSync(folder, { recursive: true });
  }
  const page = readFileSync(`${root}docs/architecture.md`, "utf8");
  assert.ok(page.includes(`A new effect touches ${Object.keys(touched).length} files`));
});
