package webhook_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	ociadmission "github.com/muster-project/muster/providers/oci/admission"
)

func ociScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{ociv1.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// ociReader reads MachinePools.
func ociReader(scheme *runtime.Scheme, pools ...client.Object) client.Reader {
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(pools...).Build()
}

// ociMachinePool is the MachinePool ns/mp of an object p, with a version and an annotation that says who owns its size; by is absent if it
// is nil.
func ociMachinePool(kind, version string, by *string) *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{}
	mp.Namespace, mp.Name = "ns", "mp"
	mp.Spec.Template.Spec.Version = version
	mp.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{Kind: kind, Name: "p"}
	if by != nil {
		mp.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: *by}
	}
	return mp
}

func ociManaged(t *testing.T, spec string) *ociv1.OCIManagedMachinePool {
	t.Helper()
	p := &ociv1.OCIManagedMachinePool{}
	p.Namespace, p.Name = "ns", "p"
	decode(t, spec, &p.Spec)
	return p
}

// TestWarningsOfOCIPools holds which warnings users get about OCIMachinePools, at creation and in a change, and that controllers get none.
func TestWarningsOfOCIPools(t *testing.T) {
	t.Parallel()
	hook := ociadmission.Validator(ociScheme(t))
	const at = "spec.instanceConfiguration."
	for spec, want := range map[string][]string{
		"{shape: VM.Standard.E4.Flex, shapeConfig: {ocpus: '1'}, metadata: {ssh_authorized_keys: k}}": nil,
		"{shape: VM.Standard2.1, shapeConfig: {ocpus: '1'}}": {
			at + "shapeConfig: has no effect with shape VM.Standard2.1, which has one size"},
		"{dedicatedVmHostId: ocid1.x, capacityReservationId: ocid1.y, preemptibleInstanceConfig: {}}": {
			at + "dedicatedVmHostId: OCI launches no instance pool on a dedicated host; remove it",
			at + "capacityReservationId: OCI launches no preemptible instances in a reservation; remove it or preemptibleInstanceConfig"},
		"{dedicatedVmHostId: '', capacityReservationId: '', preemptibleInstanceConfig: {}}": nil,
		"{metadata: {user_data: x}}": {at + "metadata.user_data: has no effect: instances get the bootstrap data of the MachinePool"},
		"{instanceVnicConfiguration: {subnetId: a, subnetName: b, nsgIds: [c], nsgNames: [d], nsgId: e}}": {
			at + "instanceVnicConfiguration.subnetName: has no effect beside subnetId",
			at + "instanceVnicConfiguration.nsgNames: has no effect beside nsgIds",
			at + "instanceVnicConfiguration.nsgId: is deprecated; use nsgIds"},
		"{instanceVnicConfiguration: {subnetName: b, nsgNames: [d]}}": nil,
	} {
		pool := func(configuration string) *ociv1.OCIMachinePool {
			p := &ociv1.OCIMachinePool{}
			p.Namespace, p.Name = "ns", "p"
			decode(t, configuration, &p.Spec.InstanceConfiguration)
			return p
		}
		p := pool(spec)
		written := p.DeepCopy()
		id := "ocid1.instanceconfiguration.oc1..x"
		written.SetProviderID("oci://ocid1.instancepool.oc1..x")
		written.SetProviderIDList([]string{"y"})
		written.Spec.InstanceConfiguration.InstanceConfigurationID = &id
		wantWarnings(t, hook, spec, want, pool("{shape: other}"), p, written)
	}
}

