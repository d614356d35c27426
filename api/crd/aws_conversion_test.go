package crd_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/randfill"

	"github.com/muster-project/muster/api/aws/v1beta1"
	"github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
)

const (
	// manyRounds of random objects a direction, with -short fewRounds; every optional field is set in half of them.
	manyRounds, fewRounds = 1000, 100
	// seed of the random objects: a failure is the same in every run.
	seed = 20260101
	// conversionData is the annotation in which Cluster API's types keep what an older version has no field for.
	conversionData = "cluster.x-k8s.io/conversion-data"
)

func filler() *randfill.Filler {
	return randfill.NewWithSeed(seed).NilChance(0.5).NumElements(1, 3).Funcs(
		// Metadata is copied whole; one map is enough to see that it is.
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			m.Name = c.String(8)
			m.Generation = int64(c.Uint32())
			if c.Bool() {
				m.Annotations = map[string]string{"a": c.String(8)}
			}
		},
		func(m *metav1.TypeMeta, _ randfill.Continue) { *m = metav1.TypeMeta{} },
		func(m *metav1.Time, c randfill.Continue) { *m = metav1.NewTime(time.Unix(int64(c.Uint32()), 0)) },
		func(m *metav1.Duration, c randfill.Continue) { m.Duration = time.Duration(c.Uint32()) * time.Second },
		func(m *json.RawMessage, c randfill.Continue) { *m = json.RawMessage(strconv.Quote(c.String(4))) },
		// The rules allow references by an ID or by filters.
		func(r *v1beta2.AWSResourceReference, c randfill.Continue) {
			*r = reference(c)
		},
		func(r *v1beta1.SubnetReference, c randfill.Continue) {
			*r = v1beta1.SubnetReference(reference(c))
		},
		// The schema of the stored version always fills this in.
		func(s *v1beta2.AWSMachinePoolSpec, c randfill.Continue) {
			c.FillNoCustom(s)
			if s.DefaultInstanceWarmup == nil {
				s.DefaultInstanceWarmup = &metav1.Duration{Duration: 5 * time.Minute}
			}
		},
	)
}

func reference(c randfill.Continue) v1beta2.AWSResourceReference {
	if c.Bool() {
		id := "subnet-" + c.String(4)
		return v1beta2.AWSResourceReference{ID: &id}
	}
	return v1beta2.AWSResourceReference{Filters: []v1beta2.Filter{{Name: c.String(4), Values: []string{c.String(4)}}}}
}

// overTheWire sends the object through JSON, as the webhook does on every hop.
func overTheWire[T any](t *testing.T, from *T) *T {
	t.Helper()
	data, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	to := new(T)
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return to
}

// rounds returns how many random objects a direction are converted.
func rounds() int {
	if testing.Short() {
		return fewRounds
	}
	return manyRounds
}

// TestConversionStoredSurvives holds that an object that is read as v1beta1 and written back is stored as it was.
func TestConversionStoredSurvives(t *testing.T) {
	t.Parallel()
	fill := filler()
	for round := range rounds() {
		stored := &v1beta2.AWSMachinePool{}
		fill.Fill(stored)
		stored = overTheWire(t, stored)
		before := stored.DeepCopy()
		read := &v1beta1.AWSMachinePool{}
		if err := read.ConvertFrom(stored); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if diff := cmp.Diff(before, stored); diff != "" {
			t.Fatalf("round %d: reading changed what was read (-before +after):\n%s", round, diff)
		}
		written := &v1beta2.AWSMachinePool{}
		if err := overTheWire(t, read).ConvertTo(written); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if diff := cmp.Diff(stored, overTheWire(t, written)); diff != "" {
			t.Fatalf("round %d: lost on the way (-stored +written):\n%s", round, diff)
		}
	}
}

// TestConversionOlderSurvives holds that an object that is written as v1beta1 is read back as it was, without an annotation.
func TestConversionOlderSurvives(t *testing.T) {
	t.Parallel()
	fill := filler()
	for round := range rounds() {
		written := &v1beta1.AWSMachinePool{}
		fill.Fill(written)
		written = overTheWire(t, written)
		before := written.DeepCopy()
		stored := &v1beta2.AWSMachinePool{}
		if err := written.ConvertTo(stored); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if diff := cmp.Diff(before, written); diff != "" {
			t.Fatalf("round %d: storing changed what was stored (-before +after):\n%s", round, diff)
		}
		read := &v1beta1.AWSMachinePool{}
		if err := read.ConvertFrom(overTheWire(t, stored)); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if diff := cmp.Diff(written, overTheWire(t, read)); diff != "" {
			t.Fatalf("round %d: lost on the way (-written +read):\n%s", round, diff)
		}
	}
}

