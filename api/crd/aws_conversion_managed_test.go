package crd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/muster-project/muster/api/aws/v1beta1"
	"github.com/muster-project/muster/api/aws/v1beta2"
)

// TestConversionManagedStoredSurvives holds that a managed pool that is read as v1beta1 and written back is stored as it was.
func TestConversionManagedStoredSurvives(t *testing.T) {
	t.Parallel()
	fill := filler()
	for round := range rounds() {
		stored := &v1beta2.AWSManagedMachinePool{}
		fill.Fill(stored)
		stored = overTheWire(t, stored)
		before := stored.DeepCopy()
		read := &v1beta1.AWSManagedMachinePool{}
		if err := read.ConvertFrom(stored); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if diff := cmp.Diff(before, stored); diff != "" {
			t.Fatalf("round %d: reading changed what was read (-before +after):\n%s", round, diff)
		}
		written := &v1beta2.AWSManagedMachinePool{}
		if err := overTheWire(t, read).ConvertTo(written); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if diff := cmp.Diff(stored, overTheWire(t, written)); diff != "" {
			t.Fatalf("round %d: lost on the way (-stored +written):\n%s", round, diff)
		}
	}
}

// TestConversionManagedOlderSurvives holds that a managed pool that is written as v1beta1 is read back as it was, without an annotation.
func TestConversionManagedOlderSurvives(t *testing.T) {
	t.Parallel()
	fill := filler()
	for round := range rounds() {
		written := &v1beta1.AWSManagedMachinePool{}
		fill.Fill(written)
		written = overTheWire(t, written)
		stored := &v1beta2.AWSManagedMachinePool{}
		if err := written.ConvertTo(stored); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		read := &v1beta1.AWSManagedMachinePool{}
		if err := read.ConvertFrom(overTheWire(t, stored)); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if diff := cmp.Diff(written, overTheWire(t, read)); diff != "" {
			t.Fatalf("round %d: lost on the way (-written +read):\n%s", round, diff)
		}
	}
}

// TestConversionManagedSpelling holds the one name that the two versions spell differently, on the wire.
func TestConversionManagedSpelling(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, reason, older string
		want                string
	}{
		{"share", "v1beta1 has always spelled it so", `{"spec":{"updateConfig":{"maxUnavailablePrecentage":33}}}`,
			`{"maxUnavailablePercentage":33}`},
		{"number", "the other way to say it", `{"spec":{"updateConfig":{"maxUnavailable":2,"updateStrategy":"MINIMAL","force":true}}}`,
			`{"maxUnavailable":2,"updateStrategy":"MINIMAL","force":true}`},
		{"right spelling", "v1beta1 never knew it: its schema refuses it, and no other version has it",
			`{"spec":{"updateConfig":{"maxUnavailablePercentage":33}}}`, `{}`},
	} {
		older, stored := &v1beta1.AWSManagedMachinePool{}, &v1beta2.AWSManagedMachinePool{}
		if err := json.Unmarshal([]byte(c.older), older); err != nil {
			t.Fatal(err)
		}
		if err := older.ConvertTo(stored); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(stored.Spec.UpdateConfig); string(got) != c.want {
			t.Errorf("%s: %s: want %s, got %s", c.name, c.reason, c.want, got)
		}
	}
}

// TestConversionManagedAside holds when something is kept aside, that a template which v1beta1 took away takes its part with it, and
// that a spoilt annotation is refused by name.
func TestConversionManagedAside(t *testing.T) {
	t.Parallel()
	stored := &v1beta2.AWSManagedMachinePool{Spec: v1beta2.AWSManagedMachinePoolSpec{RolePath: "/a/",
		AWSLaunchTemplate: &v1beta2.AWSLaunchTemplate{InstanceType: "m5.large", MarketType: v1beta2.MarketTypeOnDemand}}}
	older := &v1beta1.AWSManagedMachinePool{}
	if err := older.ConvertFrom(stored); err != nil {
		t.Fatal(err)
	}
	if got, want := older.Annotations[conversionData],
		`{"spec":{"rolePath":"/a/","awsLaunchTemplate":{"marketType":"OnDemand"}}}`; got != want {
		t.Errorf("kept aside: want %s, got %s", want, got)
	}
	older.Spec.AWSLaunchTemplate = nil
	got := &v1beta2.AWSManagedMachinePool{}
	if err := older.ConvertTo(got); err != nil {
		t.Fatal(err)
	}
	if got.Spec.AWSLaunchTemplate != nil || got.Spec.RolePath != "/a/" {
		t.Errorf("want no template and the path, got %+v", got.Spec)
	}
	if err := older.ConvertFrom(&v1beta2.AWSManagedMachinePool{Spec: v1beta2.AWSManagedMachinePoolSpec{EKSNodegroupName: "n"}}); err != nil ||
		len(older.Annotations) != 0 {
		t.Errorf("v1beta1 says all of it: want no noise on the object, got %v, %v", older.Annotations, err)
	}
	spoilt := &v1beta1.AWSManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{conversionData: "{"}}}
	if err := spoilt.ConvertTo(got); err == nil || !strings.Contains(err.Error(), "metadata.annotations["+conversionData+"]") {
		t.Errorf("a spoilt annotation: got %v, want an error that names it", err)
	}
	for _, err := range []error{older.ConvertTo(&v1beta2.AWSMachinePool{}), older.ConvertFrom(&v1beta2.AWSMachinePool{})} {
		if err == nil || !strings.Contains(err.Error(), "found *v1beta2.AWSMachinePool") {
			t.Errorf("another kind: got %v, want an error that names it", err)
		}
	}
}

