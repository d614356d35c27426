package instancegroup_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gcpv1 "github.com/muster-project/muster/api/gcp/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/gcp/session"
	"github.com/muster-project/muster/cloud/gcp/template"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

type object = map[string]any

// otherTools is a group with two instances, and its template, as the ecosystem's provider creates them for a cluster.
func (w *world) otherTools(name, cluster string) { w.Helper(); w.otherToolsOf("global", name, cluster) }

// otherToolsOf does the same with a template in a scope: global or of a region.
func (w *world) otherToolsOf(scope, name, cluster string) {
	w.Helper()
	const templateName = "mp-0-0123456789abcdef"
	w.otherTemplate(scope, templateName, object{"capg-cluster-" + cluster: "owned", "capg-role": "node", "capg-config-hash": "0123"})
	w.send(http.MethodPost, "zones/"+zone+"/instanceGroupManagers", object{"name": name, "baseInstanceName": "mp-0", "targetSize": 2,
		"instanceTemplate": scope + "/instanceTemplates/" + templateName})
	settle()
}

// otherTemplate is a template that another client creates.
func (w *world) otherTemplate(scope, name string, labels object) {
	w.Helper()
	w.send(http.MethodPost, scope+"/instanceTemplates", object{"name": name, "properties": object{
		"machineType": machineType, "canIpForward": true,
		"disks": []any{object{"boot": true, "autoDelete": true,
			"initializeParams": object{"diskType": "pd-standard", "sourceImage": "https://www.googleapis.com/compute/v1/" + family}}},
		"labels":            labels,
		"metadata":          object{"items": []any{object{"key": "user-data", "value": "#cloud-config of another"}}},
		"networkInterfaces": []any{object{"network": "projects/" + project + "/global/networks/" + clusterName}},
		"serviceAccounts":   []any{object{"email": "default", "scopes": []any{"https://www.googleapis.com/auth/cloud-platform"}}},
		"tags":              object{"items": []any{clusterName + "-node", clusterName}},
		"scheduling":        object{},
	}})
}

// TestAdoption holds that a group of another tool becomes the pool's without a machine being replaced.
func TestAdoption(t *testing.T) {
	for _, scope := range []string{"global", "regions/" + region} {
		t.Run(scope, func(t *testing.T) { inWorld(t, []string{zone}, func(w *world) { w.adoption(scope) }) })
	}
}

// adoption adopts a group whose template is in a scope, takes it up as it is wanted and changes what is wanted.
func (w *world) adoption(scope string) {
	w.Helper()
	const name = clusterName + "-" + poolName
	w.otherToolsOf(scope, name, clusterName)
	w.target.Owner.GroupName, w.target.Adopt = name, true
	w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) {
		s.Image, s.ImageFamily, s.AdditionalLabels = nil, new(family),
			nil
	})(w.target.Spec)
	o := w.observe()
	if o.OwnershipConflict == nil || o.Unowned == nil || o.Unowned.Name != name || o.Unowned.Owner != "" {
		w.Fatalf("want a group without an owner, got %+v", o)
	}
	if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.Resize, Size: 3}); cloud.KindOf(err) != cloud.Conflict {
		w.Errorf("want the group left alone, got %v", err)
	}
	w.start(pool.Step{Kind: pool.Adopt})
	o = w.observe()
	if o.OwnershipConflict != nil || o.Group == nil || len(o.Instances) != 2 {
		w.Fatalf("want the group adopted, got %+v", o)
	}
	for _, i := range o.Instances {
		if !i.Template.Same(o.Wanted) || len(i.TemplateDiff) > 0 {
			w.Errorf("want no machine replaced, got %+v, wanted %+v", i, o.Wanted)
		}
	}
	before := o
	if o.Instances[0].InPlaceDrift != nil {
		w.Errorf("want the group repaired before its instances, got %+v", o.Instances[0])
	}
	w.start(pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
	o = w.observe()
	w.start(pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref, Fields: o.Group.Drift})
	o = w.observe()
	if len(o.Group.Drift) > 0 || o.Group.Template != o.Latest().Ref || o.Latest().UserManaged {
		w.Errorf("want the group as it is wanted, of a template of the pool, got %+v", o.Group)
	}
	w.start(pool.Step{Kind: pool.Apply, Targets: []pool.InstanceRef{{ID: o.Instances[0].ID}}})
	o = w.observe()
	if len(o.Instances[0].InPlaceDrift) > 0 || len(o.Instances[1].InPlaceDrift) == 0 {
		w.Errorf("want one of two instances of the other tool's template to have the pool's labels, got %+v", o.Instances)
	}
	if o.Instances[0].ID != before.Instances[0].ID || o.Instances[1].ID != before.Instances[1].ID {
		w.Errorf("want both machines kept, got %+v", o.Instances)
	}
	w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) { s.InstanceType = "n2-standard-4" })(w.target.Spec)
	if o = w.observe(); strings.Join(o.Instances[0].TemplateDiff, " ") != "spec.instanceType" {
		w.Errorf("want the field named that differs, got %+v", o.Instances[0])
	}
	w.target.Spec = spec(func(s *gcpv1.GCPMachinePoolSpec) {
		s.Image, s.ImageFamily = new("projects/p/global/images/other"), nil
	})(w.target.Spec)
	differs := slices.DeleteFunc(w.observe().Instances[0].TemplateDiff, func(field string) bool { return field == "spec.instanceType" })
	if len(differs) != 1 || !slices.Contains(w.driver.Traits().ImageFields, differs[0]) {
		w.Errorf("want the field of the image named, got %v", differs)
	}
}