// TestWarningsOfManagedOCIPools is the same for OCIManagedMachinePools.
func TestWarningsOfManagedOCIPools(t *testing.T) {
	t.Parallel()
	scheme := ociScheme(t)
	hook := ociadmission.ManagedValidator(scheme, ociReader(scheme))
	const cycling = "spec.nodePoolCyclingDetails."
	for spec, want := range map[string][]string{
		"{nodeShape: VM.Standard.E4.Flex, nodeShapeConfig: {ocpus: '1'}}": nil,
		"{version: v1.34.1, nodeSourceViaImage: {imageId: i}}":            nil,
		"{version: v1.34.1, nodeSourceViaImage: {imageId: ''}}": {"spec.nodeSourceViaImage.imageId: is empty: nodes get the newest image of " +
			"OKE for version v1.34.1 and the architecture of the shape, which stays until one of these changes"},
		"{nodeShape: VM.Standard2.1, nodeShapeConfig: {ocpus: '1'}}": {
			"spec.nodeShapeConfig: has no effect with shape VM.Standard2.1, which has one size"},
		"{nodeEvictionNodePoolSettings: {evictionGraceDuration: PT0M}}": {"spec.nodeEvictionNodePoolSettings.evictionGraceDuration: with " +
			"PT0M OKE deletes nodes without a drain. Muster drains those that it removes itself"},
		"{nodeEvictionNodePoolSettings: {evictionGraceDuration: PT10M}}":                                     nil,
		"{nodeEvictionNodePoolSettings: {}}":                                                                 nil,
		"{nodePoolCyclingDetails: {isNodeCyclingEnabled: true, maximumSurge: '2', maximumUnavailable: '1'}}": nil,
		"{nodePoolCyclingDetails: {maximumSurge: '2', maximumUnavailable: '1', cycleModes: [INSTANCE_REPLACE]}}": {
			cycling + "maximumSurge: has no effect without isNodeCyclingEnabled",
			cycling + "maximumUnavailable: has no effect without isNodeCyclingEnabled",
			cycling + "cycleModes: has no effect without isNodeCyclingEnabled"},
		"{nodePoolNodeConfig: {nodePoolPodNetworkOptionDetails: {cniType: FLANNEL_OVERLAY, " +
			"vcnIpNativePodNetworkOptions: {maxPodsPerNode: 5}}}}": {
			"spec.nodePoolNodeConfig.nodePoolPodNetworkOptionDetails.vcnIpNativePodNetworkOptions: has no effect with cniType FLANNEL_OVERLAY"},
		"{nodePoolNodeConfig: {nodePoolPodNetworkOptionDetails: {cniType: FLANNEL_OVERLAY}}}": nil,
	} {
		p := ociManaged(t, spec)
		written := p.DeepCopy()
		written.SetProviderID("ocid1.nodepool.oc1.iad.x")
		written.SetProviderIDList([]string{"y"})
		before := p.DeepCopy()
		before.Spec.SSHPublicKey = "other"
		wantWarnings(t, hook, spec, want, before, p, written)
	}
	const stays = "spec.nodeSourceViaImage.imageId: stays while spec.version changes"
	old, changed := ociManaged(t, "{version: v1.33.1, nodeSourceViaImage: {imageId: i}}"),
		ociManaged(t, "{version: v1.34.1, nodeSourceViaImage: {imageId: i}}")
	if got := answerTo(t, hook, old, changed); !got.Allowed || len(got.Warnings) != 1 || !strings.HasPrefix(got.Warnings[0], stays) {
		t.Errorf("the image of an older version: want a warning, got %+v", got)
	}
	both := ociManaged(t, "{version: v1.34.1, nodeSourceViaImage: {imageId: j}}")
	if got := answerTo(t, hook, old, both); !got.Allowed || got.Warnings != nil {
		t.Errorf("another image with another version: want no warning, got %+v", got)
	}
}

