package machinepool_test

import (
	"errors"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/kube/machinepool/contract"
)

func TestAPIVersionOfContract(t *testing.T) {
	t.Parallel()
	gk := schema.GroupKind{Group: "infrastructure.cluster.x-k8s.io", Kind: "AWSMachinePool"}
	for name, tc := range map[string]struct {
		reason string
		labels map[string]string
		noCRD  bool
		want   string
		err    error
	}{
		"newest": {
			reason: "of several versions the newest is read, by Kubernetes' order and not by the alphabet's",
			labels: map[string]string{"cluster.x-k8s.io/v1beta2": "v1beta1_v1beta10_v1beta2"},
			want:   "infrastructure.cluster.x-k8s.io/v1beta10",
		},
		"newest contract": {
			reason: "a version that follows the newer contract is preferred to any that follows the older",
			labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1", "cluster.x-k8s.io/v1beta2": "v1beta2"},
			want:   "infrastructure.cluster.x-k8s.io/v1beta2",
		},
		"older contract": {
			reason: "providers that know the older contract alone are served",
			labels: map[string]string{"cluster.x-k8s.io/v1beta1": "v1beta1"},
			want:   "infrastructure.cluster.x-k8s.io/v1beta1",
		},
		"no label": {reason: "a kind without label can't be read safely", labels: map[string]string{"a": "b"}, err: contract.ErrNoVersion},
		"no kind": {reason: "a kind that is not installed has an error of its own, because none of its objects can exist", noCRD: true,
			err: contract.ErrNoKind},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme := runtime.NewScheme()
			if err := apiextensionsv1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			b := fake.NewClientBuilder().WithScheme(scheme)
			if !tc.noCRD {
				b = b.WithObjects(&apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
					Name: "awsmachinepools.infrastructure.cluster.x-k8s.io", Labels: tc.labels}})
			}
			got, err := contract.APIVersion(t.Context(), b.Build(), gk)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s: want error %v, got %v", tc.reason, tc.err, err)
			}
			if got != tc.want {
				t.Errorf("%s: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