// TestAdoptionUnread holds that a template that may not be read is no reason to replace a machine.
func TestAdoptionUnread(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		const name = clusterName + "-" + poolName
		w.otherTools(name, clusterName)
		w.target.Owner.GroupName, w.target.Adopt = name, true
		w.permit(allowed(w, "compute.instanceTemplates.get"))
		w.start(pool.Step{Kind: pool.Adopt})
		w.start(pool.Step{Kind: pool.PutTemplate, Base: w.observe().Latest().Ref})
		o := w.observe()
		w.start(pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref, Fields: o.Group.Drift})
		o = w.observe()
		if o.Group.Template != o.Latest().Ref || !slices.ContainsFunc(o.Issues,
			func(c pool.Cause) bool { return c.Reason == string(cloud.Denied) }) {
			w.Fatalf("want the group of the pool's template and the refusal told, got %+v", o)
		}
		d := pool.Desired{Replicas: 2, Strategy: &pool.Strategy{MaxSurge: pool.IntOrPercent{Value: 1}}}
		if plan := pool.Decide(d, o, w.driver.Traits(), time.Now()); len(plan.Instances) > 0 {
			w.Errorf("want no machine replaced, got %+v", plan.Instances)
		}
		w.permit(allowed(w, ""))
		o = w.observe()
		if plan := pool.Decide(d, o, w.driver.Traits(), time.Now()); len(plan.Instances) != 2 || len(o.Instances[0].TemplateDiff) == 0 {
			w.Errorf("want both machines replaced for what differs, when it can be read, got %+v", plan.Instances)
		}
	})
}

// TestGroupOfEcosystem holds that a pool makes no group beside the one that the ecosystem's provider made for its object, unless it is
// named.
func TestGroupOfEcosystem(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		const name = clusterName + "-" + poolName
		w.otherTools(name, clusterName)
		w.target.Search = cloud.Search{Tagged: true, Provider: true}
		o := w.observe()
		if o.OwnershipConflict == nil || !strings.Contains(o.OwnershipConflict.Message, "muster.dev/adopt: "+name) {
			w.Errorf("want the group and the annotation named, got %+v", o.OwnershipConflict)
		}
		if err := w.driver.Start(w.Context(), w.target, pool.Step{Kind: pool.CreateGroup, Size: 1}); cloud.KindOf(err) != cloud.Conflict {
			w.Errorf("want no other group created, got %v", err)
		}
		w.target.Owner.GroupName, w.target.Search.Provider = "another", false
		if o = w.observe(); o.OwnershipConflict != nil {
			w.Errorf("want another group to be created by its name, got %+v", o.OwnershipConflict)
		}
	})
}

// TestAdoptionOfAnotherCluster holds that a group whose template belongs to another cluster is not adopted.
func TestAdoptionOfAnotherCluster(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		const name = "other-" + poolName
		w.otherTools(name, "other")
		w.target.Owner.GroupName, w.target.Adopt = name, true
		if o := w.observe(); o.Unowned == nil || o.Unowned.OtherCluster != "other" {
			w.Errorf("want the cluster named that the group belongs to, got %+v", o.Unowned)
		}
	})
}

// TestDeletionLeavesOthers holds that a pool is deleted without a trace, and that templates of other pools of the cluster stay, whatever
// they are called.
func TestDeletionLeavesOthers(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		other := w.as(w.beside("mp"))
		kept := other.create(1)
		group := session.LastName(w.create(2).Group.ID)
		w.otherTemplate("global", group+"-gpu-0123456789ab", object{template.LabelOwner: template.LabelValue(other.target.Owner.ID)})
		rotated := w.target
		rotated.Bootstrap = cloud.NewBootstrap([]byte("#cloud-config\nruncmd: [join, again]\n"), "cloud-config")
		w.as(rotated).start(pool.Step{Kind: pool.PutTemplate})
		w.target.Deleting = true
		w.start(pool.Step{Kind: pool.DeleteGroup})
		w.start(pool.Step{Kind: pool.DeleteTemplates})
		if o := w.observe(); o.Group != nil || len(o.Versions) > 0 || len(o.Instances) > 0 {
			w.Errorf("want nothing left, got %+v", o)
		}
		left := w.cloud.State().Templates
		for _, t := range left {
			if t.Labels[template.LabelOwner] != template.LabelValue(other.target.Owner.ID) {
				w.Errorf("want the pool's own templates gone, got %+v", t)
			}
		}
		if len(left) != 2 {
			w.Errorf("want the other owner's templates left alone, also the one whose name begins as the group's, got %+v", left)
		}
		if o := other.observe(); len(o.Versions) != 1 || o.Group.Template != kept.Group.Template {
			w.Errorf("want the other pool as it was, got %+v", o)
		}
	})
}

// TestTemplateBesideAForeignGroup holds that the labels of a template tell which object it is for when the group has been given to another
// owner.
func TestTemplateBesideAForeignGroup(t *testing.T) {
	inWorld(t, []string{zone}, func(w *world) {
		group := w.create(1).Group.ID
		if err := w.cloud.ChangeTag(sim.Resource{Name: session.LastName(group), Key: template.LabelOwner, Value: "another"}); err != nil {
			w.Fatal(err)
		}
		settle()
		o := w.observe()
		if o.OwnershipConflict == nil || len(o.Versions) != 1 {
			w.Fatalf("want the group foreign and the pool's template named, got %+v", o)
		}
		if o.TaggedFor != w.target.Owner.Key() {
			w.Errorf("want %s of the template, got %q", w.target.Owner.Key(), o.TaggedFor)
		}
	})
}
