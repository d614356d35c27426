package compat

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	instanceGroup = "GCPMachinePool"
	nodePool      = "GCPManagedMachinePool"
)

// gcpPool returns a pool of a kind with the given specification.
func gcpPool(t *testing.T, namespace, kind, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, namespace, "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: "+kind+", metadata: {generateName: p-}, spec: "+
		spec+"}")
}

const (
	kmsKey = "{keyType: Managed, kmsKeyServiceAccount: a@p.iam.gserviceaccount.com, managedKey: {kmsKeyName: " +
		"projects/p/locations/us-central1/keyRings/r/cryptoKeys/k}}"
	rawKey      = "{keyType: Supplied, suppliedKey: {rawKey: YQ==}}"
	wrappedKey  = "{keyType: Supplied, suppliedKey: {rsaEncryptedKey: YQ==}}"
	cloudScopes = "['https://www.googleapis.com/auth/cloud-platform']"
)

// gcpFields are specifications of each kind which between them use every field that there is.
var gcpFields = map[string][]string{
	instanceGroup: {
		"{instanceType: n2-standard-4}",
		"{instanceType: n2-standard-4, providerID: 'gce://p/us-central1-a/g', providerIDList: ['gce://p/us-central1-a/i'], subnet: nodes, " +
			"image: i, imageFamily: f, publicIP: true, preemptible: true}",
		"{instanceType: n2-standard-4, aliasIPRanges: [{ipCidrRange: /24, subnetworkRangeName: pods}], additionalLabels: {team: a}, " +
			"additionalMetadata: [{key: k, value: v}], additionalNetworkTags: [t]}",
		"{instanceType: n2-standard-4, resourceManagerTags: [{parentID: '1', key: k, value: v}], rootDeviceSize: 50, rootDeviceType: " +
			"hyperdisk-balanced, rootDiskEncryptionKey: " + kmsKey + "}",
		"{instanceType: n2-standard-4, rootDiskEncryptionKey: " + rawKey + ", additionalDisks: [{deviceType: pd-ssd, size: 10, encryptionKey: " +
			wrappedKey + "}, {encryptionKey: " + kmsKey + "}, {encryptionKey: " + rawKey + "}]}",
		"{instanceType: n2-standard-4, rootDiskEncryptionKey: " + wrappedKey +
			", serviceAccounts: {email: a@p.iam.gserviceaccount.com, scopes: " + cloudScopes + "}, provisioningModel: Spot, ipForwarding: Disabled}",
		"{instanceType: n2d-standard-4, shieldedInstanceConfig: {secureBoot: Enabled, virtualizedTrustedPlatformModule: Enabled, " +
			"integrityMonitoring: Disabled}, onHostMaintenance: Terminate, confidentialCompute: Enabled}",
		"{instanceType: n1-standard-4, guestAccelerators: [{count: 1, type: nvidia-tesla-t4}], strategy: {type: RollingUpdate, " +
			"waves: [1, 10%], soak: {first: 30m0s, wave: 10m0s, final: 5m0s}, undrainable: {action: Quarantine, after: 2h0m0s, max: 2}, " +
			"rollingUpdate: " +
			"{maxSurge: 25%, maxUnavailable: 1, deletePolicy: Newest}}}",
		"{instanceType: e2-medium, distributionPolicy: {zones: [us-central1-a], targetShape: Any}, autoHealing: {healthCheck: h, " +
			"initialDelaySec: 300}, instanceLifecyclePolicy: {defaultActionOnFailure: Repair, forceUpdateOnRepair: true}}",
	},
	nodePool: {
		"{}",
		"{providerID: 'gke://p/us-central1/c/np', providerIDList: ['gce://p/us-central1-a/i'], nodePoolName: np, machineType: e2-medium, " +
			"diskSizeGb: 100, localSsdCount: 1, imageType: COS_CONTAINERD}",
		"{instanceType: n2-standard-4, diskType: pd-balanced, diskSizeGB: 50, nodeLocations: [us-central1-a], scaling: {enableAutoscaling: " +
			"true, minCount: 1, maxCount: 3, locationPolicy: any}, maxPodsPerNode: 64}",
		"{scaling: {totalMinCount: 1, totalMaxCount: 9}, nodeNetwork: {tags: [t], createPodRange: true, podRangeName: pods, podRangeCidrBlock: " +
			"/20}, kubernetesLabels: {example.com/team: a}, additionalLabels: {team: a}}",
		"{nodeSecurity: {serviceAccount: {email: a@p.iam.gserviceaccount.com, scopes: " + cloudScopes +
			"}, sandboxType: gvisor, enableSecureBoot: true, enableIntegrityMonitoring: true}, spot: true, confidentialCompute: " +
			"AMDEncryptedVirtualization}",
		"{kubernetesTaints: [{effect: NoSchedule, key: k, value: v}], management: {autoUpgrade: true, autoRepair: true}, preemptible: true}",
		"{linuxNodeConfig: {sysctls: [{parameter: net.core.somaxconn, value: '2048'}], cgroupMode: 2, hugepages: {hugepageSize2m: 1, " +
			"hugepageSize1g: 1}}, upgradeSettings: {strategy: Surge, maxSurge: 2, maxUnavailable: 1}}",
		"{upgradeSettings: {strategy: BlueGreen, blueGreenSettings: {nodePoolSoakDuration: 1h0m0s, standardRolloutPolicy: {batchPercentage: " +
			"25, batchSoakDuration: 30s}}}}",
		"{upgradeSettings: {strategy: BlueGreen, blueGreenSettings: {standardRolloutPolicy: {batchNodeCount: 2}}}}",
	},
}

