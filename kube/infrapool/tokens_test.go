package infrapool_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

// token is a bootstrap token of the workload cluster that is valid for a while.
func token(id string, until time.Time) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "bootstrap-token-" + id},
		Data: map[string][]byte{"expiration": []byte(until.UTC().Format(time.RFC3339))}}
}

// joinsWith has the bootstrap data hold another token.
func (w *world) joinsWith(id string) {
	w.t.Helper()
	w.bootsWith("#cloud-config\ntoken: " + id + ".0123456789abcdef")
}

// bootsWith changes the bootstrap data.
func (w *world) bootsWith(text string) {
	w.t.Helper()
	change(w, data(), func(s *corev1.Secret) { s.Data["value"] = []byte(text) })
}

// until is when a token runs out.
func (w *world) until(id string) time.Time {
	w.t.Helper()
	s := token(id, time.Time{})
	if err := w.workload.Get(w.t.Context(), client.ObjectKeyFromObject(s), s); err != nil {
		w.t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, string(s.Data["expiration"]))
	if err != nil {
		w.t.Fatal(err)
	}
	return at
}

// rollsWith is a pool that the cloud rolls by itself, with a roll under way that was begun with a token, while the bootstrap
// data has another by now.
func rollsWith(t *testing.T, id string) *world {
	t.Helper()
	w := newWorld(t, everythingByCloud()...)
	w.account.rolls = true
	w.restart()
	w.joinsWith(id)
	w.settled()
	w.join()
	w.settle()
	if err := w.workload.Create(t.Context(), token(id, w.now.Add(15*time.Minute))); err != nil {
		t.Fatal(err)
	}
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.AWSLaunchTemplate.InstanceType = "m5.xlarge" })
	w.passes(4)
	if w.account.rolled == nil || w.account.rolled.State != pool.ProviderRolloutRunning {
		t.Fatalf("want a roll under way, got %+v\n%s", w.account.rolled, w.say())
	}
	w.joinsWith("zzzzzz")
	return w
}

// TestTokenOfARollIsKept: a roll launches from the version that it was begun with, for hours perhaps, and its machines have to
// be able to join all that time.
func TestTokenOfARollIsKept(t *testing.T) {
	t.Parallel()
	w := rollsWith(t, "abcdef")
	for end := w.now.Add(2 * time.Hour); w.now.Before(end); {
		w.pass()
		w.now = w.now.Add(max(w.again, time.Second))
		if at := w.until("abcdef"); !at.After(w.now) {
			t.Fatalf("at %s the token in the version that the roll launches from had run out at %s", w.now, at)
		}
	}
	w.account.rolled.State, w.account.rolled.Ended = pool.ProviderRolloutSucceeded, w.now
	w.account.rolled.Template.Content = ""
	w.bootsWith("#cloud-config\nhostname: other\ntoken: zzzzzz.0123456789abcdef")
	w.passes(3)
	last := w.until("abcdef")
	w.now = w.now.Add(time.Hour)
	w.passes(3)
	if at := w.until("abcdef"); !at.Equal(last) {
		t.Errorf("nothing launches from the version any more: its token may run out, but was given time until %s", at)
	}
	if text := w.get().Annotations[stored.Annotation]; strings.Count(text, "token-") != 1 || !strings.Contains(text, "zzzzzz") {
		t.Errorf("want the token of the present data remembered alone, got %s", text)
	}
}

// TestTokenOfARollIsLost: a roll whose machines can't join any more is ended.
func TestTokenOfARollIsLost(t *testing.T) {
	t.Parallel()
	w := rollsWith(t, "abcdef")
	if err := w.workload.Delete(t.Context(), token("abcdef", w.now)); err != nil {
		t.Fatal(err)
	}
	w.account.take()
	w.now = w.now.Add(time.Minute) // what was read a moment ago serves for some seconds
	w.passes(4)
	if w.account.rolled.State != pool.ProviderRolloutCancelled {
		t.Errorf("want the roll cancelled, got %+v, steps %v\n%s", w.account.rolled, w.account.calls, w.say())
	}
}

// anotherPool is a second MachinePool of the cluster.
func anotherPool(change func(*clusterv1.MachinePool)) client.Object {
	return machinePool(change, func(mp *clusterv1.MachinePool) {
		mp.Name, mp.UID, mp.Spec.Template.Spec.InfrastructureRef.Name = "other", "other", "other"
	})
}

// remembers is a second infrastructure object, of a pool that may launch machines with a token.
func remembers(id string) client.Object {
	return awsMachinePool(func(o *awsv1.AWSMachinePool) {
		o.Name, o.UID, o.OwnerReferences = "other", "other", nil
		o.Annotations = map[string]string{stored.Annotation: `{"token-0123":"zzzzzz,` + id + `"}`}
	})
}

