// The real tests that every landing passes: a first cluster, kill -9, everyday kubectl, the chart, an addon, a backup.
// Plain JavaScript for Node 20: their parts are built before anything is installed.
export const SMOKE = [
  "test/e2e/first-cluster.real-test.ts",
  "test/e2e/kill.real-test.ts",
  "packages/apiserver/src/adapters/kubectl.real-test.ts",
  "test/install/helm.real-test.ts",
  "test/e2e/demo-addons.real-test.ts",
  "test/e2e/demo-backup.real-test.ts",
];
