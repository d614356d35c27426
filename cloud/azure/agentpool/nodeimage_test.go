package agentpool_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	aksv1 "github.com/muster-project/muster/api/azure/aks/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/pool"
)

const (
	oldImage = "AKSUbuntu-2204gen2containerd-202609.03.0"
	newImage = "AKSUbuntu-2204gen2containerd-202610.01.0"
)

// atLeast asks for a node image.
func atLeast(image string) func(source) source {
	return spec(func(s *aksv1.AzureManagedMachinePoolSpec) { s.NodeImageVersion = &image })
}

// TestNodeImage holds that a node image is left to AKS until a newer one is asked for, and that AKS then upgrades it, for agent pools of
// both types; an upgrade that was aborted is begun again.
func TestNodeImage(t *testing.T) {
	for name, kind := range map[string]func(*aksv1.AzureManagedMachinePoolSpec){
		"scale set": func(*aksv1.AzureManagedMachinePoolSpec) {}, "virtual machines": ofVMs,
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.target.Spec = spec(kind)(w.target.Spec)
				w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
				if err := w.cloud.AKS.ReleaseImage("202610.01.0"); err != nil {
					w.Fatal(err)
				}
				for _, left := range []string{"", "202609.03.0", oldImage} {
					if left != "" {
						w.target.Spec = atLeast(left)(w.target.Spec)
					}
					if o := w.observe(); o.Group.Image != oldImage || w.stale(o) != 0 || len(o.Versions) != 1 {
						w.Errorf("with %q asked for: want %s left as it is, got %s, %d stale", left, oldImage, o.Group.Image, w.stale(o))
					}
				}
				w.target.Spec = atLeast(newImage)(w.target.Spec)
				w.rollsImage(true)
				w.rollsImage(false)
			})
		})
	}
}

// stale counts the machines that are to be replaced.
func (w *world) stale(o pool.Observed) (n int) {
	w.Helper()
	for _, i := range o.Instances {
		if !i.Template.Same(o.Wanted) {
			n++
		}
	}
	return n
}

// rollsImage upgrades the node image of two machines, and aborts that after the first one where it says so.
func (w *world) rollsImage(aborted bool) {
	w.Helper()
	o := w.observe()
	at := slices.IndexFunc(o.Instances, func(i pool.Instance) bool { return !i.Template.Same(o.Wanted) })
	is := o.Instances[max(at, 0)]
	if at < 0 || !slices.Equal(is.TemplateDiff, []string{"spec.nodeImageVersion"}) ||
		is.Template.Ref != "aks:1.34.7/standard_d2s_v3/"+oldImage || len(o.Group.Drift) > 0 {
		w.Fatalf("want machines of an older node image stale, got %+v in %+v", o.Instances, o.Group)
	}
	if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.StartProviderRollout, Template: o.Latest().Ref}); err != nil {
		w.Fatal(err)
	}
	for range 80 {
		<-time.After(time.Minute)
		if o = w.observe(); o.ProviderRollout != nil && !o.ProviderRollout.Template.Same(o.Wanted) {
			w.Fatalf("want a rollout to what is asked for, got %+v", o.ProviderRollout)
		}
		if aborted && w.stale(o) == 1 {
			w.start(pool.Step{Kind: pool.CancelProviderRollout, Refs: []string{o.ProviderRollout.ID}})
			return
		}
	}
	if aborted || o.Group.Image != newImage || w.stale(o) != 0 || o.ProviderRollout != nil || o.Group.Busy != nil {
		w.Errorf("want all machines on %s, got %+v in %+v", newImage, o.Instances, o.Group)
	}
}

// TestReimagedMachineIsRenewed holds that a machine which AKS reimages for another node image is as old as before, and has the time to join
// from then on.
func TestReimagedMachineIsRenewed(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 1})
		made := w.observe().Instances[0]
		if err := w.cloud.AKS.ReleaseImage("202610.01.0"); err != nil {
			w.Fatal(err)
		}
		w.target.Spec = atLeast(newImage)(w.target.Spec)
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.StartProviderRollout,
			Template: w.observe().Latest().Ref}); err != nil {
			w.Fatal(err)
		}
		seen := false
		for range 480 {
			<-time.After(10 * time.Second)
			o := w.observe()
			at := slices.IndexFunc(o.Instances, func(i pool.Instance) bool { return i.UID == made.UID })
			is := o.Instances[at]
			if !is.Template.Same(o.Wanted) || seen {
				continue
			}
			seen = true
			if age := time.Since(is.Renewed); !is.Created.Equal(made.Created) || age > time.Minute {
				w.Errorf("want a machine of %v renewed a moment ago, got one of %v, renewed %v ago", made.Created, is.Created, age)
			}
		}
		if !seen {
			w.Error("want the machine reimaged")
		}
	})
}

