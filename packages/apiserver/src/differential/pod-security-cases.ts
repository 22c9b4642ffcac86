import type { JsonObject } from "../json.ts";
import type { DifferentialCase, Resource, Step } from "./run-case.ts";

const pod: Resource = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };
const deployment: Resource = { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true };
const namespace: Resource = { apiVersion: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };

const labels = (said: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(said).map(([name, value]) => [`pod-security.kubernetes.io/${name}`, value]));
/** A container that every profile allows, with changes. */
const container = (name: string, security: JsonObject = {}, more: JsonObject = {}): JsonObject => ({
  name,
  image: "i:1",
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
    ...security,
  },
  ...more,
});
const bare = (name: string, security: JsonObject = {}): JsonObject => ({ name, image: "i:1", securityContext: security });
const spec = (change: JsonObject, ...containers: readonly JsonObject[]): JsonObject => ({
  containers: containers.length === 0 ? [container("c")] : containers,
  ...change,
});
const tried = (body: JsonObject, annotations: JsonObject = {}): Step => ({
  do: "create",
  body: { spec: body, metadata: { annotations } },
  query: { dryRun: "All" },
  verdictOnly: true,
});
const seccomp = (type: string): JsonObject => ({ seccompProfile: { type } });
const apparmor = (type: string): JsonObject => ({ appArmorProfile: { type } });
const sysctls = (...names: readonly string[]): JsonObject => ({
  securityContext: { sysctls: names.map((name) => ({ name, value: "1" })) },
});
const probe = (host: string): JsonObject => ({ livenessProbe: { httpGet: { port: 1, host } } });

/** Pods of which each profile has something to say, or nothing. */
const pods: readonly Step[] = [
  tried(spec({})),
  tried(spec({ initContainers: [bare("a")] }, bare("b"), bare("c"))),
  tried(spec({ hostNetwork: true, hostPID: true, hostIPC: true }, container("c", {}, { ports: [{ containerPort: 80 }] }))),
  tried(
    spec(
      {},
      container("c", {}, { ports: [{ containerPort: 80, hostPort: 80 }] }),
      container("d", {}, { ports: [{ containerPort: 443, hostPort: 443 }] }),
    ),
  ),
  tried(spec({}, bare("c", { privileged: true }), bare("d", { privileged: true }))),
  tried(
    spec(
      {},
      container("c", { capabilities: { add: ["NET_RAW", "CHOWN", "SYS_ADMIN"] } }),
      container("d", { capabilities: { add: ["NET_BIND_SERVICE"], drop: ["ALL"] } }),
    ),
  ),
  tried(
    spec({
      volumes: [
        { name: "a", hostPath: { path: "/a" } },
        { name: "b", nfs: { server: "x", path: "/" } },
        { name: "c", configMap: { name: "x" } },
        { name: "d", csi: { driver: "x" } },
      ],
    }),
  ),
  tried(
    spec(
      { securityContext: { seLinuxOptions: { type: "x", user: "u" } } },
      container("c", { seLinuxOptions: { role: "r", type: "container_engine_t" } }),
    ),
  ),
  tried(spec({ securityContext: seccomp("Unconfined") }, container("c", seccomp("Unconfined")), container("d"))),
  tried(spec({ securityContext: seccomp("RuntimeDefault") }, bare("c"))),
  tried(spec({ securityContext: apparmor("Unconfined") }, container("c", apparmor("Unconfined")))),
  tried(
    spec(
      sysctls(
        "kernel.msgmax",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.ip_local_reserved_ports",
        "kernel.shm_rmid_forced",
      ),
    ),
  ),
  tried(
    spec(
      {},
      container("c", {}, probe("1.2.3.4")),
      container("d", {}, { lifecycle: { preStop: { tcpSocket: { port: 1, host: "example.com" } } } }),
    ),
  ),
  tried(spec({ hostUsers: false }, container("c", { procMount: "Unmasked", runAsNonRoot: false, runAsUser: 0 }))),
  tried(spec({ hostNetwork: true, securityContext: { windowsOptions: { hostProcess: true } } })),
  tried(spec({ os: { name: "windows" } }, bare("c", { runAsNonRoot: true }))),
  tried(
    spec(
      { securityContext: { runAsUser: 0, runAsNonRoot: false } },
      container("c", { runAsUser: 0, runAsNonRoot: false }),
      container("d", { runAsUser: 5 }),
    ),
  ),
  tried(spec({ securityContext: { runAsNonRoot: true } }, bare("c", { runAsNonRoot: false }), bare("d"))),
];

const versions = ["v1.0", "v1.8", "v1.19", "v1.22", "v1.23", "v1.25", "v1.27", "v1.29", "v1.31", "v1.32", "v1.34", "v1.35", "v1.99"];
const profiles = (["baseline", "restricted"] as const).flatMap((level) =>
  ["latest", ...versions].map((version): DifferentialCase => ({
    name: `${level} ${version}`,
    resource: pod,
    namespaceLabels: labels({ enforce: level, "enforce-version": version }),
    steps: pods,
  })),
);

const template = (change: JsonObject = {}): JsonObject => ({ metadata: { labels: { a: "b" } }, spec: spec(change, bare("c")) });
const web = (change: JsonObject = {}): JsonObject => ({ spec: { selector: { matchLabels: { a: "b" } }, template: template(change) } });
const label = (said: Readonly<Record<string, string>>): Step => ({
  do: "create",
  body: { metadata: { labels: labels(said) } },
  query: { dryRun: "All" },
});

/** What pods, templates and namespaces meet that the labels of Pod Security say something of. */
export const podSecurityCases: readonly DifferentialCase[] = [
  ...profiles,
  {
    name: "template where nobody is to be warned",
    resource: deployment,
    namespaceLabels: labels({ enforce: "restricted", warn: "privileged" }),
    steps: [{ do: "create", body: web() }],
  },
  {
    name: "namespace with labels of all kinds",
    resource: namespace,
    steps: [
      label({ enforce: "nope" }),
      label({ enforce: "" }),
      label({ "enforce-version": "1.2" }),
      label({ enforce: "baseline", "enforce-version": "v1.99" }),
      label({ nonsense: "baseline" }),
    ],
  },
];
