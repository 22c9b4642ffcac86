import { cached } from "./kubectl-sessions.ts";
import type { KubectlSession } from "./kubectl-sessions.ts";

const mode = "pod-security.kubernetes.io";
const pod = (spec: object): string => `--overrides=${JSON.stringify({ spec })}`;
const careful = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  containers: [{ name: "ok", image: "i:1", securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } } }],
};
const web = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    selector: { matchLabels: { app: "web" } },
    template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i:1" }] } },
  },
};

/** What people see of Pod Security when they label namespaces. */
export const kubectlSecuritySessions: readonly KubectlSession[] = [
  {
    name: "a namespace whose rules for pods get stricter",
    steps: [
      "run a --image=i:1 --privileged",
      "run b --image=i:1 --privileged",
      `run host --image=i:1 ${pod({ hostNetwork: true })}`,
      "run plain --image=i:1",
      `run ok --image=i:1 ${pod(careful)}`,
      cached(`label --dry-run=server --overwrite ns $NS ${mode}/enforce=baseline`),
      cached(`label --dry-run=server --overwrite ns $NS ${mode}/enforce=restricted`),
      `label --overwrite ns $NS ${mode}/enforce=baseline ${mode}/enforce-version=v1.30`,
      `label --overwrite ns $NS ${mode}/enforce=restricted`,
      `label --overwrite ns $NS ${mode}/enforce=baseline`,
      `label ns $NS ${mode}/enforce-version-`,
      `label --overwrite ns $NS ${mode}/warn=restricted ${mode}/audit=restricted`,
      `label --overwrite ns $NS ${mode}/enforce=strict`,
      `label --overwrite ns $NS ${mode}/warn-version=1.30`,
      cached("run c --image=i:1 --dry-run=server"),
      "run c --image=i:1",
      "run d --image=i:1 --privileged",
      "label pod a x=y",
      "set image pod/a a=i:2",
      "debug ok --image=busybox -c dbg",
      "debug ok --image=busybox -c dbg --profile=sysadmin",
      { args: "apply -f -", input: JSON.stringify(web) },
      { args: "apply --server-side --force-conflicts -f -", input: JSON.stringify(web) },
      "scale deployment web --replicas=2",
      "set image deployment/web c=i:2",
      "create job j --image=i:1",
      "create cronjob cj --image=i:1 --schedule=@daily",
      "create job j2 --from=cronjob/cj",
      "create deployment other --image=i:1 --dry-run=server",
      `label ns $NS ${mode}/enforce- ${mode}/warn-`,
      "get ns $NS --show-labels",
      "delete pod --all --force --grace-period=0",
    ],
  },
];
