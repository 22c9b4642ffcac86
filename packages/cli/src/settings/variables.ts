import { readAddonJob } from "./addon-job.ts";
import { readBackupJob } from "./backup-job.ts";
import {
  readAddress,
  readBoolean,
  readCollector,
  readCount,
  readDuration,
  readHosts,
  readNamespaces,
  readOneOf,
  readStoreEndpoints,
  readText,
  readVersion,
  type Reader,
} from "./readers.ts";

/** An environment variable of the commands that run the operator. */
export interface Variable<T = unknown> {
  readonly name: string;
  /** What holds when it is not set, as it would be written. */
  readonly default: string;
  readonly summary: string;
  readonly read: Reader<T>;
}

/** A variable of a published operator that has no effect here. */
export interface ForeignVariable extends Variable {
  /** `refuse`: a value that asks for something ends the start, because leaving it out would surprise. `warn`: nothing is lost without it. */
  readonly otherwise: "refuse" | "warn";
  /** What to do instead, or why nothing needs to be done. */
  readonly instead: string;
}

const levels = ["debug", "info", "warn", "error", "silent"] as const;

function variable<T>(name: string, standard: string, read: Reader<T>, summary: string): Variable<T> {
  return { name, default: standard, summary, read };
}

/** What is read, and used. Flags of the same meaning win. */
export const variables = {
  logLevel: variable("LOG_LEVEL", "info", readOneOf(levels), "debug, info, warn, error or silent"),
  logJson: variable("LOG_JSON", "true", readBoolean, "false: lines for people instead of JSON"),
  development: variable("DEVELOPMENT", "false", readBoolean, "true: LOG_LEVEL debug and LOG_JSON false unless they are set"),
  metricsAddress: variable("METRICS_BIND_ADDRESS", ":8080", readAddress, "where /metrics is served; 0 switches it off"),
  healthAddress: variable("HEALTH_PROBE_BIND_ADDRESS", ":8081", readAddress, "where /healthz and /readyz are served; 0 switches them off"),
  reconcileIntervalMs: variable(
    "RECONCILE_INTERVAL",
    "30s",
    readDuration(1_000, 86_400_000),
    "how often a settled KubernetesCluster is looked at",
  ),
  maxConcurrentReconciles: variable("MAX_CONCURRENT_RECONCILES", "1", readCount(1, 1_000), "KubernetesClusters that are composed at once"),
  resultsPath: variable("RESULTS_PATH", "hack/results", readText, "folder of the manifests of Machines; empty: none are written"),
  talosVersion: variable(
    "TALOS_VERSION",
    "",
    readVersion,
    "Talos of KubernetesClusters that name none; empty: the release this operator is made for",
  ),
  kubernetesVersion: variable(
    "DEFAULT_KUBERNETES_VERSION",
    "",
    readVersion,
    "Kubernetes of KubernetesClusters that name none; empty: what the Talos release installs",
  ),
  endpointMode: variable(
    "ENDPOINT_MODE",
    "networkconfiguration",
    readOneOf(["networkconfiguration", "none", "talosvip", "custom"] as const),
    "where the endpoint of KubernetesClusters comes from that do not say",
  ),
  customEndpoint: variable("CUSTOM_ENDPOINT", "", readHosts, "comma-separated hosts of endpoint mode custom; the first is the endpoint"),
  machineRefNamespaces: variable(
    "MACHINE_REF_NAMESPACES",
    "*",
    readNamespaces,
    "comma-separated namespaces that machineRef may lead to beside that of the object that refers; *: all; empty: none",
  ),
  requireBackupStoreLabel: variable(
    "REQUIRE_BACKUP_STORE_LABEL",
    "false",
    readBoolean,
    "true: backups read keys of stores only from Secrets with the label talos-operator.dev/backup-store=true",
  ),
  backupEndpoints: variable(
    "BACKUP_ENDPOINTS",
    "*",
    readStoreEndpoints,
    "comma-separated URLs that backups may go to, each with what is below its path; aws: stores without an endpoint; *: every one; empty: none",
  ),
  backupIdentityNamespaces: variable(
    "BACKUP_IDENTITY_NAMESPACES",
    "*",
    readNamespaces,
    "comma-separated namespaces whose backups may use the cloud identity of the Jobs, which a store without keys takes; *: all; empty: none",
  ),
  metricsObjects: variable(
    "METRICS_OBJECTS",
    "1000",
    readCount(0, 100_000),
    "clusters and pools whose conditions are reported by name in talos_operator_object_condition; 0: none",
  ),
  podName: variable("POD_NAME", "", readText, "pod that this process runs in, with POD_NAMESPACE and POD_UID; empty: it runs in none"),
  podNamespace: variable("POD_NAMESPACE", "", readText, "its namespace"),
  podUid: variable("POD_UID", "", readText, "its UID: a cluster that has such a pod is the one that this process runs in"),
  backupJob: variable(
    "BACKUP_JOB",
    "",
    readBackupJob,
    "JSON of what the Jobs of backups are made of: image, serviceAccountName, scratchSize, and optionally imagePullPolicy, imagePullSecrets, resources, scratchStorageClass, directoryClaim, labels, annotations, nodeSelector, tolerations, priorityClassName; empty: no Jobs",
  ),
  addonJob: variable(
    "ADDON_JOB",
    "",
    readAddonJob,
    "JSON of what the Jobs of addons are made of: image, serviceAccountName, scratchSize, and optionally imagePullPolicy, imagePullSecrets, resources, env, labels, annotations, nodeSelector, tolerations, priorityClassName; empty: no Jobs, and no addon is installed",
  ),
  otlpEndpoint: variable(
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "",
    readCollector,
    "collector that gets traces at /v1/traces, as OTLP in JSON over HTTP; empty: no traces; other OTEL_ variables: docs/operator_manual",
  ),
  tracesEndpoint: variable(
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "",
    readCollector,
    "the same with its path, used as it is; has the first word",
  ),
} as const;

