package aws_test

import (
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// ending returns pools that are being deleted and whose groups are gone.
func (w *world) ending(n int) []aws.Target {
	w.t.Helper()
	targets := w.some(n)
	for k := range targets {
		targets[k].Deleting, targets[k].Cache.MaxAge = true, 0
		w.start(targets[k], pool.Step{Kind: pool.DeleteGroup})
	}
	settle()
	w.observeAll(targets)
	return targets
}

// deleteTemplates deletes the templates of pools.
func (w *world) deleteTemplates(targets []aws.Target) {
	w.t.Helper()
	for _, target := range targets {
		w.start(target, pool.Step{Kind: pool.DeleteTemplates})
	}
	time.Sleep(100 * time.Millisecond)
}

// deleteByHand deletes the template of a pool as another client does.
func (w *world) deleteByHand(target aws.Target) {
	w.t.Helper()
	id, _, _ := strings.Cut(w.observe(target).Latest().Ref, ":")
	if _, err := w.ec2.DeleteLaunchTemplate(w.t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id}); err != nil {
		w.t.Fatal(err)
	}
}

// templateReads looks at pools together, and returns the looks with the number of reads of templates that they cost.
func (w *world) templateReads(targets []aws.Target) (looked, int) {
	before := w.calls("DescribeLaunchTemplates")
	l := w.observeAll(targets)
	return l, w.calls("DescribeLaunchTemplates") - before
}

// A list that pools share and that began after Muster deleted a template proves that it is gone; the pool is not looked up by name, and a
// second look a moment later reads nothing.
func TestDeletedTemplatesAreProvenGoneTogether(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		targets := w.ending(4)
		w.deleteTemplates(targets)
		for _, c := range []struct {
			why  string
			most int
		}{{"the first look reads the templates together", 1}, {"a look that follows at once knows of it", 0}} {
			l, reads := w.templateReads(targets)
			for k, o := range l.seen {
				if l.errs[k] != nil || len(o.Versions) > 0 {
					t.Errorf("%s: pool %d: want its template gone, got %+v, %v", c.why, k, o.Versions, l.errs[k])
				}
			}
			if reads > c.most {
				t.Errorf("%s: want at most %d reads, got %d", c.why, c.most, reads)
			}
		}
		time.Sleep(10 * time.Second)
		if _, reads := w.templateReads(targets); reads == 0 {
			t.Error("want the templates read again for the second look of a deletion that this process has not seen begin")
		}
	})
}

// A template that Muster did not delete is asked for by name before it counts as gone, also beside pools whose templates it deleted.
func TestOnlyAnOwnDeletionIsProofOfAbsence(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		targets := w.ending(4)
		w.deleteTemplates(targets[:3])
		w.deleteByHand(targets[3])
		time.Sleep(2 * time.Minute)
		if _, reads := w.templateReads(targets); reads != 2 {
			t.Errorf("want a list for all and a read of the template that another client deleted, got %d reads", reads)
		}
	})
}

// A page that fails proves nothing, not even of a template that Muster deleted.
func TestFailedPageIsNoProofOfADeletion(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		targets := w.ending(4)
		w.deleteTemplates(targets[:1])
		for _, f := range []sim.Fault{
			{Kind: sim.PageLimit, Action: "DescribeLaunchTemplates", Limit: 1}, {Kind: sim.ErrorBefore, Action: "DescribeLaunchTemplates", Skip: 1},
		} {
			if err := w.server.Faults().Add(f); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Minute)
		l := w.observeAll(targets)
		if cloud.KindOf(l.errs[0]) != cloud.Unavailable {
			t.Errorf("want the template that was deleted unknown, got %+v, %v", l.seen[0].Versions, l.errs[0])
		}
		for k := range targets[1:] {
			if o, err := l.seen[k+1], l.errs[k+1]; err == nil && len(o.Versions) == 0 {
				t.Errorf("pool %d: want its template or an error, got neither", k+1)
			}
		}
	})
}

// A template that is made again after its deletion is there: the deletion before proves nothing any more.
func TestADeletionProvesNothingOfTheNextTemplate(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		targets := w.ending(4)
		w.deleteTemplates(targets)
		again := targets[0]
		again.Deleting = false
		w.start(again, pool.Step{Kind: pool.PutTemplate})
		time.Sleep(time.Minute)
		if l, _ := w.templateReads(targets); len(l.seen[0].Versions) != 1 || l.errs[0] != nil {
			t.Errorf("want the template that was made again, got %+v, %v", l.seen[0], l.errs[0])
		}
		w.deleteByHand(targets[0])
		time.Sleep(2 * time.Minute)
		if _, reads := w.templateReads(targets); reads != 2 {
			t.Errorf("want a list for all and a read of the template that another client deleted, got %d reads", reads)
		}
	})
}
