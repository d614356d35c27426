package infrapool_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

func TestWhatKeepsADeletionIsNamed(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	w.runs("web", "i-1")
	w.refuse["web"] = apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "keep"},
		Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	if err := w.workload.Create(t.Context(), budget); err != nil {
		t.Fatal(err)
	}
	if err := w.workload.Status().Patch(t.Context(), readyPod("web"), client.Merge); err != nil {
		t.Fatal(err)
	}
	w.remove(awsMachinePool())
	w.passes(5)
	if got := w.condition(report.Deleting); !strings.Contains(got.Message, "default/web (PodDisruptionBudget keep)") {
		t.Errorf("want the pod and its budget named, got %+v", got)
	}
	w.wantCalls("nothing is deleted while pods can't go")
}

func TestDelete(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	w.runs("web", "i-1")
	w.remove(awsMachinePool())
	w.pass()
	if got := w.condition(report.Deleting); got.Status != metav1.ConditionTrue {
		t.Errorf("want Deleting True, got %+v", got)
	}
	list := w.get().Spec.ProviderIDList
	w.account.mu.Lock()
	for name := range w.account.groups {
		w.account.resize(name, 3)
	}
	w.account.mu.Unlock()
	w.passes(1)
	if got := w.get().Spec.ProviderIDList; len(got) != len(list)+1 || !slices.Equal(got[:len(list)], list) {
		t.Errorf("what comes meanwhile is drained with its Node: want it listed beside %v, got %v", list, got)
	}
	list = w.get().Spec.ProviderIDList
	for range 30 {
		if w.gone() {
			break
		}
		if got := w.get().Spec.ProviderIDList; !slices.Equal(got, list) {
			t.Errorf("a pool that goes keeps its list for who cleans up, want %v, got %v", list, got)
		}
		w.passes(1)
	}
	if !w.gone() || w.account.left() != "0 groups, 0 templates" {
		t.Fatalf("want nothing left, got %s, object gone: %v", w.account.left(), w.gone())
	}
	calls := w.account.take()
	if got := only(calls, pool.DeleteGroup, pool.DeleteTemplates); !slices.Equal(got, []string{"DeleteGroup", "DeleteTemplates"}) {
		t.Errorf("want the group and then its templates deleted, got %q", calls)
	}
	for _, name := range []string{"node-i-1", "node-i-2"} {
		if !w.node(name).Spec.Unschedulable {
			t.Errorf("%s was not drained before it went", name)
		}
	}
	if !slices.Contains(w.writes, "workload create eviction of *v1.Pod web") {
		t.Errorf("want web evicted, got %v", w.writes)
	}
}

func TestDeleteWithoutAnything(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		lose   func(w *world)
		drains bool
	}{
		"cluster gone": {"the region is stored and there are no nodes to drain", func(w *world) { w.remove(cluster()) }, false},
		"infrastructure gone": {"the region is remembered, and the nodes are still there to be drained",
			func(w *world) { w.remove(place()) }, true},
		"both gone":   {"as after a forced deletion of everything", func(w *world) { w.remove(place()); w.remove(cluster()) }, false},
		"owner gone":  {"a pool without owner goes as well", func(w *world) { w.remove(machinePool()) }, true},
		"secret gone": {"nothing boots any more", func(w *world) { w.remove(data()) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := running(t, everything()...)
			tc.lose(w)
			w.remove(awsMachinePool())
			for range 30 {
				if w.gone() {
					break
				}
				w.passes(1)
			}
			if !w.gone() || w.account.left() != "0 groups, 0 templates" {
				t.Fatalf("%s: want nothing left, got %s, object gone: %v", tc.reason, w.account.left(), w.gone())
			}
			if got := w.node("node-i-1").Spec.Unschedulable; got != tc.drains {
				t.Errorf("%s: want drained %v, got %v", tc.reason, tc.drains, got)
			}
		})
	}
}

func TestDeleteWaitsForAClusterThatIsAwayForAMoment(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	w.remove(awsMachinePool())
	w.cache = clustercache.NewFakeEmptyClusterCache()
	w.restart()
	begun := w.now
	for !w.gone() && w.now.Sub(begun) < time.Hour {
		w.passes(1)
	}
	if waited := w.now.Sub(begun); !w.gone() || waited < 5*time.Minute || waited > 20*time.Minute {
		t.Errorf("want deletion to go on without drain after some minutes, got gone %v after %s", w.gone(), waited)
	}
	if w.account.left() != "0 groups, 0 templates" {
		t.Errorf("want nothing left, got %s", w.account.left())
	}
}

func TestDeleteWithoutRegion(t *testing.T) {
	t.Parallel()
	w := running(t, everything()...)
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { delete(o.Annotations, stored.Annotation) })
	w.remove(place())
	w.remove(awsMachinePool())
	w.passes(3)
	if w.gone() || w.account.left() != "1 groups, 1 templates" {
		t.Fatalf("a pool that can't be found must not be given up, got %s, gone: %v", w.account.left(), w.gone())
	}
	if text := w.say(); !strings.Contains(text, `set it to {"region": "<region>"}`) {
		t.Errorf("want to be told what to do, got\n%s", text)
	}
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) {
		o.Annotations[stored.Annotation] = `{"region":"eu-west-1"}`
	})
	for range 30 {
		if w.gone() {
			return
		}
		w.passes(1)
	}
	t.Errorf("want it gone once the region is known, got\n%s", w.say())
}
