{{- /* The labels of every object: clusterctl finds what it installed by them. */ -}}
{{- define "muster.labels" -}}
cluster.x-k8s.io/provider: infrastructure-muster
{{- end }}

{{- define "muster.selector" -}}
control-plane: muster-controller-manager
{{- end }}

{{- define "muster.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "muster.controllers" -}}
{{ if .Values.core.enabled }}machinepool,{{ end }}awsmachinepool,awsmanagedmachinepool,azuremachinepool,azuremanagedmachinepool,azureasomanagedmachinepool,azurejson,gcpmachinepool,gcpmanagedmachinepool,gkeconfig,ocimachinepool,ocimanagedmachinepool,ocivirtualmachinepool,scalewaymanagedmachinepool,rolloutpolicy,webhook
{{- end }}

{{- define "muster.gates" -}}
{{- $gates := list -}}
{{- range list "MusterMachinePools" "MachinePoolMachines" "SkipMachinePoolModelReconciliation" "EKS" "EKSEnableIAM" "EKSAllowAddRoles" "BootstrapFormatIgnition" "GKE" -}}
{{- $gates = append $gates (printf "%s=%t" . (index $.Values.featureGates .)) -}}
{{- end -}}
{{ join "," $gates }}
{{- end }}
