/**
 * A small network plugin, for clusters of the demo whose configuration says `cni: none`: it writes a configuration for the plugins that Talos brings itself. Its pods
 * reach those of their own Node and no other, which is enough to see Nodes turn Ready. Files by their name in the archive.
 */
export const networkChart = {
  name: "network",
  version: "1.0.0",
  appVersion: "1.0",
  files: {
    "Chart.yaml":
      'apiVersion: v2\nname: network\nversion: 1.0.0\nappVersion: "1.0"\ndescription: A network plugin within each Node, to try addons with\n',
    "values.yaml": "# Network of pods, the same on each Node.\npodCIDR: 10.244.0.0/16\n",
    "templates/config.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}
data:
  10-network.conflist: |
    {
      "cniVersion": "1.0.0",
      "name": "network",
      "plugins": [
        {
          "type": "bridge",
          "bridge": "cni0",
          "isGateway": true,
          "ipMasq": true,
          "ipam": { "type": "host-local", "subnet": {{ .Values.podCIDR | quote }}, "routes": [{ "dst": "0.0.0.0/0" }] }
        },
        { "type": "portmap", "capabilities": { "portMappings": true } }
      ]
    }
`,
    "templates/daemonset.yaml": `apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: {{ .Release.Name }}
  labels: { app.kubernetes.io/name: network, app.kubernetes.io/instance: {{ .Release.Name }} }
spec:
  selector: { matchLabels: { app.kubernetes.io/instance: {{ .Release.Name }} } }
  template:
    metadata:
      labels: { app.kubernetes.io/name: network, app.kubernetes.io/instance: {{ .Release.Name }} }
      annotations: { checksum/config: {{ .Values.podCIDR | sha256sum }} }
    spec:
      # There is no other network yet, and every Node is tainted as not ready.
      hostNetwork: true
      tolerations: [{ operator: Exists }]
      priorityClassName: system-node-critical
      automountServiceAccountToken: false
      containers:
        - name: plugin
          image: docker.io/library/busybox:1.37
          command: [sh, -c, "cp /configuration/10-network.conflist /host/net.d/ && exec sleep 2147483647"]
          resources: { requests: { cpu: 1m, memory: 4Mi }, limits: { memory: 16Mi } }
          volumeMounts:
            - { name: configuration, mountPath: /configuration }
            - { name: net-d, mountPath: /host/net.d }
      volumes:
        - { name: configuration, configMap: { name: {{ .Release.Name }} } }
        - { name: net-d, hostPath: { path: /etc/cni/net.d, type: DirectoryOrCreate } }
`,
  },
} as const;
