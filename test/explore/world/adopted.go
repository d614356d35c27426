package world

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool"
	"github.com/muster-project/muster/kube/infrapool/stored"
	"github.com/muster-project/muster/pool"
)

// adopted draws a pool whose group another provider has made, and when its user asks to adopt the group.
func (d *Drawing) adopted() {
	s := &d.Scenario
	if d.IntN(outsideOneIn) > 0 || s.Named || s.Brought || s.Spot || s.Has(HandForeign) || s.Kind.AdoptName == "" {
		return
	}
	s.Adopted = true
	s.Add(Event{What: Adopt, At: []time.Duration{0, d.Moment(), d.Moment()}[d.IntN(3)], N: d.IntN(2)})
}

// adopt has the user ask for the adoption, on the infrastructure object or on the MachinePool.
func (w *World) adopt(e Event) { w.Annotate(e.N, pool.AdoptAnnotation, w.Scenario.Kind.AdoptName) }

// makeForAnother has another provider make the pool's group, with its launch template or its model, and returns its ID as that provider
// writes it to spec.providerID.
func (w *World) makeForAnother() string {
	w.Trace("event", "another provider makes group %s", w.Scenario.Kind.AdoptName)
	return w.pool.ForAnother()
}

// giveUpAdoption has the user remove the request for a group that is gone before the pool could adopt it: no other is created while the
// objects name it.
func (w *World) giveUpAdoption() {
	if !w.Scenario.Adopted || w.remembersAdoption() || w.thereToAdopt() {
		return
	}
	w.Annotate(0, pool.AdoptAnnotation, "")
	w.Annotate(1, pool.AdoptAnnotation, "")
	w.EditObject(func(o client.Object) {
		if named, ok := o.(infrapool.WrittenFields); ok {
			named.SetProviderID("")
		}
	})
}

// thereToAdopt reports whether the group that the user asks to adopt exists and is not being deleted.
func (w *World) thereToAdopt() bool {
	for _, g := range w.Snapshot().Groups {
		if g.Name == w.Scenario.Kind.AdoptName && !g.Deleting {
			return true
		}
	}
	return false
}

// remembersAdoption reports whether the object remembers that the pool has adopted the group.
func (w *World) remembersAdoption() bool {
	_, o := w.Objects()
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
func (w *World) groupNameOf(mp *clusterv1.MachinePool, o client.Object) string {
	switch {
	case !w.Scenario.Adopted:
		return ""
	case w.Scenario.Kind.NamesGroup:
		return w.Scenario.Kind.AdoptName
	}
	return cmp.Or(annotated(mp, o, pool.AdoptAnnotation), remembered(o)[pool.AdoptedKey])
}

// leaveOthersTags takes the tags of another provider out of what is wanted where the object does not name them: they stay.
func (w *World) leaveOthersTags(want map[string]string) {
	if w.Scenario.Adopted && want["team"] == "" {
		delete(want, "team")
		delete(want, "behind team")
	}
}

// reshaping are the events after which the object may ask for other machines than those of the group that it adopts, or a user has begun
// to replace them.
var reshaping = []What{
	Template, BadTemplate, Back, GroupEdit, Upgrade, RestartNow, HandDropTemplate, HandDropVersion, HandDefault, HandDropGroup,
}

// kept reports whether the object still asks for the machines that the group had which it adopts: none of them is replaced then.
func (w *World) kept() bool { return w.Scenario.Adopted && !w.reshaped }

// reshapes notes an event before it happens.
func (w *World) reshapes(e Event) {
	w.reshaped = w.reshaped || slices.Contains(reshaping, e.What) || slices.Contains(w.Scenario.Kind.Reshapes, e.What)
}
