package webhook

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/intstr"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"

	awsv1beta1 "github.com/muster-project/muster/api/aws/v1beta1"
	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

// roundTrips is the number of objects of each kind and version that are converted and back, shortRoundTrips the number with -short.
const roundTrips, shortRoundTrips = 60, 10

// TestRoundTrips holds that an object of any kind and version comes back from the other version unchanged, through the handler that API
// servers call. The exceptions are objects that the schema rejects (valid) and the known losses, which TestKnownLosses checks one by one.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	h := converting(t)
	scheme := testScheme(t)
	objects := int64(roundTrips)
	if testing.Short() {
		objects = shortRoundTrips
	}
	kinds := []schema.GroupKind{
		awsv1.GroupVersion.WithKind(awsv1.AWSMachinePoolKind).GroupKind(),
		awsv1.GroupVersion.WithKind(awsv1.AWSManagedMachinePoolKind).GroupKind(),
	}
	for gk := range converters() {
		kinds = append(kinds, gk)
	}
	for _, gk := range kinds {
		for from, to := range map[string]string{"v1beta1": "v1beta2", "v1beta2": "v1beta1"} {
			t.Run(gk.Kind+" of "+from, func(t *testing.T) {
				t.Parallel()
				for seed := range objects {
					made, err := scheme.New(gk.WithVersion(from))
					if err != nil {
						t.Fatal(err)
					}
					o := made.(client.Object)
					random(seed).Fill(o)
					valid(o, gk.WithVersion(from))
					if !comesBack(t, h, o, gk.Group+"/"+to) {
						t.Fatalf("seed %d", seed)
					}
				}
			})
		}
	}
}

// comesBack sends an object to another version and back, and compares.
func comesBack(t *testing.T, h http.Handler, o client.Object, to string) bool {
	t.Helper()
	went, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	over, refused := converted(t, h, to, went)
	if refused != "" {
		t.Errorf("to %s: want it taken, got %s for %s", to, refused, went)
		return false
	}
	came, refused := converted(t, h, o.GetObjectKind().GroupVersionKind().GroupVersion().String(), over)
	if refused != "" {
		t.Errorf("back from %s: want it taken, got %s for %s", to, refused, over)
		return false
	}
	before, after := decoded(t, o, went), decoded(t, o, came)
	if diff := cmp.Diff(before, after, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("there and back (-went +came):\n%s", diff)
		return false
	}
	return true
}

// converted asks the handler for one object in another version.
func converted(t *testing.T, h http.Handler, to string, object []byte) (into []byte, refused string) {
	t.Helper()
	answer := askConversion(t, h, review(t, to, object))
	if answer == nil || answer.Result.Status != metav1.StatusSuccess {
		return nil, fmt.Sprintf("%+v", answer)
	}
	return answer.ConvertedObjects[0].Raw, ""
}

// decoded is an object as a client has it, without what conversions set aside on it.
func decoded(t *testing.T, like client.Object, data []byte) client.Object {
	t.Helper()
	o := reflect.New(reflect.TypeOf(like).Elem()).Interface().(client.Object)
	if err := json.Unmarshal(data, o); err != nil {
		t.Fatal(err)
	}
	annotations := o.GetAnnotations()
	delete(annotations, "cluster.x-k8s.io/conversion-data")
	delete(annotations, "muster.dev/conversion-data")
	o.SetAnnotations(annotations)
	return o
}

// random fills objects; a seed always makes the same.
func random(seed int64) *randfill.Filler {
	scheme := serializer.CodecFactory{}
	return fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, func(serializer.CodecFactory) []any { return fills }),
		rand.NewSource(seed), scheme)
}

const namespaceOfAll = "ns"

