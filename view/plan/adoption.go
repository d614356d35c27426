package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/muster-project/muster/kube/infrapool/preview"
)

// Adoption is what happens first to a pool that adopts the group of another tool. All else in the plan is what follows from it.
type Adoption struct {
	// Group is the group.
	Group string `json:"group"`
	// Tagged are the cloud objects that get the pool's owner tags.
	Tagged []string `json:"tagged"`
	// Changed are the fields of the group that differ from what the objects ask for; they are changed in place.
	Changed []string `json:"changed"`
}

// adoptionOf is the adoption that a plan begins with; nil if there is none.
func adoptionOf(f preview.Look) *Adoption {
	if f.Adopts == nil {
		return nil
	}
	a := &Adoption{Group: f.Adopts.Group, Tagged: slices.Clone(f.Adopts.Resources), Changed: []string{}}
	if g := f.Observed.Group; g != nil {
		a.Changed = append(a.Changed, g.Drift...)
		a.Changed = append(a.Changed, g.Unchangeable...)
	}
	return a
}

// text tells of the adoption.
func (a *Adoption) text(b *strings.Builder) {
	if a == nil {
		return
	}
	fmt.Fprintf(b, "Adopts %s: writes the owner tags to %s\n", a.Group, strings.Join(a.Tagged, ", "))
	if len(a.Changed) > 0 {
		fmt.Fprintf(b, "Changes of the group, in place: %s\n", strings.Join(a.Changed, ", "))
	}
}
