package infrapool_test

import (
	"context"
	"errors"
	"testing"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/providers/azure/azuremanaged"
)

// copies are the objects of an API server.
type copies []awsv1.AWSMachinePool

func (c copies) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	list.(*awsv1.AWSMachinePoolList).Items = c
	return nil
}

func (c copies) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.ErrUnsupported
}

var awsPools = ownership.Objects{Kind: awsv1.AWSMachinePoolKind, NewList: func() client.ObjectList { return &awsv1.AWSMachinePoolList{} }}

// TestReadingsOfTags holds that tags which named an object are read again when they are too old, and not in each pass: such a read is one
// of the whole group, which a rate budget may have no room for beside the pass's own.
func TestReadingsOfTags(t *testing.T) {
	t.Parallel()
	made := func(namespace string, after time.Duration) awsv1.AWSMachinePool {
		return awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p", UID: types.UID(namespace),
			CreationTimestamp: metav1.NewTime(time.Unix(0, 0).Add(after)), Annotations: map[string]string{ownership.Annotation: "moved"}}}
	}
	older, own := made("elsewhere", 0), made("default", time.Hour)
	r := ownership.NewRegistry(copies{older, own}, time.Now, awsPools)
	reads, tagged := 0, ""
	at := func(now, maxAge time.Duration, wantReads int, other string) {
		t.Helper()
		read := func(context.Context) (string, error) {
			reads++
			return tagged, nil
		}
		got, err := r.Find(t.Context(), &own, ownership.Tags{Read: read, Now: time.Unix(0, 0).Add(now), MaxAge: maxAge})
		if err != nil || reads != wantReads || got.Name.Namespace != other || !got.Certain {
			t.Errorf("after %s: want %d reads and the other in namespace %q, got %d and %+v, %v", now, wantReads, other, reads, got, err)
		}
	}
	at(0, time.Minute, 1, "elsewhere")
	tagged = "c/default/p"
	at(time.Second, time.Minute, 2, "") // there was no group: one may have been made since
	at(30*time.Second, time.Minute, 2, "")
	tagged = "c/elsewhere/p"
	at(60*time.Second, time.Minute, 2, "")
	at(61*time.Second, time.Minute, 3, "elsewhere")
	at(62*time.Second, 0, 4, "elsewhere")
}

// takes reports whether of two objects with one owner ID the first owns what the cloud has for it, and nothing in the cloud says so.
func takes(t *testing.T, first, second *awsv1.AWSMachinePool) bool {
	t.Helper()
	r := ownership.NewRegistry(copies{*first, *second}, time.Now, awsPools)
	got, err := r.Find(t.Context(), second, ownership.Tags{})
	if err != nil || got.Name != (types.NamespacedName{}) && got.Name != client.ObjectKeyFromObject(first) {
		t.Fatalf("want no other object than %s, got %+v, %v", client.ObjectKeyFromObject(first), got, err)
	}
	return got.Name != types.NamespacedName{}
}

// copied returns an object, created at a time, whose owner ID may be that of another one.
func copied(name, uid, id string, at time.Time) *awsv1.AWSMachinePool {
	return &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(uid),
		CreationTimestamp: metav1.NewTime(at), Annotations: map[string]string{ownership.Annotation: id}}}
}

// TestFirstOwner holds which of two objects with one owner ID counts where no tag names one.
func TestFirstOwner(t *testing.T) {
	t.Parallel()
	made := func(uid, id string, after time.Duration) *awsv1.AWSMachinePool {
		return copied(uid, uid, id, time.Unix(0, 0).Add(after))
	}
	for name, tc := range map[string]struct {
		reason string
		a, b   *awsv1.AWSMachinePool
		want   bool
	}{
		"first owner": {"the object whose UID is the ID came first, whatever the clock was", made("x", "x", time.Hour),
			made("y", "x", 0), true},
		"copy":              {"a copy was not", made("y", "x", 0), made("x", "x", time.Hour), false},
		"both moved":        {"of two that were moved the older counts", made("y", "x", 0), made("z", "x", time.Hour), true},
		"at the same time":  {"and otherwise any order will do, as long as it is one", made("y", "x", 0), made("z", "x", 0), true},
		"the other of both": {"", made("z", "x", 0), made("y", "x", 0), false},
	} {
		if got := takes(t, tc.a, tc.b); got != tc.want {
			t.Errorf("%s: %s: want %v, got %v", name, tc.reason, tc.want, got)
		}
	}
}