// fills are for types that take certain values alone: by their schema, by what they are encoded as, or because the other ones are
// among the known losses.
var fills = []any{
	func(s *string, c randfill.Continue) { *s = fmt.Sprintf("s%d", c.Int31n(1000000)) },
	func(j *apiextensionsv1.JSON, c randfill.Continue) {
		j.Raw = []byte([]string{`"a"`, "true", "5"}[c.Intn(3)])
	},
	func(s *clusterv1.JSONSchemaProps, c randfill.Continue) {
		s.Type, s.Pattern = "string", fmt.Sprint(c.Int31())
	},
	func(s *clusterv1beta1.JSONSchemaProps, c randfill.Continue) {
		s.Type, s.Pattern = "string", fmt.Sprint(c.Int31())
	},
	func(d *metav1.Duration, c randfill.Continue) {
		d.Duration = time.Duration(c.Int31n(1000000)) * time.Second
	},
	func(i *intstr.IntOrString, c randfill.Continue) { *i = intstr.FromInt32(c.Int31n(100)) },
	func(r *corev1.ObjectReference, c randfill.Continue) {
		*r = corev1.ObjectReference{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "AWSMachinePool", Namespace: namespaceOfAll,
			Name: fmt.Sprint("n", c.Int31())}
	},
	func(r *clusterv1.ContractVersionedObjectReference, c randfill.Continue) {
		*r = clusterv1.ContractVersionedObjectReference{APIGroup: fmt.Sprint("g", c.Int31()), Kind: fmt.Sprint("K", c.Int31()),
			Name: fmt.Sprint("n", c.Int31())}
	},
	func(s *bootstrapv1.BootstrapTokenString, _ randfill.Continue) {
		s.ID, s.Secret = "abcdef", "abcdef0123456789"
	},
	func(s *bootstrapv1beta1.BootstrapTokenString, _ randfill.Continue) {
		s.ID, s.Secret = "abcdef", "abcdef0123456789"
	},
	func(s *clusterv1.ClusterStatus, c randfill.Continue) {
		c.FillNoCustom(s)
		for i := range s.FailureDomains {
			s.FailureDomains[i] = clusterv1.FailureDomain{Name: fmt.Sprintf("zone-%03d", i), ControlPlane: new(c.Bool())} // ordered by name
		}
	},
	func(s *clusterv1.UnhealthyNodeCondition, c randfill.Continue) {
		c.FillNoCustom(s)
		required(&s.TimeoutSeconds)
	},
	func(s *clusterv1.UnhealthyMachineCondition, c randfill.Continue) {
		c.FillNoCustom(s)
		required(&s.TimeoutSeconds)
	},
	func(s *clusterv1.ClusterClassVariable, c randfill.Continue) { c.FillNoCustom(s); required(&s.Required) },
	func(s *clusterv1.ClusterClassStatusVariableDefinition, c randfill.Continue) {
		c.FillNoCustom(s)
		required(&s.Required)
	},
	func(s *bootstrapv1.Partition, c randfill.Continue) { c.FillNoCustom(s); required(&s.Layout) },
	func(s *bootstrapv1.Arg, c randfill.Continue) { c.FillNoCustom(s); required(&s.Value) },
	func(s *clusterv1.MachineSet, c randfill.Continue) {
		c.FillNoCustom(s)
		required(&s.Status.Replicas)
		s.Status.Deprecated = &clusterv1.MachineSetDeprecatedStatus{V1Beta1: &clusterv1.MachineSetV1Beta1DeprecatedStatus{ReadyReplicas: c.Int31n(
			9) + 1}}
	},
	func(s *clusterv1.MachineStatus, c randfill.Continue) {
		c.FillNoCustom(s)
		s.Phase = []string{"Updating", "Running"}[c.Intn(2)]
	},
	func(s *clusterv1beta1.MachineStatus, c randfill.Continue) {
		c.FillNoCustom(s)
		s.NodeRef = &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: "n"}
	},
	func(s *awsv1.AWSMachinePoolSpec, c randfill.Continue) {
		c.FillNoCustom(s)
		required(&s.DefaultInstanceWarmup)
	},
	func(s *awsv1beta1.SubnetReference, c randfill.Continue) { s.ID = new(fmt.Sprint("subnet-", c.Int31())) },
	func(s *awsv1.AWSResourceReference, c randfill.Continue) { s.ID = new(fmt.Sprint("subnet-", c.Int31())) },
	func(s *clusterv1beta1.Topology, c randfill.Continue) { c.FillNoCustom(s); s.RolloutAfter = nil },
	func(s *clusterv1beta1.ClusterVariable, c randfill.Continue) { c.FillNoCustom(s); s.DefinitionFrom = "" },
	func(s *clusterv1beta1.MachineDeploymentSpec, c randfill.Continue) {
		c.FillNoCustom(s)
		s.ProgressDeadlineSeconds, s.RevisionHistoryLimit = nil, nil
	},
	func(s *bootstrapv1beta1.KubeadmConfigSpec, c randfill.Continue) {
		c.FillNoCustom(s)
		s.UseExperimentalRetryJoin = false
	},
	func(s *bootstrapv1beta1.ClusterConfiguration, c randfill.Continue) {
		c.FillNoCustom(s)
		s.Networking, s.KubernetesVersion, s.ClusterName = bootstrapv1beta1.Networking{}, "", ""
	},
}

// required sets a field that a schema requires.
func required[T any](field **T) {
	if *field == nil {
		*field = new(T)
	}
}

// valid makes what was filled an object that an API server could send.
func valid(o client.Object, gvk schema.GroupVersionKind) {
	tidy(reflect.ValueOf(o).Elem())
	o.GetObjectKind().SetGroupVersionKind(gvk)
	o.SetNamespace(namespaceOfAll)
	o.SetManagedFields(nil)
	o.SetAnnotations(map[string]string{"a": "b"})
}

// tidy takes away what says nothing: empty lists and maps, and pointers to what is empty. Taints are another matter: a
// kubelet that is given an empty list registers with none.
func tidy(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				tidy(f)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			tidy(v.Index(i))
		}
		if v.Len() == 0 {
			v.SetZero()
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			tidy(value)
			v.SetMapIndex(key, value)
		}
		if v.Len() == 0 {
			v.SetZero()
		}
	case reflect.Pointer:
		if !v.IsNil() {
			tidyPointer(v)
		}
	}
}

func tidyPointer(v reflect.Value) {
	switch v.Interface().(type) {
	case *metav1.Duration, *[]corev1.Taint:
		return
	}
	tidy(v.Elem())
	switch v.Elem().Kind() {
	case reflect.Struct, reflect.String, reflect.Slice:
		if v.Elem().IsZero() {
			v.SetZero()
		}
	}
}
