package instancegroup_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// relabelled makes a pool of two instances whose labels the specification changes, after it has had other labels and other bootstrap data:
// the group launches from another template than the instances are of, with other labels of disks.
func (w *world) relabelled() pool.Observed {
	w.Helper()
	w.create(2)
	w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) { s.AdditionalLabels = gcpv1.Labels{"stage": "b"} })(w.target.Spec)
	w.target.Bootstrap = cloud.NewBootstrap([]byte("#cloud-config\nruncmd: [join, again]\n"), "cloud-config")
	w.start(pool.Step{Kind: pool.PutTemplate, Base: w.observe().Latest().Ref})
	o := w.observe()
	w.start(pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref, Fields: o.Group.Drift})
	o = w.observe()
	if len(o.Group.Drift) > 0 || o.Instances[0].Template.Ref == o.Group.Template || len(o.Instances[0].InPlaceDrift) == 0 ||
		len(o.Instances[1].InPlaceDrift) == 0 {
		w.Fatalf("want two instances of an older template that lack labels, got %+v", o)
	}
	return o
}

// apply begins to change instances in place.
func (w *world) apply(list ...pool.Instance) {
	w.Helper()
	s := pool.Step{Kind: pool.Apply}
	for _, i := range list {
		s.Targets = append(s.Targets, pool.InstanceRef{ID: i.ID, UID: i.UID})
	}
	if err := w.driver.Start(w.Context(), w.target, s); err != nil {
		w.Fatal(err)
	}
	synctest.Wait()
}

// TestLabelsOfOlderTemplates holds that instances get labels also where they are of an older template, whose disks have other labels: the
// group would have to replace them. What another client has set on an instance stays, and nothing is concluded before the change is shown.
func TestLabelsOfOlderTemplates(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		o := w.relabelled()
		path := "zones/" + zone + "/instances/" + o.Instances[0].ProviderID[strings.LastIndex(o.Instances[0].ProviderID, "/")+1:]
		seen := w.read(path)
		labels := map[string]any{"billing": "x"}
		for key, value := range seen["labels"].(map[string]any) {
			labels[key] = value
		}
		w.send(http.MethodPost, path+"/setLabels", map[string]any{"labels": labels, "labelFingerprint": seen["labelFingerprint"]})
		settle()
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Apply,
			Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}}); cloud.KindOf(err) != cloud.Conflict {
			w.Fatalf("want a conflict with the client that has set others, got %v", err)
		}
		o = w.observe()
		w.apply(o.Instances...)
		if o = w.observe(); !o.Instances[0].Updating || !o.Instances[1].Updating {
			w.Errorf("want both waited for, got %+v", o.Instances)
		}
		settle()
		for _, i := range w.observe().Instances {
			if i.Updating || len(i.InPlaceDrift) > 0 {
				w.Errorf("want %s to have the labels, got %+v", i.ID, i)
			}
		}
		if now := w.read(path)["labels"].(map[string]any); now["billing"] != "x" || now["stage"] != "b" {
			w.Errorf("want both labels, got %v", now)
		}
		w.observe()
		if got := w.calls.during(func() { w.observe() }); len(got) != 2 {
			w.Errorf("want two reads at rest, got %v", got)
		}
	})
}

// TestLabelsThatAreIgnored holds that a change of labels which Compute Engine accepts and does not make is waited for, and then one to try
// again.
func TestLabelsThatAreIgnored(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		o := w.relabelled()
		if err := w.cloud.Faults().Add(sim.Fault{Kind: sim.Ignore, Action: "instances.setLabels", Times: 1}); err != nil {
			w.Fatal(err)
		}
		w.apply(o.Instances[0])
		if is := w.observe().Instances[0]; !is.Updating {
			w.Errorf("want the change waited for, got %+v", is)
		}
		time.Sleep(time.Minute)
		if is := w.observe().Instances[0]; is.Updating || len(is.InPlaceDrift) == 0 {
			w.Errorf("want the change to be tried again, got %+v", is)
		}
	})
}

// TestLabelsRolledByOthers holds that labels which another client has given to a group and its instances are put back on both, also by
// looks that accept older answers.
func TestLabelsRolledByOthers(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		w.create(2)
		group := "zones/" + zone + "/instanceGroupManagers/" + w.observe().Group.ID[strings.LastIndex(w.observe().Group.ID, "/")+1:]
		w.send(http.MethodPatch, group, map[string]any{
			"updatePolicy":       map[string]any{"type": "PROACTIVE", "minimalAction": "REFRESH", "mostDisruptiveAllowedAction": "REFRESH"},
			"allInstancesConfig": map[string]any{"properties": map[string]any{"labels": map[string]any{"team": "b"}}}})
		settle()
		w.target.Cache.MaxAge = time.Second
		o := w.observe()
		if len(o.Group.Drift) == 0 {
			t.Fatalf("want the group's labels put back, got %+v", o.Group)
		}
		w.start(pool.Step{Kind: pool.UpdateGroup, Fields: o.Group.Drift})
		for _, i := range w.observe().Instances {
			if len(i.InPlaceDrift) == 0 {
				t.Errorf("want the labels of %s put back, got %+v", i.ID, i)
			}
		}
	})
}