// make creates an object of the management cluster.
func (w *world) make(o client.Object) {
	w.t.Helper()
	if err := w.management.Create(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

// TestTokensOfADeletedPool: once a pool is gone, no machine may join with what its machines joined with.
func TestTokensOfADeletedPool(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		before func(*world)
		// stays is set where the MachinePool is not deleted, rotated where its data gets the token newest during the deletion.
		stays, rotated bool
		kept           bool
	}{
		"alone":             {reason: "its tokens are of use to no other"},
		"rotated meanwhile": {reason: "the token that is in the data by now goes as well", rotated: true},
		"MachinePool stays": {reason: "a user may give it another infrastructure object, whose machines join with the same data", stays: true,
			kept: true},
		"shared data": {reason: "another pool's machines join with it", kept: true,
			before: func(w *world) { w.make(anotherPool(uses("data"))) }},
		"other data": {reason: "another pool has tokens of its own", before: func(w *world) { w.make(anotherPool(uses("theirs"))) }},
		"another's template": {reason: "another pool may still launch with it", kept: true,
			before: func(w *world) { w.make(remembers("abcdef")) }},
		"Cluster goes": {reason: "all its tokens go with it", kept: true, before: func(w *world) { w.remove(cluster()) }},
		"out of reach": {reason: "the deletion waits for no token, which runs out by itself", kept: true, before: func(w *world) {
			w.cache = clustercache.NewFakeEmptyClusterCache()
			w.restart()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			finalized := func(mp *clusterv1.MachinePool) { mp.Finalizers = []string{clusterv1.MachinePoolFinalizer} }
			w := newWorld(t, machinePool(finalized), awsMachinePool(), cluster(func(c *clusterv1.Cluster) { c.Finalizers = []string{"test/stays"} }),
				place(), data(), definition())
			w.joinsWith("abcdef")
			w.settled()
			w.join()
			w.settle()
			for _, id := range []string{"abcdef", "newest"} {
				s := token(id, w.now.Add(15*time.Minute))
				s.Data["description"] = []byte("token generated by cluster-api-bootstrap-provider-kubeadm")
				if err := w.workload.Create(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			if !tc.stays {
				w.remove(machinePool())
			}
			w.remove(awsMachinePool())
			if tc.rotated {
				w.joinsWith("newest")
			}
			if tc.before != nil {
				tc.before(w)
			}
			for i := 0; i < 60 && !w.gone(); i++ {
				w.passes(1)
			}
			if !w.gone() {
				t.Fatalf("%s: the object is not gone: %s", tc.reason, w.say())
			}
			present := "abcdef"
			if tc.rotated {
				present = "newest"
			}
			for _, id := range []string{"abcdef", present} {
				err := w.workload.Get(t.Context(), client.ObjectKeyFromObject(token(id, w.now)), &corev1.Secret{})
				if kept := err == nil; kept != tc.kept {
					t.Errorf("%s: want token %s kept %t, got %t (%v)", tc.reason, id, tc.kept, kept, err)
				}
			}
		})
	}
}

// TestRotatedTokenMakesNoVersion: the group goes on launching with the token of its template, which is kept alive, until the bootstrap data
// changes in more than its token or that token is gone.
func TestRotatedTokenMakesNoVersion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*world)
		want   bool
	}{
		"rotated": {"machines join with either token", func(*world) {}, false},
		"content, too": {"new machines are to have it",
			func(w *world) { w.bootsWith("#cloud-config\nhostname: x\ntoken: zzzzzz.0123456789abcdef") }, true},
		"the token is gone": {"no machine joins with it", func(w *world) {
			if err := w.workload.Delete(w.t.Context(), token("abcdef", w.now)); err != nil {
				w.t.Fatal(err)
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, everything()...)
			w.joinsWith("abcdef")
			w.settled()
			w.join()
			w.settle()
			if err := w.workload.Create(t.Context(), token("abcdef", w.now.Add(15*time.Minute))); err != nil {
				t.Fatal(err)
			}
			w.joinsWith("zzzzzz")
			w.account.take()
			for end := w.now.Add(time.Hour); w.now.Before(end); {
				w.pass()
				w.now = w.now.Add(max(w.again, time.Second))
				if at := w.until("abcdef"); !at.After(w.now) {
					t.Fatalf("at %s the token that the group launches with had run out at %s", w.now, at)
				}
			}
			if calls := w.account.take(); len(calls) > 0 {
				t.Errorf("want no step for another token, got %v", calls)
			}
			tc.change(w)
			w.now = w.now.Add(time.Minute) // what was read a moment ago serves for some seconds
			w.passes(4)
			if calls := w.account.take(); len(calls) > 0 != tc.want {
				t.Errorf("%s: want steps %t, got %v", tc.reason, tc.want, calls)
			}
		})
	}
}
