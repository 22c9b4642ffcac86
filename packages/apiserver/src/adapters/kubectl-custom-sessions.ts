import { broughtKinds } from "./brought-kinds.ts";
import { definition } from "./kind-schema.ts";
import type { Kind } from "./kind-schema.ts";
import { given } from "./kubectl-sessions.ts";
import type { KubectlSession } from "./kubectl-sessions.ts";

const one = ({ kind, group }: Kind, name: string, spec: object, more: object = {}): object => ({
  apiVersion: `${group}/v1`,
  kind,
  metadata: { name },
  spec,
  ...more,
});
const {
  certificate,
  monitor,
  route,
  application,
  mesh,
  kustomization,
  service,
  postgres,
  secret,
  scaled,
  backup,
  policy,
  task,
  storage,
  pool,
  machine,
  composition,
} = broughtKinds;
const issued = { secretName: "s", issuerRef: { name: "ca" }, dnsNames: ["a.example.com"] };
const patchStatus = (kind: string, name: string, status: object): string =>
  `patch ${kind} ${name} --subresource=status --type=merge -p ${JSON.stringify({ status })}`;

/** What people do with the kinds that operators bring. */
export const kubectlCustomSessions: readonly KubectlSession[] = [
  {
    name: "kinds that operators bring",
    steps: [
      given("apply", ...Object.values(broughtKinds).map(definition)),
      "wait --for=condition=Established crd --all --timeout=90s",
      "wait --for=condition=NamesAccepted crd certificates.certs.example.com --timeout=60s",
      // Established says that the kinds are accepted; the handler that serves them follows a moment later.
      "get certificates,servicemonitors,httproutes,applications.gitops.example.com,virtualservices,kustomizations,clusters,machines,tasks --request-timeout=90s",
      "get externalsecrets,scaledobjects,backups,networkpolicies.network.example.com,storageclusters,ipaddresspools,compositions,ksvc --request-timeout=90s",
      "get crd certificates.certs.example.com -o jsonpath={.status.acceptedNames}{.status.storedVersions}",
      given("apply", one(certificate, "web", issued), one(certificate, "weak", { ...issued, privateKey: { algorithm: "DSA" } })),
      given("create", one(certificate, "none", {})),
      given("create --validate=warn", one(certificate, "more", { ...issued, nonsense: 1 })),
      patchStatus("certificate", "web", { conditions: [{ type: "Ready", status: "True", message: "issued" }] }),
      patchStatus("certificate", "web", { conditions: [{ type: "Ready", status: "Maybe" }] }),
      "get cert",
      "get certs -o wide",
      "get certificates.v1.certs.example.com web -o yaml",
      "wait cert/web --for=condition=Ready --timeout=60s",
      "describe certificate web",
      "label cert web a=b",
      "annotate cert web a=b",
      "get all",
      "get certs,mesh",
      given(
        "apply",
        one(monitor, "m", {
          selector: { matchLabels: { a: "b" } },
          endpoints: [
            { port: "http", interval: "30s" },
            { targetPort: 8080, relabelings: [{ regex: "x" }] },
          ],
        }),
      ),
      given(
        "apply",
        one(monitor, "bad", { selector: {}, endpoints: [{ interval: "soon", targetPort: true, scheme: "ftp" }], sampleLimit: 1.5 }),
      ),
      "get smon m -o jsonpath={.spec}",
      'patch smon m --type=merge -p {"spec":{"selector":{"matchExpressions":[{"key":"x","operator":"In"}]}}}',
      given("apply --server-side --field-manager=other", one(monitor, "m", { selector: { matchLabels: { c: "d" } }, endpoints: [] })),
      given(
        "apply --server-side --field-manager=other --force-conflicts",
        one(monitor, "m", { selector: { matchLabels: { c: "d" } }, endpoints: [] }),
      ),
      given(
        "apply",
        one(route, "r", {
          hostnames: ["a.example.com", "*.b.example.com"],
          parentRefs: [{ name: "g" }, { name: "g", port: 80 }],
          rules: [{ backendRefs: [{ name: "s", port: 80 }] }],
        }),
      ),
      given("apply", one(route, "twice", { hostnames: ["A_b"], parentRefs: [{ name: "g" }, { name: "g" }] })),
      given("apply", one(route, "empty", {})),
      "get httproutes",
      "get httproute r empty -o jsonpath={.items[*].spec.rules}",
      given(
        "apply",
        one(
          application,
          "a",
          { project: "p", source: { repoURL: "u", helm: { valuesObject: { x: { y: [1, "2"] } } } }, destination: {} },
          { status: { health: "Good" } },
        ),
      ),
      "get app",
      "get applications.gitops.example.com a -o wide",
      'patch applications.gitops.example.com a --subresource=status --type=merge -p {"status":{"health":"Bad"}}',
      'patch applications.gitops.example.com a --type=json -p [{"op":"add","path":"/spec/source/helm/valuesObject/x/y/-","value":null}]',
      "get app a -o jsonpath={.spec.source.helm.valuesObject}",
    ],
  },
  {
    name: "more kinds that operators bring",
    steps: [
      given("apply", one(mesh, "v", { hosts: ["a"], http: [{ match: [{ uri: { prefix: "/" } }], timeout: "1s" }] })),
      given("apply", one(mesh, "two", { hosts: ["a"], http: [{ match: [{ uri: { prefix: "/", exact: "/x" } }] }] })),
      "get vs",
      given("apply", one(kustomization, "k", { interval: "10m", prune: true, sourceRef: { kind: "GitRepository", name: "g" } })),
      given("apply", one(kustomization, "bad", { interval: "often", prune: "yes", sourceRef: { kind: "X" } })),
      given(
        "apply",
        one(kustomization, "orphans", { interval: "1h", prune: true, deletionPolicy: "Orphan", sourceRef: { kind: "Bucket", name: "b" } }),
      ),
      'patch ks k --type=merge -p {"spec":{"suspend":true}}',
      "get ks k -o jsonpath={.spec.suspend}/{.metadata.generation}",
      given(
        "apply",
        one(service, "hello", {
          template: { metadata: { annotations: { a: "b" } }, spec: { containers: [{ image: "i" }], timeoutSeconds: 5 } },
          traffic: [{ percent: 100, latestRevision: true }],
        }),
      ),
      given("apply", one(service, "bad", { template: { spec: { timeoutSeconds: "5" } }, traffic: [{ percent: 101 }] })),
      "get ksvc",
      "get services.serving.example.com hello -o jsonpath={.spec.template}",
      given("apply", one(postgres, "pg", { storage: { size: "1Gi", storageClass: "fast" }, postgresql: { parameters: { a: "1" } } })),
      "get clusters.pg.example.com pg -o jsonpath={.spec}",
      "scale clusters.pg.example.com pg --replicas=3",
      "scale clusters.pg.example.com pg --replicas=0",
      "get clusters.pg.example.com pg --subresource=scale -o yaml",
      patchStatus("clusters.pg.example.com", "pg", { instances: 3, currentPrimary: "pg-1" }),
      "get clusters.pg.example.com",
      'patch clusters.pg.example.com pg --type=merge -p {"spec":{"storage":{"storageClass":"slow"}}}',
      'patch clusters.pg.example.com pg --type=merge -p {"spec":{"postgresql":{"parameters":{"a":null,"b":"2"}}}}',
      "autoscale clusters.pg.example.com pg --max=3",
      given("apply", one(secret, "es", { secretStoreRef: { name: "store" }, data: [{ secretKey: "k", remoteRef: { key: "r" } }] })),
      given("apply", {
        ...one(secret, "old", { secretStoreRef: { name: "S_" }, data: [{ secretKey: "" }] }),
        apiVersion: "secrets.example.com/v1beta1",
      }),
      given("apply", { ...one(secret, "old", {}), apiVersion: "secrets.example.com/v1beta1" }),
      "get es es old -o jsonpath={.items[*].spec}",
      "get externalsecrets.v1beta1.secrets.example.com old -o jsonpath={.apiVersion}",
      given(
        "apply",
        one(scaled, "so", {
          scaleTargetRef: { name: "w" },
          minReplicaCount: 0,
          triggers: [
            { type: "cron", metadata: { a: "b" } },
            { type: "cpu", metadata: {} },
          ],
        }),
      ),
      given(
        "apply",
        one(scaled, "bad", { scaleTargetRef: {}, minReplicaCount: 3_000_000_000, triggers: [{ type: "cron", metadata: { a: 1 } }] }),
      ),
      "get so",
      given(
        "apply",
        one(backup, "b", { includedNamespaces: null, snapshotVolumes: null, ttl: "1h", labelSelector: null, startTimestamp: null }),
      ),
      given(
        "apply",
        one(backup, "bad", {
          startTimestamp: "yesterday",
          ttl: null,
          hooks: { resources: [{ name: "h", pre: [{ exec: { command: [], onError: "Stop" } }] }] },
        }),
      ),
      "get backup b -o jsonpath={.spec}",
      'patch backup b --type=merge -p {"spec":{"includedNamespaces":["a"],"ttl":null}}',
      'patch backup b --type=json -p [{"op":"replace","path":"/spec/includedNamespaces","value":null}]',
      "get backup b -o jsonpath={.spec}",
      given(
        "apply",
        one(policy, "p", {
          endpointSelector: { matchLabels: { a: "b" } },
          ingress: [{ fromEntities: ["world"], toPorts: [{ ports: [{ port: "80", protocol: "TCP" }] }] }],
        }),
      ),
      given("apply", one(policy, "bad", { ingress: [{ fromEntities: ["moon"], toPorts: [{ ports: [{ port: "70000" }] }] }] })),
      "get cnp",
      given(
        "apply",
        one(
          task,
          "t",
          { steps: [{ name: "a", image: "i" }], anything: { goes: [1, 2, { x: null }] } },
          { extra: "yes", status: { phase: "x" } },
        ),
      ),
      "get task t -o jsonpath={.spec}{.extra}{.status}",
      'patch task t --type=merge -p {"spec":{"anything":{"goes":null}},"more":1}',
      patchStatus("task", "t", { phase: "Done" }),
      "get task t -o jsonpath={.spec}{.more}{.status}{.metadata.generation}",
    ],
  },
  {
    name: "kinds of whole clusters, and their ends",
    steps: [
      given(
        "apply",
        one(storage, "ceph", {
          dataDirHostPath: "/var/lib",
          mon: { count: 3, volumeClaimTemplate: null },
          ratio: 0.5,
          external: false,
          resources: { mon: { limits: { cpu: 1, memory: "1Gi" } } },
        }),
      ),
      given(
        "apply",
        one(storage, "bad", {
          dataDirHostPath: "var",
          mon: { count: 10 },
          ratio: 2,
          external: true,
          resources: { mon: { limits: { cpu: "lots" } } },
        }),
      ),
      given("apply", one(storage, "outside", { external: true, mon: { count: 1 } })),
      "get storageclusters",
      "get storageclusters -o custom-columns=N:.metadata.name,C:.spec.mon.count,R:.spec.ratio",
      given("apply", one(pool, "p", { addresses: ["10.0.0.0/24", "10.0.1.0/24"], cidr: "10.0.0.0/8", contact: "a@example.com" })),
      given(
        "apply",
        one(pool, "twice", { addresses: ["a", "a"] }),
        one(pool, "narrow", { addresses: ["a"], cidr: "10.0.0.0/99" }),
        one(pool, "rude", { addresses: ["a"], contact: "nobody" }),
        one(pool, "none", { addresses: [] }),
      ),
      "get ipaddresspools",
      'patch ipaddresspool p --type=json -p [{"op":"add","path":"/spec/addresses/-","value":"10.0.0.0/24"}]',
      given(
        "apply",
        one(machine, "m1", {
          clusterName: "a",
          bootstrap: { dataSecretName: "s" },
          readinessGates: [{ conditionType: "x" }],
          taints: [
            { key: "k", effect: "NoSchedule" },
            { key: "k", effect: "NoExecute" },
          ],
        }),
        one(machine, "m2", { clusterName: "b", bootstrap: {} }),
      ),
      given(
        "apply",
        one(machine, "twice", {
          clusterName: "a",
          bootstrap: {},
          readinessGates: [{ conditionType: "x" }, { conditionType: "x" }],
          drainTimeoutSeconds: -1,
        }),
      ),
      given("apply", one(machine, "m1", { clusterName: "c", bootstrap: {} })),
      "get ma",
      "get ma --field-selector=spec.clusterName=a -o name",
      "get ma --field-selector=spec.version=a",
      given(
        "apply --server-side --field-manager=one",
        one(machine, "ssa", { clusterName: "a", bootstrap: { dataSecretName: "s" }, taints: [{ key: "a", effect: "x" }] }),
      ),
      given(
        "apply --server-side --field-manager=two",
        one(machine, "ssa", { clusterName: "a", bootstrap: { configRef: { name: "c" } }, taints: [{ key: "b", effect: "x" }] }),
      ),
      given(
        "apply --server-side --field-manager=two",
        one(machine, "ssa", { clusterName: "a", bootstrap: { dataSecretName: "s" }, taints: [{ key: "b", effect: "x" }] }),
      ),
      given("apply --server-side --field-manager=one", one(machine, "ssa", { clusterName: "a", bootstrap: { dataSecretName: "s" } })),
      "get ma ssa -o jsonpath={.spec}",
      'get ma ssa --show-managed-fields -o jsonpath={.metadata.managedFields[?(@.manager=="one")].fieldsV1}',
      'get ma ssa --show-managed-fields -o jsonpath={.metadata.managedFields[?(@.manager=="two")].fieldsV1}',
      given("diff", one(machine, "m2", { clusterName: "b", bootstrap: {}, version: "v1" })),
      given("apply --dry-run=server -o yaml", one(machine, "m3", { clusterName: "a", bootstrap: {} })),
      given("replace", one(machine, "m2", { clusterName: "b", bootstrap: {}, version: "v2" })),
      given("replace", one(machine, "absent", { clusterName: "b", bootstrap: {} })),
      given(
        "apply",
        one(composition, "c", {
          compositeTypeRef: { apiVersion: "x/v1", kind: "X" },
          pipeline: [
            {
              step: "a",
              functionRef: { name: "f" },
              input: { apiVersion: "y/v1", kind: "Y", metadata: { name: "n", nonsense: 1 }, any: 1 },
            },
          ],
        }),
      ),
      given(
        "apply",
        one(composition, "bad", {
          compositeTypeRef: { apiVersion: "x/v1" },
          mode: "Resources",
          pipeline: [{ step: "a", functionRef: {}, input: { apiVersion: 1 } }, { step: "a" }],
        }),
      ),
      'patch composition c --type=merge -p {"spec":{"compositeTypeRef":{"kind":"Z"}}}',
      "get composition c -o jsonpath={.spec}",
      "api-resources --api-group=certs.example.com -o wide",
      "api-resources --categories=fleet",
      "get crd machines.machines.example.com",
      "get crd compositions.compose.example.com -o jsonpath={.spec.names}{.spec.conversion}",
      "explain machine.spec.taints",
      "explain certificate --recursive",
      "explain httproute.spec.rules.matches",
      "explain externalsecret --api-version=secrets.example.com/v1beta1",
      "explain task.spec",
      "explain ipaddresspool.spec.autoAssign",
      'patch crd tasks.pipelines.example.com --type=json -p [{"op":"replace","path":"/spec/scope","value":"Cluster"}]',
      'patch crd tasks.pipelines.example.com --type=json -p [{"op":"replace","path":"/spec/versions/0/storage","value":false}]',
      'patch crd tasks.pipelines.example.com --type=json -p [{"op":"add","path":"/spec/names/shortNames","value":["cert"]}]',
      "delete machines --all",
      "delete storageclusters,compositions --all",
      `delete crd ${Object.values(broughtKinds)
        .map(({ plural, group }) => `${plural}.${group}`)
        .join(" ")} --wait=false`,
    ],
  },
];