// TestOCIVersions holds that a new pool of another version than its MachinePool is refused with both versions, and that an upgrade of the
// two objects passes in either order.
func TestOCIVersions(t *testing.T) {
	t.Parallel()
	const image, kind = "nodeSourceViaImage: {imageId: i}", ociv1.OCIManagedMachinePoolKind
	for _, c := range []struct {
		why, spec string
		mp        *clusterv1.MachinePool
		differs   bool
	}{
		{"the same", "{version: v1.34.1, " + image + "}", ociMachinePool(kind, "v1.34.1", nil), false},
		{"the same without the v", "{version: v1.34.1, " + image + "}", ociMachinePool(kind, "1.34.1", nil), false},
		{"none here", "{" + image + "}", ociMachinePool(kind, "v1.34.1", nil), false},
		{"none there", "{version: v1.34.1, " + image + "}", ociMachinePool(kind, "", nil), false},
		{"of another kind", "{version: v1.34.1, " + image + "}", ociMachinePool(ociv1.OCIMachinePoolKind, "v1.33.1", nil), false},
		{"another", "{version: v1.34.1, " + image + "}", ociMachinePool(kind, "v1.33.1", nil), true},
	} {
		scheme := ociScheme(t)
		hook := ociadmission.ManagedValidator(scheme, ociReader(scheme, c.mp))
		p := ociManaged(t, c.spec)
		created, changed := answerTo(t, hook, nil, p), answerTo(t, hook, ociManaged(t, "{}"), p)
		const text = "spec.template.spec.version of MachinePool mp is v1.33.1: set both to the same version, or remove this one"
		if created.Allowed == c.differs || !changed.Allowed {
			t.Errorf("%s: want a creation refused %t, and no change, got %+v and %+v", c.why, c.differs, created, changed)
			continue
		}
		if c.differs && !strings.Contains(created.Result.Message, `spec.version: Invalid value: "v1.34.1": `+text) {
			t.Errorf("%s: want both versions named, got %q", c.why, created.Result.Message)
		}
		if c.differs != slices.Contains(changed.Warnings, "spec.version: "+text) {
			t.Errorf("%s: want a warning %t, got %q", c.why, c.differs, changed.Warnings)
		}
	}
}

// TestEmptySizeOwner holds that an annotation without a value, which counts as any other in Cluster API, is explained, on both kinds of
// pools of OKE.
func TestEmptySizeOwner(t *testing.T) {
	t.Parallel()
	virtual := func(name string) *ociv1.OCIVirtualMachinePool {
		p := &ociv1.OCIVirtualMachinePool{}
		p.Namespace, p.Name, p.Spec.NSGNames = "ns", "p", []string{name}
		return p
	}
	for _, c := range []struct {
		why    string
		by     *string
		warned bool
	}{
		{"no annotation", nil, false}, {"an empty value", new(string), true}, {"an autoscaler", new("x"), false},
		{"false", new("false"), false},
	} {
		scheme := ociScheme(t)
		of := func(kind string) client.Reader { return ociReader(scheme, ociMachinePool(kind, "", c.by)) }
		managed := ociadmission.ManagedValidator(scheme, of(ociv1.OCIManagedMachinePoolKind))
		pools := ociadmission.VirtualValidator(scheme, of(ociv1.OCIVirtualMachinePoolKind))
		written := virtual("a")
		written.SetProviderID("ocid1.virtualnodepool.oc1.iad.x")
		if got := answerTo(t, pools, virtual("a"), written); !got.Allowed || got.Warnings != nil {
			t.Errorf("%s: want the controller told nothing, got %+v", c.why, got)
		}
		for _, got := range [][]string{
			answerTo(t, managed, nil, ociManaged(t, "{}")).Warnings,
			answerTo(t, managed, ociManaged(t, "{sshPublicKey: a}"), ociManaged(t, "{}")).Warnings,
			answerTo(t, pools, nil, virtual("a")).Warnings, answerTo(t, pools, virtual("a"), virtual("b")).Warnings,
		} {
			text := strings.Join(got, "\n")
			if c.warned != strings.Contains(text, "MachinePool mp has the annotation cluster.x-k8s.io/replicas-managed-by with an empty value") {
				t.Errorf("%s: want a warning %t, got %q", c.why, c.warned, text)
			}
		}
	}
}
