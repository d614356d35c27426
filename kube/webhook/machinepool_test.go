package webhook

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func validPool() *clusterv1.MachinePool {
	replicas := int32(2)
	return &clusterv1.MachinePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pool"},
		Spec: clusterv1.MachinePoolSpec{ClusterName: "c1", Replicas: &replicas,
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: "c1", Version: "v1.36.0",
				Bootstrap: clusterv1.Bootstrap{ConfigRef: clusterv1.ContractVersionedObjectReference{APIGroup: "bootstrap.cluster.x-k8s.io",
					Kind: "KubeadmConfig", Name: "pool"}},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: "infrastructure.cluster.x-k8s.io", Kind: "AWSMachinePool",
					Name: "pool"},
			}}},
	}
}

func autoscaled(pool *clusterv1.MachinePool, minSize, maxSize string) {
	pool.Annotations = map[string]string{clusterv1.AutoscalerMinSizeAnnotation: minSize, clusterv1.AutoscalerMaxSizeAnnotation: maxSize}
}

func TestDefaultReplicas(t *testing.T) {
	t.Parallel()
	n := func(i int32) *int32 { return &i }
	const isNew, isUnset = int32(-1), int32(-2)
	for name, tc := range map[string]struct {
		reason      string
		replicas    *int32
		annotations []string
		old         int32
		want        int32
		refused     string
	}{
		"set":     {reason: "a number that is set is kept", replicas: n(7), annotations: []string{"2", "5"}, old: isNew, want: 7},
		"zero":    {reason: "zero is a number that is set", replicas: n(0), old: isNew, want: 0},
		"nothing": {reason: "one machine, as ever", old: isNew, want: 1},
		"new": {reason: "an autoscaler takes a new pool over at its lower bound", annotations: []string{"2", "5"}, old: isNew,
			want: 2},
		"old below":      {reason: "an existing pool is brought up to the lower bound", annotations: []string{"2", "5"}, old: 1, want: 2},
		"old above":      {reason: "an existing pool is brought down to the upper bound", annotations: []string{"2", "5"}, old: 9, want: 5},
		"old within":     {reason: "an existing pool within the bounds keeps its size", annotations: []string{"2", "5"}, old: 4, want: 4},
		"old unset":      {reason: "a pool from before there was a default", annotations: []string{"2", "5"}, old: isUnset, want: 2},
		"old, no bounds": {reason: "a client that takes the number away gets the default, not what there was", old: 7, want: 1},
		"set outside": {reason: "bounds move no number that is set; a warning tells of it", replicas: n(9), annotations: []string{"2", "5"},
			old: 4, want: 9},
		"set, no number": {reason: "bounds are not looked at where nothing is to be filled in; validation does", replicas: n(9),
			annotations: []string{"two", "5"}, old: isNew, want: 9},
		"empty bounds":   {reason: "no upper bound above zero, and still a number", annotations: []string{"0", "0"}, old: 3, want: 0},
		"one annotation": {reason: "annotations count as a pair alone", annotations: []string{"2"}, old: isNew, want: 1},
		"no number": {reason: "a bound that is no number can't be defaulted to", annotations: []string{"two", "5"}, old: isNew,
			refused: `node-group-min-size]: Invalid value: "two": must be a whole number from 0 up`},
		"negative": {reason: "no pool can have less than nothing", annotations: []string{"-2", "5"}, old: isNew,
			refused: `node-group-min-size]: Invalid value: "-2": must be a whole number from 0 up`},
		"too large": {reason: "a bound beyond the field's type would wrap around", annotations: []string{"2", "9999999999"}, old: isNew,
			refused: `node-group-max-size]: Invalid value: "9999999999": must be a whole number from 0 up`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := validPool()
			pool.Spec.Replicas = tc.replicas
			pool.Annotations = map[string]string{}
			for i, v := range tc.annotations {
				pool.Annotations[[]string{clusterv1.AutoscalerMinSizeAnnotation, clusterv1.AutoscalerMaxSizeAnnotation}[i]] = v
			}
			var old *clusterv1.MachinePool
			if tc.old != isNew {
				old = validPool()
				old.Spec.Replicas = &tc.old
			}
			if tc.old == isUnset {
				old.Spec.Replicas = nil
			}
			err := setDefaults(old, pool)
			switch {
			case tc.refused != "":
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("%s: want refusal %q, got %v", tc.reason, tc.refused, err)
				}
			case err != nil:
				t.Errorf("%s: want %d, got %v", tc.reason, tc.want, err)
			case *pool.Spec.Replicas != tc.want:
				t.Errorf("%s: want %d, got %d", tc.reason, tc.want, *pool.Spec.Replicas)
			}
		})
	}
}

