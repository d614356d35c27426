package webhook_test

import (
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	gcpadmission "github.com/muster-project/muster/providers/gcp/admission"
)

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

func gcpScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := gcpv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}

// answerTo returns what a webhook answers when an object is created, or changed from old if that is not nil.
func answerTo(t *testing.T, hook *admission.Webhook, old, o client.Object) admission.Response {
	t.Helper()
	r := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{UID: "1", Operation: admissionv1.Create, Object: encoded(t, o)}}
	if old != nil {
		r.Operation, r.OldObject = admissionv1.Update, encoded(t, old)
	}
	return hook.Handle(t.Context(), r)
}

// wantWarnings wants these warnings when a pool is created and when it is changed from what it was before, and none when its controller
// writes it.
func wantWarnings(t *testing.T, hook *admission.Webhook, spec string, want []string, before, p, written client.Object) {
	t.Helper()
	created, changed := answerTo(t, hook, nil, p), answerTo(t, hook, before, p)
	if !created.Allowed || !changed.Allowed || !slices.Equal(created.Warnings, want) || !slices.Equal(changed.Warnings, want) {
		t.Errorf("%s: want %v, got %+v and %+v", spec, want, created, changed)
	}
	if reply := answerTo(t, hook, p, written); !reply.Allowed || reply.Warnings != nil {
		t.Errorf("%s: want the controller told nothing, got %+v", spec, reply)
	}
}

// TestWarningsOfGCPPools holds which warnings users get about GCPMachinePools, at creation and in a change, and that controllers get none.
func TestWarningsOfGCPPools(t *testing.T) {
	t.Parallel()
	hook := gcpadmission.Validator(gcpScheme(t))
	const supplied = "{keyType: Supplied, suppliedKey: {rawKey: YQ==}}"
	for spec, want := range map[string][]string{
		"{}": nil,
		"{image: i, imageFamily: '', provisioningModel: Spot, additionalDisks: [{deviceType: local-ssd, size: 375}, {size: 10}]}": nil,
		"{image: i, imageFamily: f}": {"spec.imageFamily: has no effect beside spec.image"},
		"{preemptible: true}": {"spec.preemptible: instances are stopped after 24 hours " +
			"at the latest; use spec.provisioningModel Spot"},
		"{preemptible: true, provisioningModel: Spot}": {"spec.preemptible: has no effect when " +
			"spec.provisioningModel is Spot"},
		"{additionalDisks: [{size: 20}, {deviceType: local-ssd, size: 20}]}": {"spec.additionalDisks[1].size: has no effect: every local " +
			"SSD has 375 gigabytes"},
		"{rootDiskEncryptionKey: " + supplied +
			"}": {"spec.rootDiskEncryptionKey.keyType: Compute Engine keeps no supplied keys in instance templates, so that the group makes no " +
			"instances with it; use Managed"},
		"{additionalDisks: [{encryptionKey: " + supplied +
			"}]}": {"spec.additionalDisks[0].encryptionKey.keyType: Compute Engine keeps no supplied keys in instance templates, so that the " +
			"group makes no instances with it; use Managed"},
		"{rootDiskEncryptionKey: {keyType: Managed, managedKey: {kmsKeyName: k}}}": nil,
	} {
		p, before := &gcpv1.GCPMachinePool{}, &gcpv1.GCPMachinePool{Spec: gcpv1.GCPMachinePoolSpec{InstanceType: "other"}}
		decode(t, spec, &p.Spec)
		written := p.DeepCopy()
		written.Spec.ProviderID, written.Spec.ProviderIDList = "x", []string{"y"}
		wantWarnings(t, hook, spec, want, before, p, written)
	}
}

