package compat

import (
	"bytes"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// managed returns an AWSManagedMachinePool with the given specification.
func managed(t *testing.T, namespace, version, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, namespace, "{apiVersion: infrastructure.cluster.x-k8s.io/"+version+
		", kind: AWSManagedMachinePool, metadata: {generateName: p-}, spec: "+spec+"}")
}

// listening returns a client whose warnings are written down as kubectl prints them.
func listening(t *testing.T) (client.Client, *bytes.Buffer) {
	t.Helper()
	admin(t) // which says whether there is a server
	warned := &bytes.Buffer{}
	config := rest.CopyConfig(server)
	config.WarningHandler = rest.NewWarningWriter(warned, rest.WarningWriterOptions{Deduplicate: true})
	c, err := client.New(config, client.Options{Scheme: runtime.NewScheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c, warned
}

// TestManagedWarnings holds the warnings that users get for deprecated fields and for fields without effect: the object is accepted, with a
// line for each field. The webhook receives objects of either version.
func TestManagedWarnings(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, version, spec string
		want                  []string
	}{
		"deprecated": {reason: "the fields that a launch template says better", version: "v1beta2",
			spec: "{amiType: AL2023_x86_64_STANDARD, amiVersion: 1.31.0-20250101, instanceType: m5.large, diskSize: 50}",
			want: []string{"Warning: spec.amiType: is deprecated without spec.awsLaunchTemplate", "Warning: spec.amiVersion: is deprecated",
				"Warning: spec.instanceType: is deprecated", "Warning: spec.diskSize: is deprecated"}},
		"deprecated, older": {reason: "the older version is warned of like the stored one", version: "v1beta1", spec: "{diskSize: 50}",
			want: []string{"Warning: spec.diskSize: is deprecated"}},
		"hooks": {reason: "they have no effect", version: "v1beta2",
			spec: "{awsLaunchTemplate: {}, lifecycleHooks: [{name: h, lifecycleTransition: 'autoscaling:EC2_INSTANCE_LAUNCHING'}]}",
			want: []string{"Warning: spec.lifecycleHooks: has no effect"}},
		"well said": {reason: "silence", version: "v1beta2", spec: "{awsLaunchTemplate: {instanceType: m5.large}}"},
	} {
		t.Run(name, func(t *testing.T) {
			c, warned := listening(t)
			u := managed(t, namespace(t, c), tc.version, tc.spec)
			if err := c.Create(t.Context(), u); err != nil {
				t.Fatalf("%s: want it taken, got %v", tc.reason, err)
			}
			lines := strings.Split(strings.TrimSuffix(warned.String(), "\n"), "\n")
			if warned.Len() == 0 {
				lines = nil
			}
			ok := len(lines) == len(tc.want)
			for k := range lines {
				ok = ok && strings.HasPrefix(lines[k], tc.want[k])
			}
			if !ok {
				t.Errorf("%s: got\n%s\nwant lines that begin with %q", tc.reason, warned, tc.want)
			}
			warned.Reset()
			before := client.MergeFrom(u.DeepCopy())
			if err := unstructured.SetNestedField(u.Object, "arn:aws:eks:x", "spec", "providerID"); err != nil {
				t.Fatal(err)
			}
			if err := c.Patch(t.Context(), u, before); err != nil || warned.Len() > 0 {
				t.Errorf("a controller writes: want it taken in silence, got %v\n%s", err, warned)
			}
		})
	}
}

// TestManagedRefusals holds on a real API server what the tables of the schemas hold for each rule: invalid values are rejected with the
// field and the reason, and fields that EKS can't change are immutable, in either version.
func TestManagedRefusals(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	for name, tc := range map[string]struct {
		reason, version, old, spec string
		want                       []string
	}{
		"image and family": {reason: "EKS refuses the pair", version: "v1beta2",
			spec: "{amiType: AL2023_x86_64_STANDARD, awsLaunchTemplate: {ami: {id: ami-1}}}",
			want: []string{"spec.amiType", "must be CUSTOM or absent"}},
		"image and release": {reason: "EKS refuses the pair", version: "v1beta1",
			spec: "{amiVersion: '1.31', awsLaunchTemplate: {ami: {id: ami-1}}}", want: []string{"spec.amiVersion", "must be absent"}},
		"instance type": {reason: "the proposal's exclusion", version: "v1beta2", spec: "{instanceType: m5.large, awsLaunchTemplate: {}}",
			want: []string{"spec.instanceType", "set awsLaunchTemplate.instanceType"}},
		"disk size": {reason: "the proposal's exclusion", version: "v1beta1", spec: "{diskSize: 20, awsLaunchTemplate: {}}",
			want: []string{"spec.diskSize", "rootVolume"}},
		"instance profile": {reason: "the proposal's exclusion", version: "v1beta2", spec: "{awsLaunchTemplate: {iamInstanceProfile: p}}",
			want: []string{"spec.awsLaunchTemplate.iamInstanceProfile", "roleName"}},
		"spot": {reason: "EKS asks for spot itself", version: "v1beta2", spec: "{awsLaunchTemplate: {spotMarketOptions: {}}}",
			want: []string{"spotMarketOptions", "capacityType"}},
		"remote access": {reason: "EKS refuses the pair", version: "v1beta2", spec: "{remoteAccess: {public: true}, awsLaunchTemplate: {}}",
			want: []string{"spec.remoteAccess"}},
		"the old spelling": {reason: "the stored version has the right one", version: "v1beta2",
			spec: "{updateConfig: {maxUnavailablePrecentage: 10}}", want: []string{"maxUnavailablePrecentage"}},
		"another type": {reason: "EKS can't change it", version: "v1beta2", old: "{instanceType: a}", spec: "{instanceType: b}",
			want: []string{"spec.instanceType", "can't be changed"}},
		"another type, older": {reason: "EKS can't change it in any version", version: "v1beta1", old: "{instanceType: a}",
			spec: "{instanceType: b}", want: []string{"spec.instanceType", "can't be changed"}},
		"template at last": {reason: "EKS can't change it", version: "v1beta1", old: "{}", spec: "{awsLaunchTemplate: {}}",
			want: []string{"spec.awsLaunchTemplate", "can't be added or taken away"}},
	} {
		t.Run(name, func(t *testing.T) {
			strict := client.WithFieldValidation(c, "Strict")
			u := managed(t, ns, tc.version, tc.spec)
			var err error
			if tc.old == "" {
				err = strict.Create(t.Context(), u)
			} else {
				was := managed(t, ns, tc.version, tc.old)
				if err := strict.Create(t.Context(), was); err != nil {
					t.Fatal(err)
				}
				was.Object["spec"] = u.Object["spec"]
				err = strict.Update(t.Context(), was)
			}
			for _, part := range tc.want {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%s: want it refused with %q, got %v", tc.reason, part, err)
				}
			}
		})
	}
}

