package container

import (
	"strings"

	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/container/nodeconfig"
)

const (
	// podBlock and serviceBlock are the ranges of the addresses of a cluster's pods and services where none are given.
	podBlock, serviceBlock = "10.112.0.0/14", "34.118.224.0/20"
	// defaultTier is the tier of networks that GKE leaves to the project.
	defaultTier = "NETWORK_TIER_DEFAULT"
)

// settings of a cluster that GKE shows where the user sets none.
func clusterSettings() document.Object {
	kubelet := document.Object{"insecureKubeletReadonlyPortEnabled": false}
	return document.Object{
		"shieldedNodes": document.Object{"enabled": true}, "autopilot": document.Object{}, "legacyAbac": document.Object{},
		"loggingService": "logging.googleapis.com/kubernetes", "monitoringService": "monitoring.googleapis.com/kubernetes",
		"databaseEncryption": document.Object{"currentState": "CURRENT_STATE_DECRYPTED", "state": "DECRYPTED"},
		"addonsConfig": document.Object{"dnsCacheConfig": document.Object{"enabled": true},
			"gcePersistentDiskCsiDriverConfig": document.Object{"enabled": true}, "kubernetesDashboard": document.Object{"disabled": true},
			"networkPolicyConfig": document.Object{"disabled": true}},
		"anonymousAuthenticationConfig": document.Object{"mode": "ENABLED"}, "binaryAuthorization": document.Object{},
		"controlPlaneEgress": document.Object{"mode": "VIA_CONTROL_PLANE"},
		"enterpriseConfig":   document.Object{"clusterTier": "STANDARD"},
		"loggingConfig": document.Object{"componentConfig": document.Object{
			"enableComponents": []any{"SYSTEM_COMPONENTS", "WORKLOADS"}}},
		"monitoringConfig": document.Object{"advancedDatapathObservabilityConfig": document.Object{},
			"managedPrometheusConfig": document.Object{"enabled": true},
			"componentConfig": document.Object{"enableComponents": []any{"SYSTEM_COMPONENTS", "STORAGE", "HPA", "POD", "DAEMONSET", "DEPLOYMENT",
				"STATEFULSET", "CADVISOR", "KUBELET", "DCGM", "JOBSET"}}},
		"nodePoolAutoConfig": document.Object{"nodeKubeletConfig": kubelet},
		"nodePoolDefaults": document.Object{"nodeConfigDefaults": document.Object{"nodeKubeletConfig": kubelet,
			"loggingConfig": document.Object{"variantConfig": document.Object{"variant": "DEFAULT"}}}},
		"notificationConfig": document.Object{"pubsub": document.Object{}}, "podAutoscaling": document.Object{"hpaProfile": "PERFORMANCE"},
		"rbacBindingConfig": document.Object{"enableInsecureBindingSystemAuthenticated": true,
			"enableInsecureBindingSystemUnauthenticated": true},
		"securityPostureConfig": document.Object{"mode": "BASIC", "vulnerabilityMode": "VULNERABILITY_MODE_UNSPECIFIED"},
		"userManagedKeysConfig": document.Object{},
		"maintenancePolicy":     document.Object{"resourceVersion": "e3b0c442"},
		"masterAuthorizedNetworksConfig": document.Object{
			"gcpPublicCidrsAccessEnabled": true},
	}
}

// defaults adds what GKE adds to a new cluster.
func defaults(c *Cluster, region string, zones []string) {
	network := named(document.Text(c.Doc, "network"), "default")
	subnetwork := named(document.Text(c.Doc, "subnetwork"), "default")
	c.Doc["network"], c.Doc["subnetwork"] = network, subnetwork
	for member, v := range clusterSettings() {
		document.Preset(c.Doc, member, v)
	}
	for path, v := range map[string]any{
		"locations": document.List(zones), "releaseChannel.channel": channelOf(c), "defaultMaxPodsConstraint.maxPodsPerNode": "110",
		"autoscaling.autoscalingProfile": "BALANCED",
		"autoscaling.autoprovisioningNodePoolDefaults": document.Object{"imageType": "COS_CONTAINERD", "serviceAccount": "default",
			"management": document.Object{"autoRepair": true, "autoUpgrade": true}, "oauthScopes": document.List(nodeconfig.Scopes)},
		"networkConfig.network":                  "projects/" + c.Project + "/global/networks/" + network,
		"networkConfig.subnetwork":               "projects/" + c.Project + "/regions/" + region + "/subnetworks/" + subnetwork,
		"networkConfig.defaultSnatStatus":        document.Object{},
		"networkConfig.serviceExternalIpsConfig": document.Object{},
		"maintenancePolicy.resourceVersion":      "e3b0c442",
		"ipAllocationPolicy.stackType":           "IPV4", "ipAllocationPolicy.podCidrOverprovisionConfig": document.Object{},
		"ipAllocationPolicy.networkTierConfig.networkTier": defaultTier,
		"ipAllocationPolicy.clusterSecondaryRangeName":     "gke-" + c.Name + "-pods-" + c.Hash,
	} {
		document.Preset(c.Doc, path, v)
	}
	c.addresses()
	for _, member := range []string{"maintenancePolicy.window", "networkPolicy"} {
		if v := document.Dig(c.Doc, member); v != nil && len(document.Under(c.Doc, member)) == 0 {
			drop(c.Doc, member)
		}
	}
}

// drop takes a member out of a document.
func drop(d document.Object, path string) {
	if at := strings.LastIndexByte(path, '.'); at >= 0 {
		d, path = document.Under(d, path[:at]), path[at+1:]
	}
	delete(d, path)
}

// addresses chooses the ranges of pods and services as far as none are given, or only their sizes.
func (c *Cluster) addresses() {
	document.Place(c.Doc, "ipAllocationPolicy.useIpAliases", true)
	for name, block := range map[string]string{"cluster": podBlock, "services": serviceBlock} {
		requested := document.Text(c.Doc, "ipAllocationPolicy."+name+"Ipv4CidrBlock")
		if requested == "" || requested[0] == '/' {
			requested = block
		}
		document.Preset(c.Doc, name+"Ipv4Cidr", requested)
		for _, member := range []string{"Ipv4Cidr", "Ipv4CidrBlock"} {
			document.Place(c.Doc, "ipAllocationPolicy."+name+member, requested)
		}
	}
}
