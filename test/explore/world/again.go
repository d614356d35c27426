package world

import (
	"regexp"
	"slices"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool"
)

// applyAgain simulates the loss of the management cluster: the objects are applied to another one from Git, without Machines, and without
// the fields that Muster and the user have written to the objects of the pool.
func (b *backup) applyAgain() {
	w := b.world
	if w.Objects.deleted() {
		return
	}
	b.before = b.groups()
	b.restore(false, false)
	w.Objects.EditObject(func(o client.Object) {
		for key := range o.GetAnnotations() {
			if strings.HasPrefix(key, "muster.dev/") {
				without(o, key)
			}
		}
		if named, ok := o.(infrapool.WrittenFields); ok {
			named.SetProviderID("")
			named.SetProviderIDList(nil)
		}
	})
	w.Objects.EditPool(func(mp *clusterv1.MachinePool) { mp.Spec.ProviderIDList = nil })
}

// groups returns the names of the cloud's groups.
func (b *backup) groups() []string {
	var names []string
	for _, g := range b.world.Snapshot().Groups {
		names = append(names, g.Name)
	}
	return names
}

// commands match the command in a condition that takes a group back.
var commands = regexp.MustCompile(`run: kubectl annotate --overwrite --namespace \S+ \S+ \S+ ([^;\n]+)`)

// takeBack has the user read in the conditions how the pool gets its group back, and do that. It finds a group that was created instead.
func (b *backup) takeBack() {
	w := b.world
	for _, name := range b.groups() {
		if !slices.Contains(b.before, name) {
			w.Blame("second group", "group %s was created beside %v", name, b.before)
		}
	}
	found := commands.FindStringSubmatch(w.Objects.StatusText())
	if found == nil {
		w.Blame("second group", "want a condition with the command that takes the group back, got %s", w.Objects.StatusText())
		return
	}
	for _, part := range strings.Fields(found[1]) {
		key, value, _ := strings.Cut(part, "=")
		w.Objects.Annotate(0, strings.TrimSuffix(key, "-"), value)
	}
}