// FuzzOwner holds that of two objects that carry one owner ID exactly one comes first, whatever the ID is, and that it is the
// one whose ID it is if there is such a one. Objects without an ID take nothing from each other.
func FuzzOwner(f *testing.F) {
	f.Add("uid-1", "uid-1", "uid-2", int64(10), int64(5))
	f.Add("other", "uid-1", "uid-2", int64(5), int64(5))
	f.Add("", "a", "b", int64(0), int64(0))
	f.Fuzz(func(t *testing.T, id, uidA, uidB string, atA, atB int64) {
		if uidA == uidB {
			return
		}
		a, b := copied("a", uidA, id, time.Unix(atA, 0)), copied("b", uidB, id, time.Unix(atB, 0))
		first, second := takes(t, a, b), takes(t, b, a)
		if id == "" && (first || second) || id != "" && first == second {
			t.Errorf("ID %q: want one of %q and %q first, got %t and %t", id, uidA, uidB, first, second)
		}
		if id != "" && (id == uidA && !first || id == uidB && !second) {
			t.Errorf("want the object whose ID %q it is first", id)
		}
	})
}

// agentPools are the objects of an API server that serves one or both kinds of agent pools.
type agentPools struct {
	managed []aksv1.AzureManagedMachinePool
	aso     []aksv1.AzureASOManagedMachinePool
	// lacks is the error of the second kind.
	lacks error
}

func (a agentPools) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	switch l := list.(type) {
	case *aksv1.AzureManagedMachinePoolList:
		l.Items = a.managed
	case *aksv1.AzureASOManagedMachinePoolList:
		l.Items = a.aso
		return a.lacks
	}
	return nil
}

func (a agentPools) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.ErrUnsupported
}

// TestOwnersOfTwoKinds holds that an object finds the owner of its ID among the objects of another kind whose groups are the same.
func TestOwnersOfTwoKinds(t *testing.T) {
	t.Parallel()
	meta := func(namespace, uid, id string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: "p", UID: types.UID(uid), Annotations: map[string]string{ownership.Annotation: id}}
	}
	managed, aso := azuremanaged.Managed{}.Kind(), azuremanaged.ASO{}.Kind()
	victim := aksv1.AzureManagedMachinePool{ObjectMeta: meta("team-a", "v", "v")}
	claims := aksv1.AzureASOManagedMachinePool{ObjectMeta: meta("team-b", "t", "v")}
	stranger := aksv1.AzureASOManagedMachinePool{ObjectMeta: meta("team-b", "s", "s")}
	server := agentPools{managed: []aksv1.AzureManagedMachinePool{victim}, aso: []aksv1.AzureASOManagedMachinePool{claims, stranger}}
	find := func(c client.Reader, name string, list func() client.ObjectList, kin []ownership.Objects, o client.Object) ownership.OtherOwner {
		t.Helper()
		r := ownership.NewRegistry(c, time.Now, ownership.Objects{Kind: name, NewList: list}, kin...)
		got, err := r.Find(t.Context(), o, ownership.Tags{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := find(server, aso.Name, aso.NewList, aso.Kin, &claims); got.Kind != managed.Name || got.Name.Namespace != "team-a" {
		t.Errorf("want the object of the other kind whose ID was claimed, got %+v", got)
	}
	if got := find(server, managed.Name, managed.NewList, managed.Kin, &victim); got.Name.Name != "" {
		t.Errorf("want the ID left to the object that it was made for, got %+v", got)
	}
	server.lacks = &apimeta.NoKindMatchError{}
	if got := find(server, managed.Name, managed.NewList, managed.Kin, &victim); got.Name.Name != "" || !got.Certain {
		t.Errorf("want a kind that is not served to have no objects, got %+v", got)
	}
}
