package world

import (
	"cmp"
	"encoding/json"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/test/explore/script"
)

// adoption tracks the group that another provider has created.
type adoption struct {
	world *World
	// reshaped is true once an event may have made the object ask for other machines than those of the adopted group.
	reshaped bool
}

// request has the user request the adoption, on the infrastructure object or on the MachinePool.
func (ad *adoption) request(e script.Event) {
	ad.world.Objects.Annotate(e.N, pool.AdoptAnnotation, ad.world.Scenario.Kind.AdoptName)
}

// begin has another provider make the pool's group, with its launch template or its model, and returns its ID as that provider
// writes it to spec.providerID.
func (ad *adoption) begin() string {
	w := ad.world
	w.Trace("event", "another provider makes group %s", w.Scenario.Kind.AdoptName)
	return w.pool.ForAnother()
}

// giveUp has the user remove the request for a group that is gone before the pool could adopt it: no other is created while the
// objects name it.
func (ad *adoption) giveUp() {
	w := ad.world
	if !w.Scenario.Adopted || ad.done() || ad.there() {
		return
	}
	w.Objects.Annotate(0, pool.AdoptAnnotation, "")
	w.Objects.Annotate(1, pool.AdoptAnnotation, "")
	w.Objects.EditObject(func(o client.Object) {
		if named, ok := o.(infrapool.WrittenFields); ok {
			named.SetProviderID("")
		}
	})
}

// there reports whether the group that the user asks to adopt exists and is not being deleted.
func (ad *adoption) there() bool {
	for _, g := range ad.world.Snapshot().Groups {
		if g.Name == ad.world.Scenario.Kind.AdoptName && !g.Deleting {
			return true
		}
	}
	return false
}

// done reports whether the object remembers that the pool has adopted the group.
func (ad *adoption) done() bool {
	_, o := ad.world.Objects.Both()
	return o != nil && remembered(o)[pool.AdoptedKey] != ""
}

// remembered returns what the object remembers of look-ups.
func remembered(o client.Object) map[string]string {
	all := map[string]string{}
	if json.Unmarshal([]byte(o.GetAnnotations()[stored.Annotation]), &all) != nil {
		return nil
	}
	return all
}

// groupNameOf returns the name of the pool's group where it is not the one that follows from the owner ID.
func (ad *adoption) groupNameOf(mp *clusterv1.MachinePool, o client.Object) string {
	w := ad.world
	switch {
	case !w.Scenario.Adopted:
		return ""
	case w.Scenario.Kind.NamesGroup:
		return w.Scenario.Kind.AdoptName
	}
	return cmp.Or(annotated(mp, o, pool.AdoptAnnotation), remembered(o)[pool.AdoptedKey])
}

// leaveOthersTags removes the tags of another provider from the wanted state unless the object names them: they stay.
func (ad *adoption) leaveOthersTags(want map[string]string) {
	if ad.world.Scenario.Adopted && want["team"] == "" {
		delete(want, "team")
		delete(want, "behind team")
	}
}

// reshaping are the events after which the object may ask for other machines than those of the group that it adopts, or a user has begun
// to replace them.
var reshaping = []script.What{
	script.Template, script.BadTemplate, script.Back, script.GroupEdit, script.Upgrade, script.RestartNow, script.HandDropTemplate,
	script.HandDropVersion, script.HandDefault, script.HandDropGroup,
}

// kept reports whether the object still asks for the machines that the group had which it adopts: none of them is replaced then.
func (ad *adoption) kept() bool { return ad.world.Scenario.Adopted && !ad.reshaped }

// reshapes notes an event before it happens.
func (ad *adoption) reshapes(e script.Event) {
	ad.reshaped = ad.reshaped || slices.Contains(reshaping, e.What) || slices.Contains(ad.world.Scenario.Kind.Reshapes, e.What)
}
