import { definition, flag, list, map, open, struct, text } from "./kind-schema.ts";
import type { Kind, Schema } from "./kind-schema.ts";
import { cached, given } from "./kubectl-sessions.ts";
import type { KubectlSession } from "./kubectl-sessions.ts";

type Step = KubectlSession["steps"][number];
const labels = { app: "web" };
const containers = [{ name: "c", image: "i:1" }];
const made = (apiVersion: string, kind: string, name: string, rest: object): Step =>
  given("apply", { apiVersion, kind, metadata: { name }, ...rest });
const pod = (name: string, change: object): Step => made("v1", "Pod", name, { spec: { containers, ...change } });
const of = (name: string, change: object): Step => pod(name, { containers: [{ ...containers[0], ...change }] });
const service = (name: string, change: object): Step => made("v1", "Service", name, { spec: { ports: [{ port: 80 }], ...change } });
const deployment = (name: string, change: object): Step =>
  made("apps/v1", "Deployment", name, {
    spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } }, ...change },
  });
const templated = (name: string, change: object): Step =>
  deployment(name, { template: { metadata: { labels }, spec: { containers, ...change } } });
const claim = (name: string, change: object): Step =>
  made("v1", "PersistentVolumeClaim", name, {
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...change },
  });

const word = (rule: string, more: Schema = {}): Schema => ({ ...text, maxLength: 64, "x-kubernetes-validations": [{ rule, ...more }] });
const checked: Kind = {
  kind: "Checked",
  plural: "checkeds",
  group: "checks.example.com",
  spec: struct({
    size: word("isQuantity(self) && quantity(self).isLessThan(quantity('10Gi'))", {
      messageExpression: "'size ' + self + ' is none or too big'",
    }),
    sum: word("quantity(self).add(quantity('1Ki')).asInteger() > 2000", { reason: "FieldValueForbidden" }),
    address: word("isIP(self) && ip(self).family() == 4", { message: "must be IPv4" }),
    local: word("!ip(self).isLoopback() && ip.isCanonical(self)"),
    block: word("isCIDR(self) && cidr(self) == cidr(self).masked()", { message: "no bits of hosts" }),
    inside: word("cidr('10.0.0.0/8').containsCIDR(self)"),
    site: word("isURL(self) && url(self).getHostname().endsWith('.example.com') && url(self).getQuery().size() == 0"),
    label: word("!format.dns1123Label().validate(self).hasValue()", {
      messageExpression: "format.dns1123Label().validate(self).value()[0]",
    }),
    release: word("isSemver(self) && semver(self).isLessThan(semver('2.0.0'))"),
    letters: word("sets.contains(['a', 'b', 'c'], self.split(''))"),
    start: {
      ...text,
      format: "date-time",
      "x-kubernetes-validations": [{ rule: "self.getFullYear() == 2026 && self.getDayOfWeek('Europe/Berlin') < 6" }],
    },
    broken: word("self.startsWith('a')", { message: "starts with a", messageExpression: "1 / 0 == 1 ? 'x' : 'y'" }),
    names: list(
      { ...text, maxLength: 9 },
      {
        maxItems: 9,
        "x-kubernetes-validations": [
          { rule: "self.all(a, self.exists_one(b, a == b))", message: "names are unique", reason: "FieldValueDuplicate" },
        ],
      },
    ),
    once: {
      ...text,
      maxLength: 9,
      "x-kubernetes-validations": [
        { rule: "oldSelf.hasValue() || self == 'new'", optionalOldSelf: true, message: "begins as new" },
        { rule: "!oldSelf.hasValue() || oldSelf.value() != 'done' || self == 'done'", optionalOldSelf: true, message: "done is done" },
      ],
    },
    counts: map({ type: "integer", "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "counts do not shrink" }] }),
    values: { type: "object", additionalProperties: true },
    resource: { ...struct({ spec: struct({ a: text }) }), "x-kubernetes-embedded-resource": true },
    whole: { ...open, "x-kubernetes-embedded-resource": true },
    nothing: { ...text, nullable: true, default: "filled" },
    on: { ...flag, default: true },
  }),
};
const check = (spec: object): Step =>
  given("apply --dry-run=server", { apiVersion: "checks.example.com/v1", kind: "Checked", metadata: { name: "c" }, spec });
const samples: readonly object[] = [
  { size: "1Gi" },
  { size: "20Gi" },
  { size: "x" },
  { sum: "2Ki" },
  { sum: "1" },
  { sum: "zz" },
  { address: "1.2.3.4" },
  { address: "::1" },
  { local: "::1" },
  { local: "FE80::1" },
  { local: "x" },
  { block: "10.0.0.1/8" },
  { inside: "11.0.0.0/8" },
  { inside: "bad" },
  { site: "https://a.example.com/x" },
  { site: "https://a.example.com/x?y=1" },
  { site: "/relative" },
  { label: "Not_Ok" },
  { release: "2.0.0" },
  { release: "v1" },
  { letters: "ab" },
  { letters: "az" },
  { start: "2026-01-05T00:00:00Z" },
  { start: "2025-01-05T00:00:00Z" },
  { broken: "b" },
  { names: ["a", "b", "a"] },
  { once: "old" },
  { values: { a: "text", b: { gone: 1 } } },
  { resource: { apiVersion: "v1", kind: "Pod", metadata: { name: "n", labels: { "a b": "c" } } } },
  { whole: { spec: {} } },
];

/** What people mistype in the kinds that everybody uses, and what rules of custom kinds say of it. */
export const kubectlRefusedSessions: readonly KubectlSession[] = [
  {
    name: "workloads that are refused",
    steps: [
      deployment("d1", { replicas: "2" }),
      deployment("d2", { template: { metadata: { labels: { x: "y" } }, spec: { containers } } }),
      templated("d3", { containers: [] }),
      templated("d4", { containers: [{ image: "x" }] }),
      templated("d5", { containers: [...containers, ...containers] }),
      templated("d6", { restartPolicy: "Never" }),
      deployment("d7", { selector: {} }),
      deployment("d8", { strategy: { type: "Recreate", rollingUpdate: { maxSurge: 1 } } }),
      deployment("d9", { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
      deployment("d10", { progressDeadlineSeconds: 5, minReadySeconds: 10 }),
      of("p1", {
        ports: [
          { containerPort: 80, name: "a" },
          { containerPort: 81, name: "a" },
        ],
      }),
      of("p2", { ports: [{ containerPort: 70_000 }] }),
      of("p3", { volumeMounts: [{ name: "x", mountPath: "/x" }] }),
      of("p4", { env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "spec.nope" } } }] }),
      of("p5", { resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }),
      of("p6", { resources: { requests: { nope: "1" } } }),
      of("p7", { livenessProbe: {} }),
      of("p8", { image: " i" }),
      pod("p9", { volumes: [{ name: "a", hostPath: { path: "../x" } }] }),
      pod("p10", { volumes: [{ name: "a", emptyDir: {}, secret: { secretName: "x" } }] }),
      pod("p11", { tolerations: [{ key: "k", effect: "NoSchedule", tolerationSeconds: 3 }] }),
      pod("p12", { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } } }),
      pod("p13", { securityContext: { sysctls: [{ name: "bad!", value: "1" }] } }),
      pod("p14", { os: { name: "x" } }),
      pod("p15", { dnsPolicy: "None" }),
      pod("p16", { hostAliases: [{ ip: "x" }] }),
      pod("ok", {}),
      'patch pod ok -p {"spec":{"tolerations":[{"key":"n","operator":"Exists"}]}}',
      "get pod ok -o jsonpath={.spec.tolerations[*].key}",
      'patch pod ok -p {"spec":{"containers":[{"name":"new","image":"x"}]}}',
      "delete pod ok --now",
      made("autoscaling/v2", "HorizontalPodAutoscaler", "h", {
        spec: { maxReplicas: 0, minReplicas: -1, scaleTargetRef: { kind: "D", name: "" } },
      }),
      made("v1", "Endpoints", "e", { subsets: [{ addresses: [{ ip: "127.0.0.1" }], ports: [{ port: 0 }] }] }),
      made("v1", "PersistentVolume", "pv-$NS", { spec: {} }),
    ],
  },
  {
    name: "services, claims and secrets that are refused or filled in",
    steps: [
      service("s1", { ports: [] }),
      service("s2", { ports: [{ port: 80, name: "A_" }] }),
      service("s3", { selector: { "a b": "c" } }),
      service("s4", { clusterIP: "1.2.3.4" }),
      service("s5", { clusterIP: "x" }),
      service("s6", { type: "NodePort", ports: [{ port: 80, nodePort: 1 }] }),
      service("s7", { loadBalancerSourceRanges: ["10.0.0.0/8"] }),
      service("s8", { ipFamilyPolicy: "RequireDualStack" }),
      "create service clusterip s9 --tcp=80 --clusterip=10.97.0.1 --dry-run=server",
      claim("c1", { dataSource: { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "x" } }),
      claim("c2", { dataSource: { apiGroup: "other.io", kind: "Foo", name: "x" } }),
      claim("c3", { dataSourceRef: { apiGroup: "other.io", kind: "Foo", name: "x" } }),
      claim("c4", { dataSourceRef: { apiGroup: "other.io", kind: "Foo", name: "x", namespace: "y" } }),
      claim("c5", {
        dataSource: { kind: "PersistentVolumeClaim", name: "x" },
        dataSourceRef: { kind: "PersistentVolumeClaim", name: "y" },
      }),
      claim("c6", { accessModes: ["ReadWriteOncePod", "ReadWriteOnce"] }),
      "get pvc c1 c2 c3 c4 -o yaml",
      "create secret generic t1 --type=kubernetes.io/tls --from-literal=tls.crt=x --from-literal=tls.key=y",
      "label secret t1 a=b",
      "create secret generic t2 --type=kubernetes.io/tls --from-literal=tls.crt=x",
      "create quota q --hard=cpu=1,requests.storage=5Gi,count/jobs.batch=2,services.loadbalancers=1 --scopes=NotTerminating",
      "create priorityclass first-$NS --value=1 --global-default=true",
      "wait priorityclass/first-$NS --for=jsonpath={.value}=1 --timeout=60s",
      cached("create priorityclass second-$NS --value=2 --global-default=true --dry-run=server"),
      "create priorityclass second-$NS --value=2 --global-default=true",
      "create priorityclass second-$NS --value=2",
      'patch priorityclass second-$NS --type=merge -p {"globalDefault":true}',
      'patch priorityclass first-$NS --type=merge -p {"globalDefault":true,"description":"x"}',
      "delete priorityclass first-$NS second-$NS",
      "create token default --bound-object-kind=Secret --bound-object-name=t1 --bound-object-uid=x",
      "create token default --bound-object-kind=Secret --bound-object-name=nope --bound-object-uid=x",
    ],
  },
  {
    name: "rules of a kind, one by one",
    steps: [
      given("apply", definition(checked)),
      "wait --for=condition=Established crd checkeds.checks.example.com --timeout=90s",
      // Established says that the kind is accepted; the handler that serves it follows a moment later.
      "get checkeds --request-timeout=90s",
      ...samples.map(check),
      given("create", {
        apiVersion: "checks.example.com/v1",
        kind: "Checked",
        metadata: { name: "t" },
        spec: { once: "new", counts: { a: 2 } },
      }),
      'patch checked t --type=merge -p {"spec":{"once":"done"}}',
      'patch checked t --type=merge -p {"spec":{"once":"new"}}',
      'patch checked t --type=merge -p {"spec":{"once":null,"counts":{"a":1}}}',
      'patch checked t --type=merge -p {"spec":{"counts":{"a":null,"b":0},"nothing":null,"on":null}}',
      'patch checked t --type=merge -p {"spec":{"values":{"x":[1,{"gone":2}],"y":{"gone":3},"z":null}}}',
      "get checked t -o jsonpath={.spec}",
      "explain checked --recursive",
      "explain checked.spec.resource",
      "explain checked.spec.whole.metadata",
      "delete crd checkeds.checks.example.com --wait=false",
    ],
  },
];
