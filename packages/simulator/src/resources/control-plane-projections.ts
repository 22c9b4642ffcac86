import { activeFacts, isControlPlane, isSameCluster, nodenameOf } from "../node/identity.ts";
import type { Projection } from "./projection.ts";

const components = ["kube-apiserver", "kube-controller-manager", "kube-scheduler"] as const;

/** What concerns Kubernetes: Node, kubelet, static pods, endpoints. */
export const controlPlaneProjections: Readonly<Record<string, Projection>> = {
  "NodeStatuses.kubernetes.talos.dev": ({ cell }) => {
    const { kubernetes } = cell.state;
    const facts = activeFacts(cell.state);
    if (facts === undefined || !kubernetes.isNodeRegistered) return [];
    return [
      {
        id: nodenameOf(cell.state),
        owner: "k8s.NodeStatusController",
        spec: {
          nodename: nodenameOf(cell.state),
          nodeReady: kubernetes.isNodeReady,
          unschedulable: false,
          labels: { "kubernetes.io/hostname": nodenameOf(cell.state), ...facts.nodeLabels },
          annotations: {},
          podCIDRs: [],
        },
      },
    ];
  },
  "OSRootSecrets.secrets.talos.dev": ({ cell }) => {
    const facts = activeFacts(cell.state);
    if (facts === undefined) return [];
    const encode = (text: string): string => Buffer.from(text).toString("base64");
    return [
      {
        id: "os",
        owner: "secrets.RootOSController",
        spec: {
          issuingCA: { crt: encode(facts.osCa.certificate), key: encode(facts.osCa.key) },
          acceptedCAs: facts.acceptedOsCas.map((certificate) => ({ crt: encode(certificate) })),
          certSANIPs: [cell.address],
          certSANDNSNames: [],
          token: facts.machineToken,
        },
      },
    ];
  },
  "KubeletSpecs.kubernetes.talos.dev": ({ cell }) => {
    const facts = activeFacts(cell.state);
    if (facts === undefined) return [];
    return [
      {
        id: "kubelet",
        owner: "k8s.KubeletSpecController",
        spec: { image: facts.kubeletImage, args: [], expectedNodename: nodenameOf(cell.state), config: {} },
      },
    ];
  },
  "StaticPodStatuses.kubernetes.talos.dev": ({ cell }) => {
    if (!cell.state.kubernetes.hasStaticPods) return [];
    return components.map((component) => ({
      id: `kube-system/${component}-${nodenameOf(cell.state)}`,
      owner: "k8s.KubeletStaticPodController",
      spec: { phase: "Running", conditions: [{ type: "Ready", status: "True" }], hostIP: cell.address, podIP: cell.address },
    }));
  },
  "StaticPods.kubernetes.talos.dev": ({ cell }) => {
    if (!isControlPlane(cell.state) || cell.state.services["etcd"]?.isHealthy !== true) return [];
    return components.map((component) => ({
      id: component,
      owner: "k8s.ControlPlaneStaticPodController",
      spec: { apiVersion: "v1", kind: "Pod", metadata: { name: component, namespace: "kube-system" } },
    }));
  },
  "Endpoints.kubernetes.talos.dev": ({ world, cell }) => {
    const own = activeFacts(cell.state);
    if (own === undefined) return [];
    const peers = world.cells().filter((other) => isControlPlane(other.state) && isSameCluster(own, activeFacts(other.state)));
    const serving = peers.filter((other) => other.state.kubernetes.hasStaticPods).map((other) => other.address);
    return [
      { id: "discovery", owner: "k8s.EndpointController", spec: { addresses: peers.map((other) => other.address), hosts: [] } },
      ...(serving.length === 0 ? [] : [{ id: "kube-apiserver", owner: "k8s.EndpointController", spec: { addresses: serving, hosts: [] } }]),
    ];
  },
};
