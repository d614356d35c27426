package infrapool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/kube/infrapool/ownership"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

func TestLostOwner(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	w.remove(machinePool())
	w.passes(3)
	w.wantCalls("a pool whose owner is lost is left as it is")
	if text := w.say(); !strings.Contains(text, "MachinePool default/mp, which owns this AWSMachinePool, does not exist") {
		t.Errorf("want to be told, got\n%s", text)
	}
	if o := w.get(); *o.Status.Replicas != 2 || !o.Status.Ready {
		t.Errorf("what was seen before stays, got %+v", o.Status.Status)
	}
}

func TestACopyOfAnObjectOwnsNothing(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	original := w.get()
	for _, o := range []client.Object{
		machinePool(func(mp *clusterv1.MachinePool) { mp.Namespace = "other" }),
		cluster(func(c *clusterv1.Cluster) { c.Namespace = "other" }),
		func() client.Object { p := place(); p.SetNamespace("other"); return p }(),
		func() client.Object { s := data(); s.Namespace = "other"; return s }(),
		awsMachinePool(func(o *awsv1.AWSMachinePool) {
			o.Namespace, o.UID, o.CreationTimestamp = "other", "99999999", metav1.NewTime(w.now)
			o.Annotations, o.Finalizers = original.Annotations, original.Finalizers
		}),
	} {
		create(w, o)
	}
	looks := w.account.looks
	copied := client.ObjectKey{Namespace: "other", Name: "p"}
	at := func() error {
		_, err := w.reconciler.Reconcile(t.Context(), ctrlRequest(copied))
		return err
	}
	for range 3 {
		if err := at(); err != nil {
			t.Fatal(err)
		}
		w.now = w.now.Add(time.Minute)
	}
	o := &awsv1.AWSMachinePool{}
	if err := w.management.Get(t.Context(), copied, o); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, c := range o.Status.Conditions {
		found = found || strings.Contains(c.Message, "AWSMachinePool default/p has the same annotation muster.dev/owner-id")
	}
	if !found || w.account.looks != looks {
		t.Errorf("want the copy to report the owner of the group and to ask nothing, got %+v after %d looks", o.Status.Conditions,
			w.account.looks-looks)
	}
	w.remove(o)
	if err := at(); err != nil {
		t.Fatal(err)
	}
	if err := w.management.Get(t.Context(), copied, o); !apierrors.IsNotFound(err) || w.account.left() != "1 groups, 1 templates" {
		t.Errorf("want the copy gone and the group there, got %v, %s", err, w.account.left())
	}
}

func TestForeignGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	name := cloud.Owner{ID: uid, Name: "p"}.ResourceName()
	w.account.groups[name] = &group{owner: "another", region: "eu-west-1"}
	w.settled()
	if got := only(w.account.take(), pool.CreateGroup, pool.UpdateGroup, pool.Resize, pool.DeleteGroup); len(got) != 0 {
		t.Errorf("want a foreign group left alone, got %q", got)
	}
	if text := w.say(); !strings.Contains(text, "belongs to another owner") {
		t.Errorf("want to be told, got\n%s", text)
	}
	w.remove(awsMachinePool())
	for range 30 {
		if w.gone() {
			break
		}
		w.passes(1)
	}
	if !w.gone() || w.account.groups[name] == nil {
		t.Errorf("want the object gone and the foreign group there, got gone %v, %s", w.gone(), w.account.left())
	}
}

func TestOwnerIDSurvivesAMove(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	moved := w.get()
	objects := everything()
	objects[1] = awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.UID, o.Annotations, o.Finalizers, o.Spec = "other-uid", moved.Annotations, moved.Finalizers, moved.Spec
	})
	after := newWorld(t, objects...)
	after.account = w.account
	after.workload, after.cache = w.workload, w.cache
	after.restart()
	after.settle()
	after.wantCalls("the object's new UID changes nothing")
	if o := after.get(); *o.Status.Replicas != 2 || o.Annotations[ownership.Annotation] != uid {
		t.Errorf("want the same two machines, got %+v", o.Status.Status)
	}
}