// TestDefaults holds what is filled in beside the number of machines, and what is left as it was written.
func TestDefaults(t *testing.T) {
	t.Parallel()
	seconds := func(n int32) change {
		return func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds = &n }
	}
	of := func(p *clusterv1.MachinePool) string {
		return fmt.Sprintf("%s %d %s", p.Labels[clusterv1.ClusterNameLabel], *p.Spec.Template.Spec.Deletion.NodeDeletionTimeoutSeconds,
			p.Spec.Template.Spec.Version)
	}
	for name, tc := range map[string]struct {
		reason string
		change change
		want   string
	}{
		"nothing said": {reason: "a workload cluster out of reach keeps no pool for ever", change: func(*clusterv1.MachinePool) {},
			want: "c1 10 v1.36.0"},
		"never give up": {reason: "0 is said, and means something", change: seconds(0), want: "c1 0 v1.36.0"},
		"a minute":      {reason: "what is said stays", change: seconds(60), want: "c1 60 v1.36.0"},
		"no v": {reason: "people write both", change: func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "1.36.0" },
			want: "c1 10 v1.36.0"},
		"no version": {reason: "there is none to put a v before",
			change: func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "" }, want: "c1 10 "},
		"another's label": {reason: "the cluster's name is in the specification",
			change: func(p *clusterv1.MachinePool) { p.Labels = map[string]string{clusterv1.ClusterNameLabel: "c9"} }, want: "c1 10 v1.36.0"},
		"two at a time": {reason: "they have nothing to do with each other",
			change: func(p *clusterv1.MachinePool) { seconds(3)(p); p.Spec.Template.Spec.Version = "1.2.3" }, want: "c1 3 v1.2.3"},
		"a word as it was": {reason: "validation says what is wrong with it",
			change: func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "latest" }, want: "c1 10 vlatest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := validPool()
			tc.change(pool)
			if err := setDefaults(nil, pool); err != nil || of(pool) != tc.want {
				t.Errorf("%s: want %s, got %s, %v", tc.reason, tc.want, of(pool), err)
			}
			again := pool.DeepCopy()
			if err := setDefaults(pool, again); err != nil || of(again) != tc.want {
				t.Errorf("%s: want nothing left to fill in, got %s, %v", tc.reason, of(again), err)
			}
		})
	}
}

// TestDefaultThroughTheHandler sends requests as an API server does, dry runs as well.
func TestDefaultThroughTheHandler(t *testing.T) {
	t.Parallel()
	scheme := testScheme(t)
	handler := admission.WithDefaulter[*clusterv1.MachinePool](scheme, &poolDefaulter{decoder: admission.NewDecoder(scheme)})
	pool := validPool()
	pool.Spec.Replicas, pool.Spec.Template.Spec.Version = nil, "1.36.0"
	autoscaled(pool, "3", "5")
	raw, err := json.Marshal(pool)
	if err != nil {
		t.Fatal(err)
	}
	dry := true
	for name, req := range map[string]admissionv1.AdmissionRequest{
		"create": {Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw}, DryRun: &dry},
		"update": {Operation: admissionv1.Update, Object: runtime.RawExtension{Raw: raw}, OldObject: runtime.RawExtension{Raw: raw}},
	} {
		response := handler.Handle(t.Context(), admission.Request{AdmissionRequest: req})
		if !response.Allowed {
			t.Fatalf("%s: want it allowed, got %v", name, response.Result)
		}
		patches := map[string]any{}
		for _, p := range response.Patches {
			patches[p.Path] = p.Value
		}
		text, _ := json.Marshal(patches)
		for _, want := range []string{`"/spec/replicas":3`, `"v1.36.0"`, `"nodeDeletionTimeoutSeconds":10`,
			`"cluster.x-k8s.io/cluster-name":"c1"`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: want %s among the defaults, got %s", name, want, text)
			}
		}
	}
}