// TestWarningsOfGKEPools is TestWarningsOfGCPPools for GCPManagedMachinePools.
func TestWarningsOfGKEPools(t *testing.T) {
	t.Parallel()
	hook := gcpadmission.ManagedValidator(gcpScheme(t), nil)
	for spec, want := range map[string][]string{
		"{}": nil, "{machineType: a, instanceType: a, diskSizeGb: 10, diskSizeGB: 10, spot: true, preemptible: false}": nil,
		"{machineType: a, instanceType: b}":   {"spec.machineType: has no effect beside spec.instanceType"},
		"{diskSizeGb: 10, diskSizeGB: 11}":    {"spec.diskSizeGb: has no effect beside spec.diskSizeGB"},
		"{machineType: a, preemptible: true}": {"spec.preemptible: nodes are stopped after 24 hours at the latest; use spec.spot"},
	} {
		p, before := &gcpv1.GCPManagedMachinePool{}, &gcpv1.GCPManagedMachinePool{Spec: gcpv1.GCPManagedMachinePoolSpec{NodePoolName: "other"}}
		decode(t, spec, &p.Spec)
		written := p.DeepCopy()
		written.Spec.ProviderID, written.Spec.ProviderIDList = "x", []string{"y"}
		wantWarnings(t, hook, spec, want, before, p, written)
	}
}

// TestWarningsOfGKEZones holds that it is said when a change of the zones has no effect.
func TestWarningsOfGKEZones(t *testing.T) {
	t.Parallel()
	pool := func(zones ...string) *gcpv1.GCPManagedMachinePool {
		return &gcpv1.GCPManagedMachinePool{Spec: gcpv1.GCPManagedMachinePoolSpec{NodeLocations: zones}}
	}
	hook := gcpadmission.ManagedValidator(gcpScheme(t), nil)
	const kept = "spec.nodeLocations: removing it has no effect: the node pool keeps its zones"
	for _, c := range []struct {
		old, changed *gcpv1.GCPManagedMachinePool
		want         []string
	}{
		{pool("a"), pool("b", "a"), nil}, {pool(), pool("a"), nil}, {pool(), pool(), nil}, {pool("a", "b"), pool("b"), nil},
		{pool("a", "b"), pool(), []string{kept}},
	} {
		got := answerTo(t, hook, c.old, c.changed)
		if !got.Allowed || !slices.Equal(got.Warnings, c.want) {
			t.Errorf("%v to %v: want %v, got %+v", c.old.Spec.NodeLocations, c.changed.Spec.NodeLocations, c.want, got)
		}
	}
}

// TestOneObjectANodePool holds that two objects of a cluster don't describe one node pool.
func TestOneObjectANodePool(t *testing.T) {
	t.Parallel()
	scheme := gcpScheme(t)
	pool := func(namespace, cluster, name, nodePool string) *gcpv1.GCPManagedMachinePool {
		p := &gcpv1.GCPManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: gcpv1.GCPManagedMachinePoolSpec{NodePoolName: nodePool}}
		if cluster != "" {
			p.Labels = map[string]string{clusterv1.ClusterNameLabel: cluster}
		}
		return p
	}
	hook := gcpadmission.ManagedValidator(scheme, fake.NewClientBuilder().WithScheme(scheme).WithObjects(pool("ns", "c", "a", ""),
		pool("ns", "c", "b", "np"), pool("other", "c", "x", "free")).Build())
	for _, c := range []struct {
		why     string
		pool    *gcpv1.GCPManagedMachinePool
		refused string
	}{
		{"a name that is another object's", pool("ns", "c", "new", "a"), "a: GCPManagedMachinePool a of the same cluster has it"},
		{"the name of another object's node pool", pool("ns", "c", "np", ""), "np: GCPManagedMachinePool b of the same cluster has it"},
		{"a name of its own", pool("ns", "c", "free", ""), ""},
		{"the same name in another cluster", pool("ns", "d", "new", "a"), ""},
		{"a cluster that is not named yet", pool("ns", "", "new", "a"), ""},
		{"the object itself", pool("ns", "c", "b", "np"), ""},
	} {
		got := answerTo(t, hook, nil, c.pool)
		if got.Allowed != (c.refused == "") || !got.Allowed && (got.Result.Reason != metav1.StatusReasonInvalid ||
			!strings.Contains(got.Result.Message, "spec.nodePoolName") || !strings.Contains(got.Result.Message, c.refused)) {
			t.Errorf("%s: want %q, got %+v", c.why, c.refused, got)
		}
	}
}
