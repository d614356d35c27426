package revision_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/muster-project/muster/kube/infrapool/revision"
)

// fields stand for those of a kind: a MachineDeployment has fields of every sort.
var fields = revision.Fields{Names: []string{"selector", "template", "rollout"}, Except: []string{"template.metadata"}}

func pool(change ...func(*clusterv1.MachineDeployment)) *clusterv1.MachineDeployment {
	o := &clusterv1.MachineDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "1234", ResourceVersion: "1"},
		Spec: clusterv1.MachineDeploymentSpec{ClusterName: "c", Replicas: new(int32(2)),
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{Version: "v1.36.3", FailureDomain: "a"}}}}
	for _, f := range change {
		f(o)
	}
	return o
}

func machinePool(version string) *clusterv1.MachinePool {
	mp := &clusterv1.MachinePool{}
	mp.Spec.Template.Spec.Version = version
	return mp
}

func store(t *testing.T) revision.Store {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	c := fake.NewClientBuilder().WithScheme(s).Build()
	return revision.Store{Client: c, Reader: c}
}

// TestOnto holds that a template replaces exactly its fields, those within them too.
func TestOnto(t *testing.T) {
	t.Parallel()
	former, err := revision.Of(pool(), fields, machinePool("v1.36.3"))
	if err != nil {
		t.Fatal(err)
	}
	now := pool(func(o *clusterv1.MachineDeployment) {
		o.Spec.Replicas = new(int32(7))
		o.Spec.Template.Spec.FailureDomain = ""
		o.Spec.Template.Spec.ProviderID = "set later"
		o.Spec.Template.Labels = map[string]string{"excepted": "now"}
		o.Spec.Selector.MatchLabels = map[string]string{"set": "later"}
	})
	got := &clusterv1.MachineDeployment{}
	if err := former.Onto(got, now, fields); err != nil {
		t.Fatal(err)
	}
	if s := got.Spec; s.Template.Spec.FailureDomain != "a" || s.Template.Spec.ProviderID != "" || s.Selector.MatchLabels != nil ||
		*s.Replicas != 7 || s.Template.Labels["excepted"] != "now" || got.UID != "1234" {
		t.Errorf("want the former template and nothing else of it, got %+v", got)
	}
}

// TestStore holds what is kept, in which order, and that changed content is refused.
func TestStore(t *testing.T) {
	t.Parallel()
	s, ctx := store(t), t.Context()
	keep := func(version string, want int64) string {
		t.Helper()
		template, err := revision.Of(pool(), fields, machinePool(version))
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Keep(ctx, pool(), template, "id-"+version)
		if err != nil || got.Number != want || got.Template != "id-"+version {
			t.Fatalf("want revision %d of %s, got %+v, %v", want, version, got, err)
		}
		return got.Name
	}
	first := keep("v1.0.0", 1)
	keep("v1.0.0", 1)
	keep("v1.0.1", 2)
	if again := keep("v1.0.0", 3); again != first {
		t.Errorf("want a template that returns to be the newest, got %s beside %s", again, first)
	}
	for k := range 12 {
		keep(fmt.Sprintf("v1.1.%d", k), int64(4+k))
	}
	list, err := s.List(ctx, pool())
	if err != nil || len(list) != 10 || list[0].Number != 15 || list[0].Template.MachinePool.Version != "v1.1.11" || list[9].Number != 6 {
		t.Errorf("want the ten newest, the newest first, got %d, %v", len(list), err)
	}
	if others, err := s.List(ctx, pool(func(o *clusterv1.MachineDeployment) { o.UID = "other" })); err != nil || len(others) > 0 {
		t.Errorf("want nothing of another pool, got %v, %v", others, err)
	}
	stored := &appsv1.ControllerRevision{}
	if err := s.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: list[0].Name}, stored); err != nil {
		t.Fatal(err)
	}
	if len(stored.OwnerReferences) != 1 || stored.OwnerReferences[0].UID != "1234" {
		t.Errorf("want it to go with its pool, got %+v", stored.OwnerReferences)
	}
	stored.Data.Raw = []byte(strings.ReplaceAll(string(stored.Data.Raw), "v1.1.11", "v9.9.9"))
	if err := s.Client.Update(ctx, stored); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{list[0].Name: "not that of its content", "absent": "does not exist any more"} {
		_, err := s.Get(ctx, pool(), name)
		if lost := (*revision.LostError)(nil); !errors.As(err, &lost) || !strings.Contains(err.Error(), text) {
			t.Errorf("want %q for %s, got %v", text, name, err)
		}
	}
}

// TestMemo holds that a hash is that of the objects as they are now.
func TestMemo(t *testing.T) {
	t.Parallel()
	var m revision.Memo
	hash := func(o *clusterv1.MachineDeployment, mp *clusterv1.MachinePool) string {
		t.Helper()
		got, err := m.Hash(o, fields, mp)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := hash(pool(), machinePool("v1"))
	scaled := pool(func(o *clusterv1.MachineDeployment) { o.ResourceVersion, o.Spec.Replicas = "2", new(int32(9)) })
	if got := hash(scaled, machinePool("v1")); got != first {
		t.Errorf("want the same hash for another size, got %s and %s", first, got)
	}
	changed := pool(func(o *clusterv1.MachineDeployment) { o.ResourceVersion, o.Spec.Template.Spec.FailureDomain = "3", "b" })
	if got := hash(changed, machinePool("v1")); got == first {
		t.Error("want another hash for another template")
	}
	other := pool(func(o *clusterv1.MachineDeployment) { o.UID = "other" })
	m.Forget(client.ObjectKeyFromObject(other))
	if got := hash(other, machinePool("v1")); got == first {
		t.Error("want another hash for another pool")
	}
	if name := revision.Name(pool(func(o *clusterv1.MachineDeployment) { o.Name = strings.Repeat("x", 253) }), first); len(name) > 253 {
		t.Errorf("want a name that the API server accepts, got %d characters", len(name))
	}
}
