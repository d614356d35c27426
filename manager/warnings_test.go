package manager_test

import (
	"encoding/json"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/providers/aws/warnings"
)

// rawSpec is an object as an API server sends it.
func rawSpec(t *testing.T, kind, spec string) runtime.RawExtension {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte("{apiVersion: " + awsv1.GroupVersion.String() + ", kind: " + kind +
		", metadata: {name: p, namespace: default}, spec: " + spec + "}"))
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: data}
}

// ask asks the webhook of a kind what an API server would, and holds that it refuses nothing. old is empty for a new object.
func ask(t *testing.T, kind, old, spec string) []string {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := awsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	hook := map[string]*admission.Webhook{awsv1.AWSMachinePoolKind: warnings.OfAWSMachinePool(scheme),
		awsv1.AWSManagedMachinePoolKind: warnings.OfAWSManagedMachinePool(scheme)}[kind]
	req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "1", Kind: metav1.GroupVersionKind{Group: awsv1.GroupVersion.Group, Version: awsv1.GroupVersion.Version, Kind: kind},
		Operation: admissionv1.Create, Object: rawSpec(t, kind, spec),
	}}
	if old != "" {
		req.Operation, req.OldObject = admissionv1.Update, rawSpec(t, kind, old)
	}
	answer := hook.Handle(t.Context(), req)
	if !answer.Allowed {
		text, _ := json.Marshal(answer)
		t.Fatalf("want the object taken, got %s", text)
	}
	return answer.Warnings
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	const mmp, mp = awsv1.AWSManagedMachinePoolKind, awsv1.AWSMachinePoolKind
	cases := []struct {
		name, reason, kind string
		old, spec          string
		// want are the beginnings of the warnings, in order.
		want []string
	}{
		{name: "nothing", reason: "what is well said is taken in silence", kind: mmp, spec: "{awsLaunchTemplate: {instanceType: m5.large}}"},
		{name: "neither", reason: "EKS's own defaults are no deprecated field", kind: mmp, spec: "{}"},
		{name: "deprecated fields", reason: "the proposal's deprecations, each with what comes in its place", kind: mmp,
			spec: "{amiType: AL2023_x86_64_STANDARD, amiVersion: 1.31.0-20250101, instanceType: m5.large, diskSize: 50}",
			want: []string{"spec.amiType: is deprecated without spec.awsLaunchTemplate", "spec.amiVersion: is deprecated",
				"spec.instanceType: is deprecated without spec.awsLaunchTemplate and will not be supported in a later version; use " +
					"spec.awsLaunchTemplate.instanceType", "spec.diskSize: is deprecated"}},
		{name: "several types", reason: "a launch template can't say several types, so that the field stays", kind: mmp,
			spec: "{instanceTypes: [m5.large, m5a.large]}"},
		{name: "own image beside a template", reason: "that pair is no deprecated one", kind: mmp,
			spec: "{amiType: CUSTOM, awsLaunchTemplate: {instanceType: m5.large}}"},
		{name: "the old image", reason: "a pool of it stays behind at the next Kubernetes version", kind: mmp,
			spec: "{amiType: AL2_ARM_64, awsLaunchTemplate: {}}", want: []string{"spec.amiType: EKS publishes no image of Amazon Linux 2"}},
		{name: "hooks", reason: "they are taken for older manifests' sake and do nothing", kind: mmp,
			spec: "{awsLaunchTemplate: {}, lifecycleHooks: [{name: h, lifecycleTransition: 'autoscaling:EC2_INSTANCE_LAUNCHING'}]}",
			want: []string{"spec.lifecycleHooks: has no effect"}},
		{name: "force", reason: "pods are lost", kind: mmp, spec: "{updateConfig: {maxUnavailable: 1, force: true}}",
			want: []string{"spec.updateConfig.force: pods"}},
		{name: "open to all", reason: "the field's name does not say how public", kind: mmp, spec: "{remoteAccess: {public: true}}",
			want: []string{"spec.remoteAccess.public: opens SSH of every machine to 0.0.0.0/0"}},
		{name: "dead input", reason: "it never had an effect, in either kind", kind: mmp, spec: "{awsLaunchTemplate: {versionNumber: 3}}",
			want: []string{"spec.awsLaunchTemplate.versionNumber: has no effect"}},
		{name: "dead input too", reason: "the same rules for both kinds", kind: mp, spec: "{awsLaunchTemplate: {versionNumber: 3}}",
			want: []string{"spec.awsLaunchTemplate.versionNumber: has no effect"}},
		{name: "preferences under a strategy", reason: "the strategy has limits of its own", kind: mp,
			spec: "{awsLaunchTemplate: {}, strategy: {}, refreshPreferences: {minHealthyPercentage: 50}}",
			want: []string{"spec.refreshPreferences: has no effect with spec.strategy.type RollingUpdate"}},
		{name: "preferences of a refresh", reason: "with it all of them have an effect", kind: mp,
			spec: "{awsLaunchTemplate: {}, strategy: {type: InstanceRefresh}, refreshPreferences: {autoRollback: true}}"},
		{name: "preferences without a refresh", reason: "the limits have an effect, its checks have none", kind: mp,
			spec: "{awsLaunchTemplate: {}, refreshPreferences: {minHealthyPercentage: 50, instanceWarmup: 30, autoRollback: true, bakeTime: 9}}",
			want: []string{"spec.refreshPreferences: autoRollback, bakeTime: without effect"}},
		{name: "another edit", reason: "each edit of the object shows the warnings that still apply", kind: mmp,
			old:  "{instanceType: m5.large, scaling: {maxSize: 1}}",
			spec: "{instanceType: m5.large, scaling: {maxSize: 2}}", want: []string{"spec.instanceType: is deprecated"}},
		{name: "a controller's write", reason: "a controller can do nothing about it", kind: mmp, old: "{instanceType: m5.large}",
			spec: "{instanceType: m5.large, providerID: x, providerIDList: ['aws:///a/i-1']}"},
		{name: "a controller's write too", reason: "in both kinds", kind: mp, old: "{awsLaunchTemplate: {versionNumber: 3}}",
			spec: "{awsLaunchTemplate: {versionNumber: 3}, providerID: x, providerIDList: ['aws:///a/i-1']}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, c.kind, c.old, c.spec)
			ok := len(got) == len(c.want)
			for k := range got {
				ok = ok && strings.HasPrefix(got[k], c.want[k])
			}
			if !ok {
				t.Errorf("%s:\n got %q\nwant %q", c.reason, got, c.want)
			}
		})
	}
}
