// Holds the import order of the packages (docs/architecture.md): a package imports only those named here, and declares what it imports.
// Tests, benches and scripts may join more; npm links every package, so nothing else would notice.
import { globSync, readFileSync } from "node:fs";

const scope = "@talos-operator/";
const base = ["ports"];
const engine = [...base, "api", "talos", "kube-runtime", "backup", "helm"];
const all = [...engine, "etcd-snapshot", "adapters", "apiserver", "simulator", "operator"];
const allowed = {
  ports: [],
  adapters: base,
  api: base,
  talos: base,
  "etcd-snapshot": base,
  "kube-runtime": base,
  apiserver: [...base, "kube-runtime"],
  backup: [...base, "talos", "etcd-snapshot"],
  helm: [...base, "api", "kube-runtime"],
  simulator: [...base, "talos", "etcd-snapshot"],
  operator: engine,
  testkit: all,
  cli: all,
};
/** The words of the engine, which everything in the operator may import. */
const bottom = "packages/operator/src/model/";
const exempt = /\.(real-)?test\.ts$|\/(testing|golden|bench|scripts)\//;
// Side effects, static and dynamic imports and re-exports, over several lines too.
const importOf = /(?:\bfrom|\bimport)\s*\(?\s*"([^"]+)"/g;

const failures = [];
for (const folder of globSync("packages/*").toSorted()) {
  const name = folder.replaceAll("\\", "/").split("/").at(-1);
  const mayImport = allowed[name];
  if (mayImport === undefined) {
    failures.push(`${folder}: has no place in the import order; give it one in scripts/lint-imports.mjs and docs/architecture.md`);
    continue;
  }
  const declared = Object.keys(JSON.parse(readFileSync(`${folder}/package.json`, "utf8")).dependencies ?? {});
  for (const dependency of declared.filter((key) => key.startsWith(scope)).map((key) => key.slice(scope.length))) {
    if (!mayImport.includes(dependency)) failures.push(`${folder}/package.json: ${name} must not depend on ${dependency}`);
  }
  for (const path of globSync(`${folder}/src/**/*.ts`).toSorted()) {
    const file = path.replaceAll("\\", "/");
    if (exempt.test(file)) continue;
    for (const [, target = ""] of readFileSync(path, "utf8").matchAll(importOf)) {
      if (file.startsWith(bottom) && target.startsWith("../"))
        failures.push(`${file}: imports ${target}; what lies at the bottom imports nothing above`);
      if (/^(\.\.\/)+[\w-]+\/src\//.test(target)) failures.push(`${file}: reaches into another package: ${target}; import its name`);
      if (!target.startsWith(scope)) continue;
      const imported = target.slice(scope.length).split("/")[0] ?? "";
      if (!mayImport.includes(imported)) failures.push(`${file}: ${name} must not import ${imported} (import order, docs/architecture.md)`);
      else if (!declared.includes(scope + imported))
        failures.push(`${file}: imports ${imported}, which ${folder}/package.json does not list`);
    }
  }
}
for (const failure of failures) process.stdout.write(`${failure}\n`);
if (failures.length > 0) process.exit(1);