// TestNodeImageIsRefused holds that a node image that AKS has not released yet is rejected by its field, and so is a malformed one.
func TestNodeImageIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 1})
		w.target.Spec = atLeast("202612.01.0")(w.target.Spec)
		err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.StartProviderRollout, Template: w.observe().Latest().Ref})
		var refusal *cloud.Error
		const want = "AKS's newest node image for the agent pool is " + oldImage + ", which is older than 202612.01.0"
		if !errors.As(err, &refusal) || refusal.Kind != cloud.Invalid || refusal.Field != "spec.nodeImageVersion" || refusal.Message != want {
			w.Errorf("want %q, got %v", want, err)
		}
		w.target.Spec = atLeast("newest")(w.target.Spec)
		if o := w.observe(); len(o.Issues) != 1 || o.Group == nil {
			w.Errorf("want an agent pool as it is with an issue, got %+v", o.Issues)
		}
	})
}

// TestVersionBringsTheNodeImage holds that an upgrade of Kubernetes, which brings AKS's newest node image, needs no other rollout after it.
func TestVersionBringsTheNodeImage(t *testing.T) {
	inWorld(t, func(w *world) {
		w.target.KubernetesVersion = "v1.33.7"
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
		if err := w.cloud.AKS.ReleaseImage("202610.01.0"); err != nil {
			w.Fatal(err)
		}
		w.target.KubernetesVersion = version
		w.target.Spec = atLeast(newImage)(w.target.Spec)
		w.start(pool.Step{Kind: pool.StartProviderRollout, Template: w.observe().Latest().Ref})
		settle()
		if o := w.observe(); w.stale(o) != 0 || o.Group.Image != newImage || o.ProviderRollout != nil {
			w.Errorf("want version and node image upgraded together, got %+v in %+v", o.Instances, o.Group)
		}
	})
}

// TestRolloutOfAnOlderRead holds that an upgrade of the node image and its end, for which AKS takes no condition, change no agent pool that
// another owner took over after it was read, and are begun on an older read of one that is as it was.
func TestRolloutOfAnOlderRead(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start(pool.Step{Kind: pool.CreateGroup, Size: 2})
		if err := w.cloud.AKS.ReleaseImage("202610.01.0"); err != nil {
			w.Fatal(err)
		}
		w.target.Spec = atLeast(newImage)(w.target.Spec)
		begin := pool.Step{Kind: pool.StartProviderRollout, Template: w.observe().Latest().Ref}
		w.ownedBy("another-owner")
		w.startsOnOlderRead(begin, false)
		w.ownedBy(w.target.Owner.ID)
		w.observe()
		w.startsOnOlderRead(begin, true)
		<-time.After(time.Minute)
		abort := pool.Step{Kind: pool.CancelProviderRollout, Refs: []string{w.observe().ProviderRollout.ID}}
		w.startsOnOlderRead(abort, true)
		settle()
		w.observe()
		w.startsOnOlderRead(begin, true)
		<-time.After(time.Minute)
		abort.Refs = []string{w.observe().ProviderRollout.ID}
		settle()
		w.ownedBy("another-owner")
		w.startsOnOlderRead(abort, false)
	})
}

// ownedBy writes the owner's tag to the agent pool, as another client would.
func (w *world) ownedBy(id string) {
	w.Helper()
	if err := w.cloud.AKS.TagPool(clusterName+"/"+poolName, "muster.dev_owner", id); err != nil {
		w.Fatal(err)
	}
	<-time.After(time.Second)
}

// startsOnOlderRead starts a step in a pass that is content with what was read before, and wants it begun, or else a conflict.
func (w *world) startsOnOlderRead(s pool.Step, begun bool) {
	w.Helper()
	older := w.target
	older.Cache.MaxAge = 2 * within
	err := w.driver.Start(w.Context(), older, s)
	if begun != (err == nil) || !begun && cloud.KindOf(err) != cloud.Conflict {
		w.Errorf("%s on an older read: want it begun %t, or a conflict, got %v", s.Kind, begun, err)
	}
}
