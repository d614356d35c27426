package crd_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/aws/v1beta1"
	"github.com/muster-project/muster/api/aws/v1beta2"
)

// manifests are of the published examples and of what the fields of either version can hold.
var manifests = []string{
	`apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AWSMachinePool
metadata:
  name: capa-mp-0
spec:
  minSize: 1
  maxSize: 10
  availabilityZones:
  - "${AWS_AVAILABILITY_ZONE}"
  awsLaunchTemplate:
    instanceType: "${AWS_CONTROL_PLANE_MACHINE_TYPE}"
    sshKeyName: "${AWS_SSH_KEY_NAME}"
    iamInstanceProfile: "nodes.cluster-api-provider-aws.sigs.k8s.io"
  subnets:
  - subnet-1
  - filters: [{name: n, values: [v]}]
`,
	`spec: {mixedInstancesPolicy: {instancesDistribution: {onDemandPercentageAboveBaseCapacity: 50}, overrides: [{instanceType: m5.large}]}, refreshPreferences: {strategy: Rolling}, defaultCoolDown: 5m}`,
	`{metadata: {annotations: {cluster.x-k8s.io/conversion-data: '{"spec":{"refreshPreferences":{"disable":true},"lifecycleHooks":[]},"status":null}'}}, spec: {refreshPreferences: {}}}`,
	`{metadata: {annotations: {cluster.x-k8s.io/conversion-data: '{"spec":{"awsLaunchTemplate":{"capacityReservationId":""},"defaultInstanceWarmup":"-1s"}}'}}}`,
	`{metadata: {annotations: {cluster.x-k8s.io/conversion-data: "null", a: b}}}`,
	`{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 1, deletePolicy: Random}}, refreshPreferences: {checkpointPercentages: [10, 100], checkpointDelay: 0, bakeTime: 60, autoRollback: true, alarmSpecification: {alarms: [a]}, scaleInProtectedInstances: Ignore, standbyInstances: Wait}}}`,
	`{spec: {strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: "x"}}, refreshPreferences: {disable: true, alarmSpecification: {}}}}`,
	`{spec: {suspendProcesses: {all: true}, awsLaunchTemplate: {privateDnsName: {}, nonRootVolumes: [{size: 8}], marketType: Spot}, lifecycleHooks: [{name: h}], ignition: {version: "3.4"}, subnets: [{id: subnet-1}]}}`,
	`{status: {conditions: [{type: Ready, status: "True", lastTransitionTime: "2030-01-02T03:04:05Z"}], replicas: 2, asgStatus: x, launchTemplateVersion: "3"}}`,
}

// FuzzManifests holds that a manifest of either version is refused by name or loses nothing on the way to the other version
// and back, and that no annotation can break an object.
func FuzzManifests(f *testing.F) {
	for _, text := range manifests {
		f.Add([]byte(text))
	}
	fuzzVersions(f, olderSurvives, storedSurvives)
}

// pointer is a pointer to an object of an API.
type pointer[T any] interface {
	*T
	runtime.Object
}

// fuzzVersions tries manifests as objects of the older version and as stored ones.
func fuzzVersions[W, S any, PW pointer[W], PS pointer[S]](f *testing.F, older func(*testing.T, PW), stored func(*testing.T, PS)) {
	f.Fuzz(func(t *testing.T, text []byte) {
		data, err := yaml.YAMLToJSON(text)
		if err != nil {
			return
		}
		// Version and kind are set by the caller of the conversion.
		none := schema.GroupVersionKind{}
		written, kept := PW(new(W)), PS(new(S))
		if err := json.Unmarshal(data, written); err == nil {
			written.GetObjectKind().SetGroupVersionKind(none)
			older(t, written)
		}
		if err := json.Unmarshal(data, kept); err == nil {
			kept.GetObjectKind().SetGroupVersionKind(none)
			stored(t, kept)
		}
	})
}

// same compares what an API server would send: an empty list and none, an empty text and none mean the same.
func same(t *testing.T, what string, a, b any) {
	t.Helper()
	if diff := cmp.Diff(a, b, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s (-before +after):\n%s", what, diff)
	}
}

func olderSurvives(t *testing.T, written *v1beta1.AWSMachinePool) {
	t.Helper()
	written = overTheWire(t, written)
	stored := &v1beta2.AWSMachinePool{}
	if err := written.ConvertTo(stored); err != nil {
		if !strings.Contains(err.Error(), "spec.subnets") && !strings.Contains(err.Error(), conversionData) {
			t.Fatalf("want an error that names the field, got %v", err)
		}
		return
	}
	read := &v1beta1.AWSMachinePool{}
	if err := read.ConvertFrom(overTheWire(t, stored)); err != nil {
		t.Fatalf("want what is stored to be readable, got %v", err)
	}
	again := &v1beta2.AWSMachinePool{}
	if err := overTheWire(t, read).ConvertTo(again); err != nil {
		t.Fatalf("want what was read to be written back, got %v", err)
	}
	same(t, "stored, read and stored again", overTheWire(t, stored), overTheWire(t, again))
	// Only the annotation with the fields of the other version may change in a round trip.
	bare(&written.ObjectMeta)
	bare(&read.ObjectMeta)
	same(t, "written and read", written, overTheWire(t, read))
}

func storedSurvives(t *testing.T, stored *v1beta2.AWSMachinePool) {
	t.Helper()
	stored = overTheWire(t, stored)
	// The schema fills this in, and keeps what was put aside off stored objects.
	if stored.Spec.DefaultInstanceWarmup == nil {
		stored.Spec.DefaultInstanceWarmup = &metav1.Duration{Duration: 5 * time.Minute}
	}
	bare(&stored.ObjectMeta)
	read := &v1beta1.AWSMachinePool{}
	if err := read.ConvertFrom(stored.DeepCopy()); err != nil {
		t.Fatalf("want every stored object to be readable, got %v", err)
	}
	again := &v1beta2.AWSMachinePool{}
	if err := overTheWire(t, read).ConvertTo(again); err != nil {
		// References that no schema lets through are refused here too.
		if !strings.Contains(err.Error(), "spec.subnets") {
			t.Fatalf("want what was read to be written back, got %v", err)
		}
		return
	}
	same(t, "stored, read and stored again", stored, overTheWire(t, again))
}

func bare(meta *metav1.ObjectMeta) {
	delete(meta.Annotations, conversionData)
	if len(meta.Annotations) == 0 {
		meta.Annotations = nil
	}
}
