{{- /* Values of the published charts that ask for something this operator does not do: refused, all at once, before anything is installed. */ -}}
{{- define "talos-operator.refuseUnbuilt" -}}
{{- $v := .Values }}
{{- $found := list }}
{{- if dig "ui" "enabled" false $v.AsMap }}{{ $found = append $found "ui.enabled: there is no UI" }}{{ end }}
{{- if and $v.tracing.enabled (not (include "talos-operator.tracesEndpoint" .)) }}{{ $found = append $found "tracing.enabled: set tracing.endpoint" }}{{ end }}
{{- if dig "featureFlags" "enablePxeBootStack" false $v.AsMap }}{{ $found = append $found "featureFlags.enablePxeBootStack: nothing is served for PXE" }}{{ end }}
{{- if dig "ingress" "enabled" false $v.AsMap }}{{ $found = append $found "ingress.enabled: nothing is served to the outside" }}{{ end }}
{{- if dig "autoscaling" "enabled" false $v.AsMap }}{{ $found = append $found "autoscaling.enabled: one replica works, others stand by; set replicaCount" }}{{ end }}
{{- if $v.secretPrefix }}{{ $found = append $found "secretPrefix: Secrets are named after their cluster" }}{{ end }}
{{- if dig "tenant" "configMapName" "" $v.AsMap }}{{ $found = append $found "tenant.configMapName: write the patch into each cluster" }}{{ end }}
{{- if not (dig "talos" "predictableNetworkNames" true $v.AsMap) }}{{ $found = append $found "talos.predictableNetworkNames=false: name links by selectors" }}{{ end }}
{{- if dig "talos" "extensionEnforceEnabled" false $v.AsMap }}{{ $found = append $found "talos.extensionEnforceEnabled: name an image with the extensions" }}{{ end }}
{{- if dig "talos" "versionEnforceEnabled" false $v.AsMap }}{{ $found = append $found "talos.versionEnforceEnabled: set the version of each cluster" }}{{ end }}
{{- range $name := list "serviceMonitor" "prometheusRule" "dashboard" }}
{{- if and (not $v.metrics.enabled) (dig $name "enabled" false $v.metrics) }}{{ $found = append $found (printf "metrics.%s.enabled: metrics.enabled is false" $name) }}{{ end }}
{{- end }}
{{- if $found }}
{{- fail (printf "These values ask for what this operator does not do. Take them out:\n- %s" (join "\n- " $found)) }}
{{- end }}
{{- end }}

{{- /* Values of the published charts that have no effect, and with which nothing is lost. */ -}}
{{- define "talos-operator.ineffective" -}}
{{- $v := .Values }}
{{- $found := list }}
{{- range $name := list "bootImage" "bootImageSource" "vitistackName" "kubernetesProviderName" "pxeBootStack" "service" "livenessProbe" "readinessProbe" }}
{{- if hasKey $v $name }}{{ $found = append $found $name }}{{ end }}
{{- end }}
{{- range $name := list "vmInstallImage" "requiredExtensions" "extensionCooldownMinutes" "versionEnforceCooldownMinutes" }}
{{- if hasKey ($v.talos | default dict) $name }}{{ $found = append $found (printf "talos.%s" $name) }}{{ end }}
{{- end }}
{{- if not (dig "featureFlags" "enableMetaKey" true $v.AsMap) }}{{ $found = append $found "featureFlags.enableMetaKey" }}{{ end }}
{{- join ", " $found }}
{{- end }}

{{- define "talos-operator.installCRDs" -}}
{{- if and .Values.crds.install (ne (toString .Values.installCRDs) "false") }}yes{{ end }}
{{- end }}