// TestAPoolOfAnotherTool: the object names a group that exists and is not the pool's. No other is created beside it, and the object
// goes without a trace in the cloud.
func TestAPoolOfAnotherTool(t *testing.T) {
	t.Parallel()
	w := newWorld(t, machinePool(), awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.Spec.ProviderID, o.Spec.ProviderIDList = "arn:theirs", []string{"aws:///zone-a/i-9"}
	}), cluster(), place(), data(), definition())
	w.account.groups["theirs"] = &group{region: "eu-west-1", size: 2}
	w.passes(3)
	w.wantCalls("nothing is written")
	for _, name := range []string{"GroupReady", "Ready"} {
		if c := w.condition(name); c.Status != metav1.ConditionFalse || c.Reason != cloud.ReasonOwnershipConflict ||
			!strings.Contains(c.Message, "Auto Scaling group theirs") {
			t.Errorf("want %s to name the group, got %+v", name, c)
		}
	}
	if o := w.get(); o.Spec.ProviderID != "arn:theirs" || len(o.Spec.ProviderIDList) != 1 {
		t.Errorf("want the lists left as they are, got %q %q", o.Spec.ProviderID, o.Spec.ProviderIDList)
	}
	w.events()
	w.remove(w.get())
	w.passes(3)
	w.wantCalls("nothing is deleted in the cloud")
	if !w.gone() {
		t.Errorf("want the object let go\n%s", w.say())
	}
	if got := strings.Join(w.events(), "\n"); strings.Count(got, "GroupLeft") != 1 || !strings.Contains(got, "Auto Scaling group theirs") {
		t.Errorf("want one event that names what is left, got %q", got)
	}
}

// TestAdoption: a group of another tool becomes the pool's when the annotation names it. The name stays when the annotation is removed, and
// counts for a group that is created in the place of one that was lost.
func TestAdoption(t *testing.T) {
	t.Parallel()
	w := newWorld(t, machinePool(), awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.Spec.ProviderID, o.Annotations = "arn:theirs", map[string]string{pool.AdoptAnnotation: "theirs"}
	}), cluster(), place(), data(), definition())
	w.account.groups["theirs"] = &group{region: "eu-west-1", size: 3, max: 10, template: "lt-1:1",
		instances: []pool.Instance{{ID: "i-9", ProviderID: "aws:///zone-a/i-9", State: pool.Running}}}
	w.passes(1)
	w.wantCalls("the group is adopted, and nothing is made beside it", "Adopt")
	w.settled()
	calls := w.account.take()
	if slices.Contains(calls, "CreateGroup") || len(w.account.groups) != 1 {
		t.Errorf("want one group, got %v after %q", w.account.groups, calls)
	}
	if got := w.get().Annotations[stored.Annotation]; !strings.Contains(got, `"adopted":"theirs"`) {
		t.Errorf("want the adoption remembered, got %s", got)
	}
	change(w, w.get(), func(o *awsv1.AWSMachinePool) { delete(o.Annotations, pool.AdoptAnnotation) })
	w.settled()
	if c := w.condition("GroupReady"); len(w.account.groups) != 1 || c.Reason == "GroupUnchangeable" {
		t.Errorf("want the group kept without the annotation, got %v and %+v", w.account.groups, c)
	}
	change(w, w.get(), func(o *awsv1.AWSMachinePool) { o.Annotations[pool.AdoptAnnotation] = "theirs" })
	delete(w.account.groups, "theirs")
	w.settled()
	if len(w.account.groups) != 1 || w.account.groups["theirs"] == nil {
		t.Errorf("want the lost group created again under its name, got %v", w.account.groups)
	}
	w.account.groups["theirs"].owner = ""
	w.account.take()
	w.passes(3)
	w.wantCalls("a group that lost its tag is not adopted a second time")
	if c := w.condition("GroupReady"); !strings.Contains(c.Message, "has lost its owner tag") {
		t.Errorf("want the reason told, got %+v", c)
	}
}

// TestAdoptionGrant: a group that names no cluster becomes the pool's once the operator grants that to its namespace. A grant that is
// withdrawn afterwards takes nothing away.
func TestAdoptionGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, machinePool(), awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.Annotations = map[string]string{pool.AdoptAnnotation: "theirs"}
	}), cluster(), place(), data(), definition(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	w.account.groups["theirs"] = &group{region: "eu-west-1", size: 3, max: 10, template: "lt-1:1", untagged: true}
	grant := func(name string, namespaces *common.AllowedNamespaces, account musterv1.Account, pattern musterv1.GroupPattern) client.Object {
		return &musterv1.AdoptionGrant{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: musterv1.AdoptionGrantSpec{Namespaces: namespaces,
			Accounts: []musterv1.Account{account}, Groups: []musterv1.GroupPattern{pattern}}}
	}
	here := &common.AllowedNamespaces{List: []string{"default"}}
	broken := &common.AllowedNamespaces{Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a",
		Operator: "Maybe"}}}}
	for _, step := range []struct {
		grant client.Object
		words string
	}{
		{nil, "no AdoptionGrant names its namespace. To allow it, have the operator of the account set its tag , or have the operator of the " +
			"management cluster apply an AdoptionGrant for namespace default, account 111122223333 and group theirs"},
		{grant("a", &common.AllowedNamespaces{List: []string{"other"}}, "111122223333", "*"), "no AdoptionGrant names its namespace"},
		{grant("b", nil, "111122223333", "*"), "no AdoptionGrant names its namespace"},
		{grant("c", broken, "111122223333", "*"), `AdoptionGrant c: spec.namespaces.selector: "Maybe"`},
		{grant("d", here, "444455556666", "*"), "could not be read"},
		{grant("e", here, "111122223333", "ours-*"), "could not be read"},
	} {
		if step.grant != nil {
			w.create(step.grant)
		}
		w.passes(2)
		w.wantCalls("a namespace alone gets nothing")
		if c := w.condition("GroupReady"); c.Reason != pool.AdoptionNotAllowed || !strings.Contains(c.Message, step.words) {
			t.Errorf("want %s with %q, got %+v", pool.AdoptionNotAllowed, step.words, c)
		}
	}
	w.create(grant("f", here, "111122223333", "their*"))
	w.passes(1)
	w.wantCalls("the group is adopted", "Adopt")
	w.settled()
	w.account.take()
	w.remove(grant("f", here, "111122223333", "their*"))
	w.passes(3)
	w.wantCalls("a grant is for the adoption alone")
	if c := w.condition("GroupReady"); c.Status != metav1.ConditionTrue {
		t.Errorf("want the group kept, got %+v", c)
	}
}