// TestConversionEdited holds that a change made through v1beta1 arrives, and leaves alone what v1beta1 can't see.
func TestConversionEdited(t *testing.T) {
	t.Parallel()
	no := true
	reservation := "cr-1"
	stored := &v1beta2.AWSMachinePool{Spec: v1beta2.AWSMachinePoolSpec{
		MinSize:          1,
		MaxSize:          3,
		SuspendProcesses: &v1beta2.SuspendProcessesTypes{Processes: &v1beta2.Processes{AZRebalance: &no}},
		AWSLaunchTemplate: v1beta2.AWSLaunchTemplate{
			InstanceType:          "m5.large",
			CapacityReservationID: &reservation,
		},
		DefaultInstanceWarmup: &metav1.Duration{Duration: time.Minute},
	}}
	older := &v1beta1.AWSMachinePool{}
	if err := older.ConvertFrom(stored); err != nil {
		t.Fatal(err)
	}
	older.Spec.MaxSize = 9
	older.Spec.AWSLaunchTemplate.InstanceType = "m5.xlarge"
	got := &v1beta2.AWSMachinePool{}
	if err := older.ConvertTo(got); err != nil {
		t.Fatal(err)
	}
	want := stored.DeepCopy()
	want.Spec.MaxSize = 9
	want.Spec.AWSLaunchTemplate.InstanceType = "m5.xlarge"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after an edit through v1beta1 (-want +got):\n%s", diff)
	}
}

// TestConversionAnnotation holds when something is kept aside, and that a spoilt annotation is refused by name.
func TestConversionAnnotation(t *testing.T) {
	t.Parallel()
	seedObject := func() *v1beta2.AWSMachinePool {
		return &v1beta2.AWSMachinePool{Spec: v1beta2.AWSMachinePoolSpec{
			MinSize: 1, MaxSize: 10,
			DefaultInstanceWarmup: &metav1.Duration{Duration: 5 * time.Minute},
		}, Status: v1beta2.AWSMachinePoolStatus{Status: common.Status{Replicas: new(int32(2))}}}
	}
	cases := []struct {
		name, reason string
		change       func(*v1beta2.AWSMachinePool)
		want         string
	}{
		{name: "nothing", reason: "v1beta1 says all of it: no noise on the object", change: func(*v1beta2.AWSMachinePool) {}},
		{name: "hook", reason: "v1beta1 has no hooks",
			change: func(p *v1beta2.AWSMachinePool) {
				p.Spec.AWSLifecycleHooks = []v1beta2.AWSLifecycleHook{{Name: "h", LifecycleTransition: v1beta2.LifecycleTransitionInstanceLaunching}}
			},
			want: `{"spec":{"lifecycleHooks":[{"name":"h","lifecycleTransition":"autoscaling:EC2_INSTANCE_LAUNCHING"}]}}`},
		{name: "stale", reason: "an older annotation is no truth",
			change: func(p *v1beta2.AWSMachinePool) {
				p.Annotations = map[string]string{conversionData: `{"spec":{"ignition":{}}}`}
			}},
		{name: "warmup", reason: "only a warmup that differs from the default is news",
			change: func(p *v1beta2.AWSMachinePool) { p.Spec.DefaultInstanceWarmup = &metav1.Duration{} },
			want:   `{"spec":{"defaultInstanceWarmup":"0s"}}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stored := seedObject()
			c.change(stored)
			older := &v1beta1.AWSMachinePool{}
			if err := older.ConvertFrom(stored); err != nil {
				t.Fatal(err)
			}
			if got := older.Annotations[conversionData]; got != c.want {
				t.Errorf("%s: annotation: got %s, want %s", c.reason, got, c.want)
			}
		})
	}
	spoilt := &v1beta1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{conversionData: "{"}}}
	err := spoilt.ConvertTo(&v1beta2.AWSMachinePool{})
	if err == nil || !strings.Contains(err.Error(), "metadata.annotations["+conversionData+"]") {
		t.Errorf("a spoilt annotation: got %v, want an error that names it", err)
	}
}

// FuzzSubnets holds that every item in a list of subnets is either accepted and keeps its value in a round trip, or rejected with its name.
func FuzzSubnets(f *testing.F) {
	for _, text := range []string{`["subnet-1"]`, `[{"id":"subnet-1"}]`, `[{"filters":[{"name":"n","values":["v"]}]}]`, `[1]`,
		`[{"filters":[]}]`, `[null]`, `null`, `{}`, `"a"`, `[[]]`} {
		f.Add([]byte(text))
		spoilt := []byte(text)
		spoilt[len(spoilt)/2] ^= 1
		f.Add(spoilt)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var references v1beta1.SubnetReferences
		if err := json.Unmarshal(data, &references); err != nil {
			if json.Valid(data) && !strings.Contains(err.Error(), "spec.subnets") {
				t.Fatalf("%s: got %v, want an error that names the field", data, err)
			}
			return
		}
		out, err := json.Marshal(references)
		if err != nil {
			t.Fatal(err)
		}
		var again v1beta1.SubnetReferences
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatalf("%s was written as %s, which is refused: %v", data, out, err)
		}
		// An empty list and none mean the same.
		if diff := cmp.Diff(references, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s (-first +second):\n%s", data, diff)
		}
	})
}
