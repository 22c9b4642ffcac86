/** A small chart, for the demo: a page that two pods serve. Files by their name in the archive. */
export const pageChart = {
  name: "page",
  version: "1.0.0",
  appVersion: "1.0",
  files: {
    "Chart.yaml":
      'apiVersion: v2\nname: page\nversion: 1.0.0\nappVersion: "1.0"\ndescription: A page that pods serve, to try addons with\n',
    "values.yaml": "# Pods that serve the page.\nreplicas: 2\n# What it says.\ntext: Hello\n",
    "templates/config.yaml":
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\ndata:\n  index.html: {{ .Values.text | quote }}\n",
    "templates/deployment.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels: { app.kubernetes.io/name: page, app.kubernetes.io/instance: {{ .Release.Name }} }
spec:
  replicas: {{ .Values.replicas }}
  selector: { matchLabels: { app.kubernetes.io/instance: {{ .Release.Name }} } }
  template:
    metadata:
      labels: { app.kubernetes.io/name: page, app.kubernetes.io/instance: {{ .Release.Name }} }
      # Other words are another template: the pods are made anew.
      annotations: { checksum/config: {{ .Values.text | sha256sum }} }
    spec:
      containers:
        - name: page
          image: docker.io/library/nginx:1.29
          ports: [{ name: http, containerPort: 80 }]
          volumeMounts: [{ name: page, mountPath: /usr/share/nginx/html }]
      volumes: [{ name: page, configMap: { name: {{ .Release.Name }} } }]
`,
    "templates/service.yaml": `apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}
spec:
  selector: { app.kubernetes.io/instance: {{ .Release.Name }} }
  ports: [{ name: http, port: 80, targetPort: http }]
`,
  },
} as const;