// TestAdoptionRestsOnAFreshRead: a group that was the pool's, was given back and is asked for again is adopted, although a read of before
// it was given back still shows it with the owner tag.
func TestAdoptionRestsOnAFreshRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, machinePool(), awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.Spec.ProviderID, o.Annotations = "arn:theirs", map[string]string{pool.AdoptAnnotation: "theirs"}
	}), cluster(), place(), data(), definition())
	theirs := &group{region: "eu-west-1", size: 3, max: 10, template: "lt-1:1",
		instances: []pool.Instance{{ID: "i-9", ProviderID: "aws:///zone-a/i-9", State: pool.Running}}}
	w.account.groups["theirs"] = theirs
	w.settled()
	change(w, w.get(), func(o *awsv1.AWSMachinePool) {
		for _, annotation := range []string{pool.AdoptAnnotation, stored.Annotation, ownership.Annotation} {
			delete(o.Annotations, annotation)
		}
	})
	theirs.owner = ""
	w.account.take()
	w.passes(3)
	w.wantCalls("without the annotation nothing is written")
	adopted := false
	w.account.before = func(call string, target target) {
		switch {
		case call == string(pool.Adopt):
			adopted = true
		case !adopted && target.Cache.MaxAge > 0:
			theirs.owner = target.Owner.ID
		case !adopted:
			theirs.owner = ""
		}
	}
	change(w, w.get(), func(o *awsv1.AWSMachinePool) {
		metav1.SetMetaDataAnnotation(&o.ObjectMeta, pool.AdoptAnnotation, "theirs")
	})
	w.passes(1)
	w.wantCalls("the tag is written", "Adopt")
}

// TestTheGroupsTagsTellItsOwner: after a move or a restore the owner ID is no object's UID, and an older object of another namespace that
// carries it, as a copy does, takes neither the group nor its deletion from the object that the group's tags name.
func TestTheGroupsTagsTellItsOwner(t *testing.T) {
	t.Parallel()
	withID := func(o *awsv1.AWSMachinePool) { o.Annotations = map[string]string{ownership.Annotation: "moved"} }
	copied := awsMachinePool(withID, func(o *awsv1.AWSMachinePool) {
		o.Namespace, o.UID, o.CreationTimestamp = "other", "older", metav1.NewTime(start.Add(-time.Hour))
	})
	for name, tc := range map[string]struct {
		why       string
		taggedFor string
		held      bool
	}{
		"tags":    {"the tags name it", "c/default/p", false},
		"another": {"the tags name the other", "c/other/p", true},
		"neither": {"the older object wins where the tags name neither", "c/elsewhere/p", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			moved := func(o *awsv1.AWSMachinePool) { withID(o); o.CreationTimestamp = metav1.NewTime(start) }
			w := running(t, machinePool(), awsMachinePool(moved), cluster(), place(), data(), definition())
			for _, g := range w.account.groups {
				g.taggedFor = tc.taggedFor
			}
			if err := w.management.Create(t.Context(), copied.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			w.passes(2)
			if held := w.condition("Ready").Reason == "OwnerIDTaken"; held != tc.held {
				t.Errorf("%s: want held %v\n%s", tc.why, tc.held, w.say())
			}
			w.account.observe = &cloud.Error{Kind: cloud.Throttled, Code: cloud.CodeClientRateLimited, After: 5 * time.Second, Message: "held back"}
			w.passes(2)
			if held := w.condition("Ready").Reason == "OwnerIDTaken"; held != tc.held {
				t.Errorf("%s, also while the group cannot be read: want held %v\n%s", tc.why, tc.held, w.say())
			}
			w.account.observe = nil
			w.account.take()
			w.remove(w.get())
			w.passes(8)
			if deleted := len(w.destructive()) > 0; deleted == tc.held {
				t.Errorf("%s: want the group deleted %v\n", tc.why, !tc.held)
			}
		})
	}
}