function foreign(
  name: string,
  standard: string,
  read: Reader<unknown>,
  otherwise: ForeignVariable["otherwise"],
  summary: string,
  instead: string,
): ForeignVariable {
  return { name, default: standard, summary, read, otherwise, instead };
}

const minutes = readCount(0, 100_000);
const inMachine = "each Machine names its image";
const notBuilt = "this operator cannot do it yet";
const enforced = "versions and extensions are declared per cluster, and what is declared is brought about";

/** What is recognised and has no effect, so that nobody relies on it unknowingly. */
export const foreignVariables: readonly ForeignVariable[] = [
  foreign("TALOS_EXTENSION_ENFORCE_ENABLED", "false", readBoolean, "refuse", "brings missing extensions about", "name an image with them"),
  foreign("TALOS_VERSION_ENFORCE_ENABLED", "false", readBoolean, "refuse", "brings TALOS_VERSION about everywhere", "set it per cluster"),
  foreign("SECRET_PREFIX", "", readText, "refuse", "prefix of Secrets", "Secrets are named after their cluster"),
  foreign("TENANT_CONFIGMAP_NAME", "", readText, "refuse", "patch for all clusters", "write it as patch of each cluster"),
  foreign("TALOS_PREDICTABLE_NETWORK_NAMES", "true", readBoolean, "refuse", "adds net.ifnames=0", "name links by selectors"),
  foreign("TALOS_VIP_LINK", "net0", readText, "refuse", "link that holds a virtual address", "write it as a patch"),
  foreign("ENABLE_PXE_BOOT_STACK", "false", readBoolean, "refuse", "serves PXE", notBuilt),
  foreign(
    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "http/json",
    readText,
    "warn",
    "how traces are written",
    "OTLP in JSON over HTTP, which collectors take on the port of http/protobuf",
  ),
  foreign("ENV", "", readText, "warn", "reads .env-<ENV> files", "set the variables themselves"),
  foreign("LOG_ADD_CALLER", "false", readBoolean, "warn", "the place in the source on each line", "messages are constant: search for them"),
  foreign("LOG_COLORIZE_LINE", "false", readBoolean, "warn", "colours", "pipe the lines through a viewer"),
  foreign("LOG_UNESCAPED_MULTILINE", "false", readBoolean, "warn", "line breaks within a record", "a record is one line"),
  foreign("LOG_DISABLE_STACKTRACE", "false", readBoolean, "warn", "no stack traces", "they are in the field err of errors"),
  foreign("VITISTACK_NAME", "vitistack", readText, "warn", "name of the Vitistack object", "it is not read"),
  foreign("NAME_KUBERNETES_PROVIDER", "talos-provider", readText, "warn", "name of the KubernetesProvider object", "none is made"),
  foreign("TALOS_REQUIRED_EXTENSIONS", "", readText, "warn", "extensions that machines must have", enforced),
  foreign("TALOS_EXTENSION_ENFORCE_COOLDOWN_MINUTES", "5", minutes, "warn", "pause between tries", enforced),
  foreign("TALOS_VERSION_ENFORCE_COOLDOWN_MINUTES", "5", minutes, "warn", "pause between tries", enforced),
  foreign("TENANT_CONFIGMAP_NAMESPACE", "default", readText, "warn", "where that patch is", "none is read"),
  foreign("TENANT_CONFIGMAP_DATA_KEY", "config.yaml", readText, "warn", "key of that patch", "none is read"),
  foreign("TALOS_VM_INSTALL_IMAGE_KUBEVIRT", "", readText, "warn", "installer for one provider", inMachine),
  foreign("TALOS_VM_INSTALL_IMAGE_DEFAULT", "", readText, "warn", "installer for the others", inMachine),
  foreign("BOOT_IMAGE_SOURCE", "bootimage", readText, "warn", "pxe or bootimage", "machine providers decide"),
  foreign("BOOT_IMAGE", "", readText, "warn", "boot image of new Machines", inMachine),
  foreign(
    "PROVISION_FAILURE_TIMEOUT_MINUTES",
    "15",
    minutes,
    "warn",
    "when a cluster without machines counts as failed",
    "always after 15 minutes; it is waited for all the same",
  ),
  foreign("TALOS_OPERATOR_IMAGE", "", readText, "warn", "image of upgrade Jobs", "Talos is upgraded without Jobs"),
  foreign("TALOS_OPERATOR_SERVICE_ACCOUNT", "", readText, "warn", "account of upgrade Jobs", "Talos is upgraded without Jobs"),
  foreign("ENABLE_META_KEY", "true", readBoolean, "warn", "false: META is never written", "leave the meta field out of machines"),
  foreign("MATCHBOX_PORT", "", readText, "warn", "port of the PXE stack", "nothing is served for PXE"),
  foreign("TALOS_IMAGES_BASE_URL", "", readText, "warn", "where the PXE stack finds images", "nothing is served for PXE"),
  foreign("IPXE_BASE_URL", "", readText, "warn", "where the PXE stack finds iPXE", "nothing is served for PXE"),
];
