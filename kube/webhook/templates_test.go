package webhook_test

import (
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
	awsadmission "github.com/muster-project/muster/providers/aws/admission"
	azureadmission "github.com/muster-project/muster/providers/azure/admission"
	ociadmission "github.com/muster-project/muster/providers/oci/admission"
)

// each kind with one specification of its pools, and another.
var each = []struct {
	kind, one, other string
	version          string
	hook             func(*runtime.Scheme) *admission.Webhook
}{
	{awsv1.AWSMachinePoolTemplateKind, "{awsLaunchTemplate: {instanceType: t3.large}}", "{awsLaunchTemplate: {instanceType: t3.xlarge}}",
		awsv1.GroupVersion.String(), awsadmission.OfAWSMachinePool},
	{awsv1.AWSManagedMachinePoolTemplateKind, "{instanceType: t3.large}", "{instanceType: t3.xlarge}", awsv1.GroupVersion.String(),
		awsadmission.OfAWSManagedMachinePool},
	{azurev1.AzureMachinePoolTemplateKind, "{location: westus2, template: {vmSize: Standard_B2s}}",
		"{location: eastus, template: {vmSize: Standard_B2s}}", azurev1.GroupVersion.String(), azureadmission.OfAzureMachinePool},
	{ociv1.OCIMachinePoolTemplateKind, "{instanceConfiguration: {shape: a}}", "{instanceConfiguration: {shape: b}}",
		ociv1.GroupVersion.String(), ociadmission.OfOCIMachinePool},
	{ociv1.OCIManagedMachinePoolTemplateKind, "{nodeShape: a}", "{nodeShape: b}", ociv1.GroupVersion.String(),
		ociadmission.OfOCIManagedMachinePool},
	{ociv1.OCIVirtualMachinePoolTemplateKind, "{nsgNames: [a]}", "{nsgNames: [b]}", ociv1.GroupVersion.String(),
		ociadmission.OfOCIVirtualMachinePool},
}

// raw is a template as an API server sends it.
func raw(t *testing.T, version, kind, metadata, labels, spec string) runtime.RawExtension {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte("{apiVersion: " + version + ", kind: " + kind + ", metadata: {name: t, namespace: default" + metadata +
		"}, spec: {template: {metadata: {labels: {l: " + labels + "}}, spec: " + spec + "}}}"))
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}

// TestTemplatesStay holds who may change what of a template.
func TestTemplatesStay(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{awsv1.AddToScheme, azurev1.AddToScheme, ociv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	const asks = `, annotations: {topology.cluster.x-k8s.io/dry-run: ""}`
	cases := []struct {
		name, reason string
		// metadata of the new object, the label that its pools get, and whether their specification is another one.
		metadata, label string
		changed, dry    bool
		refused         bool
	}{
		{name: "written again", reason: "GitOps applies what is there", label: "a"},
		{name: "owned", reason: "the ClusterClass becomes an owner of its templates",
			metadata: ", ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: ClusterClass, name: c, uid: u}]", label: "a"},
		{name: "labels", reason: "no machine depends on them", label: "b"},
		{name: "another specification", reason: "the pools of every Cluster would follow at once", label: "a", changed: true, refused: true},
		{name: "topology's question", reason: "the topology controller has to learn what a change would do", metadata: asks, label: "a",
			changed: true, dry: true},
		{name: "a user's dry run", reason: "a user's dry run answers as the write would", label: "a", changed: true, dry: true, refused: true},
		{name: "a real write that says it is a question", reason: "the annotation alone opens nothing", metadata: asks, label: "a", changed: true,
			refused: true},
		{name: "going", reason: "an object that goes is not held up", metadata: ", deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [f/f]",
			label: "a", changed: true},
	}
	for _, k := range each {
		hook := k.hook(scheme)
		for _, c := range cases {
			t.Run(k.kind+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				spec := k.one
				if c.changed {
					spec = k.other
				}
				answer := hook.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
					UID: "1", Kind: metav1.GroupVersionKind{Kind: k.kind}, Operation: admissionv1.Update, DryRun: &c.dry,
					OldObject: raw(t, k.version, k.kind, "", "a", k.one), Object: raw(t, k.version, k.kind, c.metadata, c.label, spec),
				}})
				if answer.Allowed == c.refused {
					t.Fatalf("%s: want refused %t, got %+v", c.reason, c.refused, answer.Result)
				}
				if c.refused && !strings.Contains(answer.Result.Message, "spec.template.spec: Forbidden: can't be changed: make another "+k.kind) {
					t.Errorf("want to be told where and what to do, got %s", answer.Result.Message)
				}
			})
		}
	}
}
