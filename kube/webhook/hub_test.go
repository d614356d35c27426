package webhook

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	awsv1beta1 "github.com/muster-project/muster/api/aws/v1beta1"
	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

func TestToHub(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1beta1.AddToScheme, clusterv1.AddToScheme, awsv1beta1.AddToScheme,
		awsv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	reader := fake.NewClientBuilder().WithScheme(scheme).Build()
	with := func(o client.Object, gvk string, version string) client.Object {
		o.SetName("x")
		o.GetObjectKind().SetGroupVersionKind(clusterv1.GroupVersion.WithKind(gvk))
		for k := range scheme.AllKnownTypes() {
			if k.Kind == gvk && k.Version == version {
				o.GetObjectKind().SetGroupVersionKind(k)
			}
		}
		return o
	}
	old := &clusterv1beta1.MachinePool{}
	old.Spec.ClusterName = "c"
	pool := &awsv1beta1.AWSMachinePool{}
	pool.Spec.MaxSize = 7
	for _, c := range []struct {
		why  string
		in   client.Object
		read func(client.Object) bool
	}{
		{"a core kind is converted by cluster-api", with(old, "MachinePool", "v1beta1"), func(o client.Object) bool {
			mp, ok := o.(*clusterv1.MachinePool)
			return ok && mp.Spec.ClusterName == "c" && mp.Name == "x"
		}},
		{"a kind of Muster's by itself", with(pool, "AWSMachinePool", "v1beta1"), func(o client.Object) bool {
			p, ok := o.(*awsv1.AWSMachinePool)
			return ok && p.Spec.MaxSize == 7 && p.Name == "x"
		}},
		{"what is in the version that is read stays", with(&clusterv1.MachinePool{}, "MachinePool", "v1beta2"), func(o client.Object) bool {
			_, ok := o.(*clusterv1.MachinePool)
			return ok
		}},
		{"what has one version stays", with(&corev1.Secret{}, "Secret", "v1"), func(o client.Object) bool {
			_, ok := o.(*corev1.Secret)
			return ok
		}},
	} {
		got, err := ToHub(t.Context(), scheme, reader, c.in)
		if err != nil || !c.read(got) {
			t.Errorf("%s: got %T, %v", c.why, got, err)
		}
	}
}