// gcpSchema returns the schema of a kind's specification.
func gcpSchema(t *testing.T, kind string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "api", "crd", "infrastructure.cluster.x-k8s.io_"+strings.ToLower(kind)+"s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
}

// TestEveryFieldOfGCPPools holds that a pool may use each field that the schema has, and reads back as it was written.
func TestEveryFieldOfGCPPools(t *testing.T) {
	c := client.WithFieldValidation(admin(t), "Strict")
	ns := namespace(t, c)
	for kind, list := range gcpFields {
		used := map[string]bool{}
		for _, spec := range list {
			u := gcpPool(t, ns, kind, spec)
			wrote := u.DeepCopy()
			if err := c.Create(t.Context(), u, client.DryRunAll); err != nil {
				t.Errorf("%s %s: want it taken, got %v", kind, spec, err)
				continue
			}
			if lost := without(wrote.Object["spec"], u.Object["spec"], "spec"); lost != "" {
				t.Errorf("%s: %s reads back as something else: %v", kind, lost, u.Object["spec"])
			}
			note(used, wrote.Object["spec"], "spec")
		}
		for _, path := range leaves(gcpSchema(t, kind), "spec") {
			if !used[path] {
				t.Errorf("%s: no specification uses %s", kind, path)
			}
		}
	}
}

