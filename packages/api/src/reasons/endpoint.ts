import type { ConditionEntry } from "./entry.ts";

const LEAD = "Let it lead to port 6443 of the control planes.";

/** Where a cluster is on its way to another endpoint. */
export const endpointUpToDate = {
  meaning:
    "The cluster has the endpoint that its spec names. Present while the spec asks for another one: it is asked first, and nothing is sent before it leads to this cluster. Then control planes get it, one at a time; when all have it, kubeconfig and workers follow. The cluster stays ready by the endpoint that it has.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane"],
  reasons: {
    Asked: { status: "Unknown", release: "itself", when: "The first answer of the new endpoint is awaited.", next: "-" },
    ControlPlanesFollow: {
      status: "False",
      release: "itself",
      when: "The new endpoint leads to this cluster, and control planes are given it one at a time.",
      next: "-",
    },
    NotReached: {
      status: "False",
      release: "person",
      when: "The new endpoint does not lead to this cluster: its name does not resolve, nobody listens, or another cluster or service answers. It is asked again at least once a minute.",
      next: "Correct its DNS record, virtual IP or load balancer, or set spec.endpoint back.",
    },
    DiscoveryOff: {
      status: "False",
      release: "person",
      when: "Control planes run without discovery, and look for etcd at the endpoint.",
      next: "Switch discovery on (cluster.discovery.enabled, airGap), or set spec.endpoint back.",
    },
    OutsideOnly: {
      status: "False",
      release: "person",
      when: "The annotation talos-operator.dev/endpoint-reachable-from says outside: the operator cannot ask the new endpoint.",
      next: "Remove the annotation while the endpoint changes, or set spec.endpoint back.",
    },
  },
} as const satisfies ConditionEntry;

/** Whether clients reach the cluster where its kubeconfig leads. */
export const endpointReachable = {
  meaning:
    "An API server of this cluster answers at its endpoint, with a certificate of the cluster's own authority. Asked from the bootstrap on, at every change and once a minute; nothing that is done to machines waits for it. Absent before.",
  kinds: ["KubernetesCluster", "TalosCluster", "TalosControlPlane"],
  reasons: {
    Reached: { status: "True", release: "none", when: "An API server of this cluster answers.", next: "-" },
    NotAsked: {
      status: "Unknown",
      release: "none",
      when: "No control plane serves the API yet, or the first answer is awaited.",
      next: "Nothing; it is asked at once.",
    },
    NoAnswer: {
      status: "Unknown",
      release: "none",
      when: "It was silent once or twice. A cluster that was ready stays so.",
      next: "Nothing; it is asked again within seconds.",
    },
    OutsideOnly: {
      status: "Unknown",
      release: "none",
      when: "The annotation talos-operator.dev/endpoint-reachable-from says outside: the operator does not ask.",
      next: "Remove the annotation when the operator reaches the endpoint.",
    },
    NameUnresolved: {
      status: "False",
      release: "none",
      when: "DNS says that the endpoint's name does not exist or has no address.",
      next: "Create a DNS record that leads to the control planes. Where only clients in other networks resolve it, annotate the TalosControlPlane with talos-operator.dev/endpoint-reachable-from=outside.",
    },
    ConnectionRefused: {
      status: "False",
      release: "none",
      when: "Nobody listens there, or whoever does ends the connection at once, as a load balancer without backends.",
      next: LEAD,
    },
    ForeignCertificate: {
      status: "False",
      release: "none",
      when: "What answers shows a certificate that this cluster's authority did not sign: another cluster, or a load balancer that ends TLS.",
      next: "Correct its DNS record, virtual IP or load balancer; TLS must be passed through.",
    },
    CertificateUnfit: {
      status: "False",
      release: "none",
      when: "The certificate is this cluster's, and is for other names or not in force now.",
      next: "Correct cluster.apiServer.certSANs, or the clocks of the control planes.",
    },
    NotKubernetes: { status: "False", release: "none", when: "What answers speaks no TLS, or is no API server.", next: LEAD },
    NoPort: {
      status: "False",
      release: "none",
      when: "The endpoint names no port, so clients use 443, and no API server of this cluster answers there.",
      next: "Let port 443 lead to port 6443 of the control planes.",
    },
    MachineLeft: {
      status: "False",
      release: "none",
      when: "The endpoint is the address of a machine that left the cluster, and no API server answers there any more.",
      next: "Give the address to a control plane, or to a load balancer that leads to port 6443 of the control planes.",
    },
    TimedOut: {
      status: "False",
      release: "none",
      when: "It was silent three times in a row, or there is no way to it.",
      next: "Check its virtual IP or load balancer, and firewalls. Where only clients in other networks reach it, annotate the TalosControlPlane with talos-operator.dev/endpoint-reachable-from=outside.",
    },
  },
} as const satisfies ConditionEntry;
