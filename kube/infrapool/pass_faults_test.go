package infrapool_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

func TestCloudErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	w.account.observe = &cloud.Error{Kind: cloud.Denied, Op: "autoscaling:DescribeAutoScalingGroups", Code: "AccessDenied", Message: "not you"}
	w.passes(4)
	if text := w.say(); !strings.Contains(text, "not you") {
		t.Errorf("want the cloud's own words in\n%s", text)
	}
	w.pass()
	w.writes = nil
	looks := w.account.looks
	for range 5 {
		w.pass()
	}
	if len(w.writes) != 0 || w.account.looks != looks {
		t.Errorf("want neither writes nor calls while an error is waited out, got %v, %d looks", w.writes, w.account.looks-looks)
	}
	w.account.observe = nil
	change(w, awsMachinePool(), func(o *awsv1.AWSMachinePool) { o.Spec.MaxSize = 11 })
	w.settled()
	w.wantCalls("a change of the object ends the back-off", "PutTemplate", "CreateGroup")
	w.join()
	w.settle()
	known := w.get().Spec.ProviderIDList
	w.account.observe = &cloud.Error{Kind: cloud.Unavailable, Op: "autoscaling:DescribeAutoScalingGroups", Code: "InternalFailure",
		Message: "later"}
	w.now = w.now.Add(time.Hour)
	w.passes(4)
	if got := w.get().Spec.ProviderIDList; len(known) != 2 || !slices.Equal(got, known) {
		t.Errorf("a cloud that does not answer says nothing about instances: want them listed as before, %v, got %v", known, got)
	}
}

// A used-up rate budget carries no information about a pool: however long that lasts, the object's status stays the same.
func TestHeldBackChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	w.settled()
	w.join()
	w.settle()
	before := w.say()
	w.account.observe = &cloud.Error{Kind: cloud.Throttled, Op: "autoscaling:DescribeAutoScalingGroups", Code: cloud.CodeClientRateLimited,
		After: 5 * time.Second, Message: "held back"}
	w.now = w.now.Add(time.Hour)
	w.pass()
	if got := w.say(); got != before {
		t.Errorf("want the same said as before\n%s\ngot\n%s", before, got)
	}
	w.now = w.now.Add(time.Hour)
	w.pass()
	if got := w.say(); got != before {
		t.Errorf("want the same said an hour later\n%s\ngot\n%s", before, got)
	}
}

func TestKubernetesErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	w.account.refuse[pool.CreateGroup] = errors.New("no answer")
	w.settled()
	if text := w.say(); !strings.Contains(text, "no answer") {
		t.Errorf("want the error in\n%s", text)
	}
	delete(w.account.refuse, pool.CreateGroup)
	w.passes(10)
	w.wantCalls("it is tried again", "PutTemplate", "CreateGroup")
}

func TestStaleReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everything()...)
	old := w.get()
	w.pass()
	stale := &staleClient{WithWatch: w.management, object: old}
	w.reconciler.Client = stale
	looks := w.account.looks
	w.writes = nil
	w.pass()
	if w.account.looks != looks || len(w.writes) != 0 || w.again <= 0 || w.again > time.Second {
		t.Errorf("want an object that we have written since read again soon, got %d looks, %v, again in %s", w.account.looks-looks, w.writes,
			w.again)
	}
	stale.object = nil
	w.pass()
	if w.account.looks == looks {
		t.Error("want the pass to go on once the cache has caught up")
	}
}

// staleClient reads the object from a cache that lags behind.
type staleClient struct {
	client.WithWatch
	object *awsv1.AWSMachinePool
}

func (c *staleClient) Get(ctx context.Context, k client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if to, ok := o.(*awsv1.AWSMachinePool); ok && c.object != nil {
		c.object.DeepCopyInto(to)
		return nil
	}
	return c.WithWatch.Get(ctx, k, o, opts...)
}

func TestAKillAtEveryStepConverges(t *testing.T) {
	t.Parallel()
	for kill := 0; kill < 12; kill += killStep() {
		w := newWorld(t, everything()...)
		for range kill {
			w.passes(1)
		}
		w.restart()
		w.settled()
		w.join()
		w.restart()
		w.settle()
		if got := w.account.take(); !slices.Equal(got, []string{"PutTemplate", "CreateGroup"}) {
			t.Errorf("killed after %d passes: want everything made once, got %q", kill, got)
		}
		w.remove(awsMachinePool())
		for range 40 {
			if w.gone() {
				break
			}
			w.passes(1)
			w.restart()
		}
		if w.account.left() != "0 groups, 1 templates" {
			t.Errorf("killed after every pass of the deletion: want the group gone and its template kept, got %s", w.account.left())
		}
		w.passes(4) // a process that lives for ten seconds knows that the group is gone, deletes the template and confirms it
		if !w.gone() || w.account.left() != "0 groups, 0 templates" {
			t.Errorf("killed after every pass of the deletion: want nothing left, got %s", w.account.left())
		}
	}
}