// TestRefusalsOfGCPPools holds on a real API server what the existing provider documents as refused, and what Google Cloud can't change.
func TestRefusalsOfGCPPools(t *testing.T) {
	c := client.WithFieldValidation(admin(t), "Strict")
	ns := namespace(t, c)
	for why, tc := range map[string]struct {
		kind, old, spec string
		want            []string
	}{
		"a name of more than 40 characters": {kind: nodePool, spec: "{nodePoolName: " + strings.Repeat("a", 41) + "}",
			want: []string{"spec.nodePoolName", "40"}},
		"fewer than none": {kind: nodePool, spec: "{scaling: {minCount: -1}}",
			want: []string{"spec.scaling.minCount", "greater than or equal to 0"}},
		"bounds the wrong way round": {kind: nodePool, spec: "{scaling: {minCount: 2, maxCount: 1}}",
			want: []string{"spec.scaling.maxCount", "must be at least minCount"}},
		"a least size without the autoscaler": {kind: nodePool, spec: "{scaling: {enableAutoscaling: false, minCount: 1}}",
			want: []string{"spec.scaling.minCount", "enableAutoscaling is false"}},
		"a largest size without it": {kind: nodePool, spec: "{scaling: {enableAutoscaling: false, maxCount: 1}}",
			want: []string{"spec.scaling.maxCount", "enableAutoscaling is false"}},
		"a policy without it": {kind: nodePool, spec: "{scaling: {enableAutoscaling: false, locationPolicy: any}}",
			want: []string{"spec.scaling.locationPolicy", "enableAutoscaling is false"}},
		"a negative disk": {kind: nodePool, spec: "{diskSizeGb: -1}", want: []string{"spec.diskSizeGb", "at least 10"}},
		"negative local SSDs": {kind: nodePool, spec: "{localSsdCount: -1}",
			want: []string{"spec.localSsdCount", "greater than or equal to 0"}},
		"negative pods": {kind: nodePool, spec: "{maxPodsPerNode: -1}",
			want: []string{"spec.maxPodsPerNode", "greater than or equal to 8"}},
		"another name": {kind: nodePool, old: "{nodePoolName: a}", spec: "{nodePoolName: b}",
			want: []string{"spec.nodePoolName", "can't rename a node pool"}},
		"other local SSDs": {kind: nodePool, old: "{localSsdCount: 1}", spec: "{localSsdCount: 2}",
			want: []string{"spec.localSsdCount", "can't be changed"}},
		"other pods": {kind: nodePool, old: "{maxPodsPerNode: 8}", spec: "{maxPodsPerNode: 9}",
			want: []string{"spec.maxPodsPerNode", "can't be changed"}},
		"another range of pods": {kind: nodePool, old: "{}", spec: "{nodeNetwork: {podRangeName: a}}",
			want: []string{"spec.nodeNetwork.podRangeName", "can't be changed"}},
		"another service account": {kind: nodePool, old: "{nodeSecurity: {sandboxType: gvisor}}", spec: "{}",
			want: []string{"spec.nodeSecurity", "can't be changed"}},
		"another provisioning model": {kind: nodePool, old: "{spot: true}", spec: "{spot: false}",
			want: []string{"spec.spot", "can't be changed"}},
		"preemptible at last": {kind: nodePool, old: "{}", spec: "{preemptible: true}",
			want: []string{"spec.preemptible", "can't be changed"}},
		"no machine type": {kind: instanceGroup, spec: "{}", want: []string{"spec.instanceType", "Required value"}},
		"confidential and migrated": {kind: instanceGroup, spec: "{instanceType: a, confidentialCompute: Enabled}",
			want: []string{"spec.onHostMaintenance", "must be Terminate"}},
		"a label that is none": {kind: instanceGroup, spec: "{instanceType: a, additionalLabels: {A: b}}",
			want: []string{"spec.additionalLabels", "lower-case letter"}},
		"a boot disk on the host": {kind: instanceGroup, spec: "{instanceType: a, rootDeviceType: local-ssd}",
			want: []string{"spec.rootDeviceType", "local SSD"}},
		"an unknown field": {kind: instanceGroup, spec: "{instanceType: a, zone: b}", want: []string{"spec.zone", "unknown field"}},
	} {
		u := gcpPool(t, ns, tc.kind, tc.spec)
		var err error
		if tc.old == "" {
			err = c.Create(t.Context(), u, client.DryRunAll)
		} else {
			was := gcpPool(t, ns, tc.kind, tc.old)
			if err := c.Create(t.Context(), was); err != nil {
				t.Errorf("%s: %v", why, err)
				continue
			}
			was.Object["spec"] = u.Object["spec"]
			err = c.Update(t.Context(), was)
		}
		for _, part := range tc.want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: want it refused with %q, got %v", why, part, err)
			}
		}
	}
}

// TestGCPPoolsByWebhook holds the checks that only webhooks can do: warnings about fields without effect, and one object for a node pool.
func TestGCPPoolsByWebhook(t *testing.T) {
	c, warned := listening(t)
	ns := namespace(t, c)
	for _, tc := range []struct{ kind, spec, want string }{
		{instanceGroup, "{instanceType: e2-medium, image: i, imageFamily: f}", "Warning: spec.imageFamily: has no effect beside spec.image\n"},
		{nodePool, "{machineType: e2-medium, instanceType: e2-small}", "Warning: spec.machineType: has no effect beside spec.instanceType\n"},
		{nodePool, "{}", ""},
	} {
		warned.Reset()
		if err := c.Create(t.Context(), gcpPool(t, ns, tc.kind, tc.spec)); err != nil || warned.String() != tc.want {
			t.Errorf("%s %s: want %q, got %q, %v", tc.kind, tc.spec, tc.want, warned, err)
		}
	}
	named := func() *unstructured.Unstructured {
		u := gcpPool(t, ns, nodePool, "{nodePoolName: np}")
		u.SetLabels(map[string]string{"cluster.x-k8s.io/cluster-name": "c"})
		return u
	}
	if err := c.Create(t.Context(), named()); err != nil {
		t.Fatal(err)
	}
	// The webhook reads a cache, which shows the first object a moment later.
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		second := named()
		err := c.Create(ctx, second)
		if err == nil {
			return false, c.Delete(ctx, second)
		}
		return strings.Contains(err.Error(), "Duplicate value") && strings.Contains(err.Error(), "spec.nodePoolName"), err
	})
	if err == nil || !strings.Contains(err.Error(), "Duplicate value") || !strings.Contains(err.Error(), "spec.nodePoolName") {
		t.Errorf("want a second object of the name refused, got %v", err)
	}
}