func TestValidateCreate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason  string
		change  func(p *clusterv1.MachinePool)
		refused []string
	}{
		"valid": {reason: "a pool like the seeds'", change: func(*clusterv1.MachinePool) {}},
		"negative replicas": {reason: "no schema rule says so", refused: []string{"spec.replicas: Invalid value: -1: must be zero or more"},
			change: func(p *clusterv1.MachinePool) { *p.Spec.Replicas = -1 }},
		"zero replicas": {reason: "scale to zero", change: func(p *clusterv1.MachinePool) { *p.Spec.Replicas = 0 }},
		"no bootstrap": {reason: "machines that could never join",
			refused: []string{"spec.template.spec.bootstrap: Required value: set configRef, or dataSecretName"},
			change:  func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{} }},
		"empty data secret": {reason: "managed pools need no bootstrap data", change: func(p *clusterv1.MachinePool) {
			none := ""
			p.Spec.Template.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: &none}
		}},
		"two clusters": {reason: "one of the two names would be ignored",
			refused: []string{`spec.template.spec.clusterName: Invalid value: "c2": must be that of spec.clusterName, "c1"`},
			change:  func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.ClusterName = "c2" }},
		"no version number": {reason: "a word is no version",
			refused: []string{`spec.template.spec.version: Invalid value: "vlatest": must be a semantic version`},
			change:  func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "vlatest" }},
		"no v": {reason: "the default adds it, so a version without it slipped past the default",
			refused: []string{"must be a semantic version with a leading v"},
			change:  func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "1.36.0" }},
		"vendor version": {reason: "versions of vendors are semantic versions too",
			change: func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "v1.29.1-eks-abc+1" }},
		"old version": {reason: "whether a version can be served is for the bootstrap provider to say",
			change: func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = "v1.16.8" }},
		"labels": {reason: "labels that no object could carry", refused: []string{"spec.template.metadata.labels: Invalid value"},
			change: func(p *clusterv1.MachinePool) {
				p.Spec.Template.Labels = map[string]string{"a b": "c"}
			}},
		"bounds the wrong way": {reason: "an autoscaler would ignore the pool without a word",
			refused: []string{"node-group-min-size]: Invalid value: 5: must not be above"},
			change:  func(p *clusterv1.MachinePool) { autoscaled(p, "5", "2") }},
		"bounds that are no numbers": {reason: "the same",
			refused: []string{`node-group-max-size]: Invalid value: "many": must be a whole number from 0 up`},
			change:  func(p *clusterv1.MachinePool) { autoscaled(p, "5", "many") }},
		"all at once": {reason: "every fault is told, not one at a time",
			refused: []string{"spec.replicas", "spec.template.spec.version", "spec.template.spec.bootstrap"},
			change: func(p *clusterv1.MachinePool) {
				*p.Spec.Replicas, p.Spec.Template.Spec.Version, p.Spec.Template.Spec.Bootstrap = -1, "x", clusterv1.Bootstrap{}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := validPool()
			tc.change(pool)
			_, err := poolValidator{}.ValidateCreate(t.Context(), pool)
			wantRefusal(t, tc.reason, err, tc.refused)
		})
	}
}