// FuzzManagedManifests holds that a manifest of either version loses nothing on the way to the other version and back, and that
// no annotation can break an object.
func FuzzManagedManifests(f *testing.F) {
	for _, text := range []string{
		`spec: {eksNodegroupName: general, instanceType: m6i.xlarge, scaling: {minSize: 3, maxSize: 20}, diskSize: 100, amiType: AL2023_x86_64_STANDARD, labels: {a: b}, updateConfig: {maxUnavailable: 1}}`,
		`spec: {updateConfig: {maxUnavailablePrecentage: 10}, taints: [{key: a, effect: no-schedule}], remoteAccess: {public: true}, roleName: r, roleAdditionalPolicies: [a]}`,
		`spec: {awsLaunchTemplate: {ami: {id: ami-1}, networkInterfaces: [{deviceIndex: 0}], existing: {id: lt-1, version: 1}, versionsToKeep: 2, nonRootVolumes: [{size: 8}], enclaveOptions: {}}, lifecycleHooks: [{name: h}], nodeRepairConfig: {}}`,
		`{metadata: {annotations: {cluster.x-k8s.io/conversion-data: '{"spec":{"awsLaunchTemplate":{"marketType":"Spot"},"lifecycleHooks":[]},"status":null}'}}, spec: {}}`,
		`{status: {conditions: [{type: Ready, status: "True", lastTransitionTime: "2030-01-02T03:04:05Z"}], replicas: 2, launchTemplateID: x, launchTemplateVersion: "3", failureReason: y}}`,
	} {
		f.Add([]byte(text))
	}
	fuzzVersions(f, managedOlderSurvives, managedStoredSurvives)
}

func managedOlderSurvives(t *testing.T, written *v1beta1.AWSManagedMachinePool) {
	t.Helper()
	written = overTheWire(t, written)
	stored, read, again := &v1beta2.AWSManagedMachinePool{}, &v1beta1.AWSManagedMachinePool{}, &v1beta2.AWSManagedMachinePool{}
	if err := written.ConvertTo(stored); err != nil {
		if !strings.Contains(err.Error(), conversionData) {
			t.Fatalf("want an error that names the field, got %v", err)
		}
		return
	}
	if err := read.ConvertFrom(overTheWire(t, stored)); err != nil {
		t.Fatalf("want what is stored to be readable, got %v", err)
	}
	if err := overTheWire(t, read).ConvertTo(again); err != nil {
		t.Fatalf("want what was read to be written back, got %v", err)
	}
	same(t, "stored, read and stored again", overTheWire(t, stored), overTheWire(t, again))
	bare(&written.ObjectMeta)
	bare(&read.ObjectMeta)
	same(t, "written and read", written, overTheWire(t, read))
}

func managedStoredSurvives(t *testing.T, stored *v1beta2.AWSManagedMachinePool) {
	t.Helper()
	stored = overTheWire(t, stored)
	bare(&stored.ObjectMeta)
	read, again := &v1beta1.AWSManagedMachinePool{}, &v1beta2.AWSManagedMachinePool{}
	if err := read.ConvertFrom(stored.DeepCopy()); err != nil {
		t.Fatalf("want every stored object to be readable, got %v", err)
	}
	if err := overTheWire(t, read).ConvertTo(again); err != nil {
		t.Fatalf("want what was read to be written back, got %v", err)
	}
	same(t, "stored, read and stored again", stored, overTheWire(t, again))
}