// TestADeletionReadsTheTagsAgain holds that an object whose group has another owner is not let go on what the tags were a minute ago: its
// group would be left behind if a user has given it back since.
func TestADeletionReadsTheTagsAgain(t *testing.T) {
	t.Parallel()
	withID := func(o *awsv1.AWSMachinePool) { o.Annotations = map[string]string{ownership.Annotation: "moved"} }
	w := running(t, machinePool(), awsMachinePool(withID, func(o *awsv1.AWSMachinePool) { o.CreationTimestamp = metav1.NewTime(start) }),
		cluster(), place(), data(), definition())
	older := awsMachinePool(withID, func(o *awsv1.AWSMachinePool) {
		o.Namespace, o.UID, o.CreationTimestamp = "other", "older", metav1.NewTime(start.Add(-time.Hour))
	})
	if err := w.management.Create(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	w.account.before = func(what string, on target) {
		for _, g := range w.account.groups {
			if g.taggedFor = "c/default/p"; what == "Observe" && on.Cache.MaxAge > 0 {
				g.taggedFor = "c/elsewhere/p"
			}
		}
	}
	w.account.take()
	w.remove(w.get())
	w.passes(8)
	if len(w.destructive()) == 0 {
		t.Errorf("want the group deleted, got %v", w.account.take())
	}
}

// TestTheGroupKeepsItsName: the annotation that names the group counts until the group exists. A change of it later neither makes a second
// group nor loses the first.
func TestTheGroupKeepsItsName(t *testing.T) {
	t.Parallel()
	named := func(name string) func(*awsv1.AWSMachinePool) {
		return func(o *awsv1.AWSMachinePool) {
			if o.Annotations == nil {
				o.Annotations = map[string]string{}
			}
			if o.Annotations[ownership.GroupNameAnnotation] = name; name == "" {
				delete(o.Annotations, ownership.GroupNameAnnotation)
			}
		}
	}
	derived := cloud.Owner{ID: uid, Name: "p"}.ResourceName()
	for name, tc := range map[string]struct {
		why                string
		made, later, stays string
		between            func(*awsv1.AWSMachinePool)
	}{
		"added":   {why: "the derived name stays", later: "a", stays: derived},
		"changed": {why: "the name that it was made with stays", made: "a", later: "b", stays: "a"},
		"removed": {why: "the name that it was made with stays", made: "a", stays: "a"},
		"restored": {"what is remembered was dropped, and the group is found by the name", "a", "a", "a", func(o *awsv1.AWSMachinePool) {
			delete(o.Annotations, stored.Annotation)
		}},
		"forgotten": {"what is remembered was dropped, and the group is found by the derived name", "", "a", derived,
			func(o *awsv1.AWSMachinePool) {
				delete(o.Annotations, stored.Annotation)
			}},
		"not seen yet": {"the group was made and is not in providerID yet", "a", "b", "a",
			func(o *awsv1.AWSMachinePool) { o.Spec.ProviderID = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t, machinePool(), awsMachinePool(named(tc.made)), cluster(), place(), data(), definition())
			w.account.take()
			change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) {
				named(tc.later)(o)
				if tc.between != nil {
					tc.between(o)
				}
			})
			w.passes(4)
			w.wantCalls(tc.why)
			if len(w.account.groups) != 1 || w.account.groups[tc.stays] == nil {
				t.Fatalf("%s: want the group %s alone, got %v", tc.why, tc.stays, w.account.groups)
			}
			ready := w.condition("GroupReady")
			if differs := tc.later != tc.made; differs != (ready.Reason == "GroupUnchangeable") || differs &&
				!strings.Contains(ready.Message, ownership.GroupNameAnnotation) {
				t.Errorf("%s: want the annotation named if it differs, got %+v", tc.why, ready)
			}
			w.remove(w.get())
			w.passes(8)
			if !w.gone() || w.account.left() != "0 groups, 0 templates" {
				t.Errorf("%s: want the pool deleted without a trace, gone %v, left %s", tc.why, w.gone(), w.account.left())
			}
		})
	}
}

// TestAnotherNameForAForeignGroup: a pool whose group's name is taken is given another by the annotation, as the condition advises.
func TestAnotherNameForAForeignGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	w.account.groups[cloud.Owner{ID: uid, Name: "p"}.ResourceName()] = &group{owner: "another", region: "eu-west-1"}
	w.settled()
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Annotations[ownership.GroupNameAnnotation] = "free" })
	w.settled()
	if w.account.groups["free"] == nil {
		t.Errorf("want a group of the other name\n%s", w.say())
	}
}