func wantRefusal(t *testing.T, reason string, err error, refused []string) {
	t.Helper()
	if len(refused) == 0 && err != nil {
		t.Errorf("%s: want it allowed, got %v", reason, err)
	}
	for _, r := range refused {
		if err == nil || !strings.Contains(err.Error(), r) {
			t.Errorf("%s: want refusal %q, got %v", reason, r, err)
		}
	}
}

func TestValidateUpdate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason     string
		old, after func(p *clusterv1.MachinePool)
		refused    []string
	}{
		"cluster": {reason: "machines belong to one cluster", refused: []string{`spec.clusterName: Forbidden: is immutable: it is "c1"`},
			after: func(p *clusterv1.MachinePool) { p.Spec.ClusterName, p.Spec.Template.Spec.ClusterName = "c2", "c2" }},
		"infrastructure kind": {reason: "machines would be left behind",
			refused: []string{"spec.template.spec.infrastructureRef: Forbidden: is immutable: it is AWSMachinePool pool"},
			after: func(p *clusterv1.MachinePool) {
				p.Spec.Template.Spec.InfrastructureRef.Kind = "AWSManagedMachinePool"
			}},
		"infrastructure name": {reason: "machines would be left behind", refused: []string{"spec.template.spec.infrastructureRef"},
			after: func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.InfrastructureRef.Name = "other" }},
		"bootstrap name": {reason: "another configuration is how machines are rolled",
			after: func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Bootstrap.ConfigRef.Name = "next" }},
		"fault from before": {reason: "a pool with an old fault can still be scaled",
			old: func(p *clusterv1.MachinePool) {
				p.Spec.Template.Spec.Version = "vlatest"
			},
			after: func(p *clusterv1.MachinePool) { *p.Spec.Replicas = 5 }},
		"new fault beside one from before": {reason: "an old fault is no licence", refused: []string{"spec.replicas"},
			old: func(p *clusterv1.MachinePool) {
				p.Spec.Template.Spec.Version = "vlatest"
			},
			after: func(p *clusterv1.MachinePool) { *p.Spec.Replicas = -5 }},
		"being deleted": {reason: "finalizers must come off whatever the pool looks like",
			old:   func(p *clusterv1.MachinePool) { p.DeletionTimestamp = &metav1.Time{} },
			after: func(p *clusterv1.MachinePool) { *p.Spec.Replicas, p.DeletionTimestamp.Time = -1, metav1.Now().Time }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := validPool()
			if tc.old != nil {
				tc.old(old)
			}
			pool := old.DeepCopy()
			tc.after(pool)
			_, err := poolValidator{}.ValidateUpdate(t.Context(), old, pool)
			wantRefusal(t, tc.reason, err, tc.refused)
		})
	}
}

func TestConfigurations(t *testing.T) {
	t.Parallel()
	paths := map[string]bool{}
	var hooks []Hook
	for _, role := range []Role{Defaults, Validates, Keeps, Warns} {
		hooks = append(hooks, Hook{Role: role, Path: "/" + string(role)})
	}
	objects := Configurations(func(path string) admissionregistrationv1.WebhookClientConfig {
		paths[path] = true
		return admissionregistrationv1.WebhookClientConfig{URL: &path}
	}, hooks)
	if len(objects) != 5 || objects[3].GetName() != InfrastructureMutatingConfiguration ||
		objects[4].GetName() != InfrastructureValidatingConfiguration || objects[0].GetName() != MutatingConfiguration ||
		objects[1].GetName() != ValidatingConfiguration || objects[2].GetName() != WarningsConfiguration {
		t.Errorf("want the configurations by name, got %v", objects)
	}
	for _, path := range []string{DefaultMachinePoolPath, DefaultOlderMachinePoolPath, ValidateMachinePoolPath, "/default", "/validation",
		"/keep", "/warnings"} {
		if !paths[path] {
			t.Errorf("want %s to be asked, got %v", path, paths)
		}
	}
}
