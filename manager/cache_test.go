package manager

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Secrets of clusters are watched everywhere, by their label; those of identities, which have none, in their own namespace.
func TestSecretsThatAreWatched(t *testing.T) {
	t.Parallel()
	for reason, c := range map[string]struct {
		o    Options
		want map[string]string
	}{
		"all namespaces": {Options{}, map[string]string{cache.AllNamespaces: "cluster.x-k8s.io/cluster-name", "muster-system": ""}},
		"one namespace": {Options{Namespace: "team", IdentityNamespace: "capa-system"},
			map[string]string{"team": "cluster.x-k8s.io/cluster-name", "capa-system": ""}},
	} {
		o, err := c.o.complete()
		if err != nil {
			t.Fatal(err)
		}
		labelled, err := labels.Parse("cluster.x-k8s.io/cluster-name")
		if err != nil {
			t.Fatal(err)
		}
		caching := cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}: {Label: labelled, Transform: func(o any) (any, error) { return o, nil }}, &corev1.Node{}: {},
		}}
		watchIdentitySecrets(caching, o)
		got := map[string]string{}
		for object, by := range caching.ByObject {
			if _, ok := object.(*corev1.Secret); !ok {
				continue
			}
			if by.Transform == nil || by.Label != nil {
				t.Errorf("%s: want data dropped, and no label for all of them, got %+v", reason, by)
			}
			for namespace, config := range by.Namespaces {
				got[namespace] = config.LabelSelector.String()
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}
