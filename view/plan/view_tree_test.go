package plan_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/view"
	"github.com/muster-project/muster/view/tree"
)

// management returns a management cluster with the objects of testdata/view/tree/objects.yaml.
func management(t *testing.T) client.Client {
	t.Helper()
	s := runtime.NewScheme()
	if err := clusterv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/view/tree/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{
		clusterv1.GroupVersion, {Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta2"}, {Group: "infrastructure.cluster.x-k8s.io",
			Version: "v1beta1"},
	})
	b := fake.NewClientBuilder().WithScheme(s)
	for _, part := range strings.Split(string(text), "---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(part), &u.Object); err != nil {
			t.Fatal(err)
		}
		mapper.Add(u.GroupVersionKind(), meta.RESTScopeNamespace)
		if u.GroupVersionKind().Group != clusterv1.GroupVersion.Group {
			b = b.WithObjects(u)
			continue
		}
		o, err := s.New(u.GroupVersionKind())
		if err != nil {
			t.Fatal(err)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o); err != nil {
			t.Fatal(err)
		}
		b = b.WithObjects(o.(client.Object))
	}
	for _, kind := range []string{"Cluster", "MachinePool", "Machine"} {
		mapper.Add(schema.GroupVersionKind{Group: clusterv1.GroupVersion.Group, Version: clusterv1.GroupVersion.Version, Kind: kind},
			meta.RESTScopeNamespace)
	}
	return b.WithRESTMapper(mapper).Build()
}

func TestTree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		why, golden           string
		kind, name, namespace string
		width                 int
	}{
		{"all namespaces: pools with and without Machines, of another provider, and of a Cluster that does not exist", "all.txt", "", "",
			"", 0},
		{"reasons wrap on a terminal", "all-80.txt", "", "", "", 80},
		{"a Cluster with its pools", "cluster.txt", "cluster", "prod", "default", 0},
		{"a pool by its short name, with its Cluster", "pool.txt", "mp", "workers", "default", 0},
		{"a pool by its infrastructure object, which has another name", "pool.txt", "cloudmachinepool", "workers-infra", "default", 0},
		{"nothing is there", "empty.txt", "", "", "elsewhere", 0},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			objects, err := tree.Read(t.Context(), tree.Request{Client: management(t), Kind: c.kind, Name: c.name, Namespace: c.namespace})
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := tree.Text(&got, tree.Build(objects), view.Terminal{Width: c.width}); err != nil {
				t.Fatal(err)
			}
			goldenFile(t, filepath.Join("view", "tree", c.golden), got.String(), "what is printed")
		})
	}
	_, err := tree.Read(t.Context(), tree.Request{Client: management(t), Kind: "mp", Name: "gone", Namespace: "default"})
	if err == nil || !strings.Contains(err.Error(), "mp gone does not exist in namespace default") {
		t.Errorf("want an error that names what does not exist, got %v", err)
	}
}

// Scripts read these fields: none is renamed or left out.
func TestJSON(t *testing.T) {
	t.Parallel()
	objects, err := tree.Read(t.Context(), tree.Request{Client: management(t), Kind: "mp", Name: "workers", Namespace: "default"})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := tree.JSON(&got, tree.Build(objects)); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(got.Bytes()) {
		t.Fatalf("want JSON, got %s", &got)
	}
	goldenFile(t, filepath.Join("view", "tree", "pool.json"), got.String(), "what is printed")
}