// TestManagedVersions holds that the two versions have the same meaning, each with its field names, and that a change through the older one
// keeps the fields that it lacks.
func TestManagedVersions(t *testing.T) {
	c := admin(t)
	ns := namespace(t, c)
	u := managed(t, ns, "v1beta2", "{rolePath: /nodes/, nodeRepairConfig: {enabled: true}, updateConfig: {maxUnavailablePercentage: 33, "+
		"force: true}, awsLaunchTemplate: {instanceType: a, enclaveOptions: {enabled: false}, placement: {tenancy: dedicated}}}")
	if err := c.Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	older := &unstructured.Unstructured{}
	older.SetAPIVersion("infrastructure.cluster.x-k8s.io/v1beta1")
	older.SetKind("AWSManagedMachinePool")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(u), older); err != nil {
		t.Fatal(err)
	}
	if got, _, _ := unstructured.NestedInt64(older.Object, "spec", "updateConfig", "maxUnavailablePrecentage"); got != 33 {
		t.Errorf("want the older spelling, got %v", older.Object["spec"])
	}
	if err := unstructured.SetNestedField(older.Object, "b", "spec", "awsLaunchTemplate", "instanceType"); err != nil {
		t.Fatal(err)
	}
	if err := c.Update(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]any{"rolePath": "/nodes/", "nodeRepairConfig.enabled": true,
		"updateConfig.maxUnavailablePercentage": int64(33), "updateConfig.force": true,
		"awsLaunchTemplate.instanceType": "b", "awsLaunchTemplate.enclaveOptions.enabled": false,
		"awsLaunchTemplate.placement.tenancy": "dedicated", "awsLaunchTemplate.versionsToKeep": int64(3)} {
		got, _, err := unstructured.NestedFieldNoCopy(u.Object, append([]string{"spec"}, strings.Split(path, ".")...)...)
		if err != nil || got != want {
			t.Errorf("%s: want %v, got %v, %v", path, want, got, err)
		}
	}
}
