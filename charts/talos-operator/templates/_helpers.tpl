{{- define "talos-operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "talos-operator.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- $name := default .Chart.Name .Values.nameOverride }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "talos-operator.selectorLabels" -}}
app.kubernetes.io/name: {{ include "talos-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "talos-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "talos-operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "talos-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (printf "%s-controller-manager" (include "talos-operator.fullname" .)) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /* A digest in place of a tag is joined as images write it. */ -}}
{{- define "talos-operator.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion }}
{{- printf "%s%s%s" .Values.image.repository (hasPrefix "sha256:" $tag | ternary "@" ":") $tag }}
{{- end }}

{{- /* Where traces go; empty: nowhere. Published charts write a host and a port, and a switch beside it. */ -}}
{{- define "talos-operator.tracesEndpoint" -}}
{{- with .Values.tracing -}}
{{- if .endpoint }}{{ .endpoint }}{{ else if and .enabled .otlpEndpoint }}{{ if contains "://" .otlpEndpoint }}{{ .otlpEndpoint }}{{ else }}http://{{ .otlpEndpoint }}{{ end }}{{ end }}
{{- end -}}
{{- end }}

{{- define "talos-operator.backupServiceAccountName" -}}
{{- if .Values.backup.serviceAccount.create }}
{{- default (printf "%s-backup" (include "talos-operator.fullname" .)) .Values.backup.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.backup.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "talos-operator.addonServiceAccountName" -}}
{{- if .Values.addons.serviceAccount.create }}
{{- default (printf "%s-addon" (include "talos-operator.fullname" .)) .Values.addons.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.addons.serviceAccount.name }}
{{- end }}
{{- end }}

{{- /* Where Jobs mount the volume of backup.directory. */ -}}
{{- define "talos-operator.backupFolder" -}}/backups{{- end }}

{{- define "talos-operator.backupClaim" -}}
{{- default (printf "%s-backups" (include "talos-operator.fullname" .)) .Values.backup.directory.existingClaim }}
{{- end }}

{{- /* What the Jobs of backups are made of: docs/reference/environment.md, BACKUP_JOB. */ -}}
{{- define "talos-operator.backupJob" -}}
{{- $b := .Values.backup }}
{{- $job := dict "image" (include "talos-operator.image" .) "imagePullPolicy" .Values.image.pullPolicy "serviceAccountName" (include "talos-operator.backupServiceAccountName" .) "resources" $b.resources "scratchSize" $b.scratch.size }}
{{- with .Values.imagePullSecrets }}{{ $_ := set $job "imagePullSecrets" . }}{{ end }}
{{- with $b.scratch.storageClassName }}{{ $_ := set $job "scratchStorageClass" . }}{{ end }}
{{- if $b.directory.enabled }}{{ $_ := set $job "directoryClaim" (include "talos-operator.backupClaim" .) }}{{ end }}
{{- with $b.podLabels }}{{ $_ := set $job "labels" . }}{{ end }}
{{- with $b.podAnnotations }}{{ $_ := set $job "annotations" . }}{{ end }}
{{- with $b.nodeSelector }}{{ $_ := set $job "nodeSelector" . }}{{ end }}
{{- with $b.tolerations }}{{ $_ := set $job "tolerations" . }}{{ end }}
{{- with $b.priorityClassName }}{{ $_ := set $job "priorityClassName" . }}{{ end }}
{{- toJson $job }}
{{- end }}

{{- /* What the Jobs of addons are made of: docs/reference/environment.md, ADDON_JOB. Empty: there are none. */ -}}
{{- define "talos-operator.addonJob" -}}
{{- $a := .Values.addons }}
{{- if $a.enabled }}
{{- $job := dict "image" (include "talos-operator.image" .) "imagePullPolicy" .Values.image.pullPolicy "serviceAccountName" (include "talos-operator.addonServiceAccountName" .) "resources" $a.resources "scratchSize" $a.scratchSize }}
{{- with .Values.imagePullSecrets }}{{ $_ := set $job "imagePullSecrets" . }}{{ end }}
{{- with $a.env }}{{ $_ := set $job "env" . }}{{ end }}
{{- with $a.podLabels }}{{ $_ := set $job "labels" . }}{{ end }}
{{- with $a.podAnnotations }}{{ $_ := set $job "annotations" . }}{{ end }}
{{- with $a.nodeSelector }}{{ $_ := set $job "nodeSelector" . }}{{ end }}
{{- with $a.tolerations }}{{ $_ := set $job "tolerations" . }}{{ end }}
{{- with $a.priorityClassName }}{{ $_ := set $job "priorityClassName" . }}{{ end }}
{{- toJson $job }}
{{- end }}
{{- end }}
