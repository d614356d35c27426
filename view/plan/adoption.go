package plan

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/common"
	musterv1 "github.com/muster-project/muster/api/muster/v1alpha1"
	"github.com/muster-project/muster/kube/infrapool/preview"
)

// Adoption describes the first effects on a pool that adopts the group of another tool. The rest of the plan follows from it.
type Adoption struct {
	// Group is the name of the group.
	Group string `json:"group"`
	// Tagged lists the cloud objects that get the pool's owner tags.
	Tagged []string `json:"tagged"`
	// Changed lists the fields of the group that differ from the objects and are changed in place.
	Changed []string `json:"changed"`
}

// adoptionOf returns the adoption that a plan begins with; nil if there is none.
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

// text prints the adoption.
func (a *Adoption) text(b *strings.Builder) {
	if a == nil {
		return
	}
	fmt.Fprintf(b, "Adopts %s: writes the owner tags to %s\n", a.Group, strings.Join(a.Tagged, ", "))
	if len(a.Changed) > 0 {
		fmt.Fprintf(b, "Changes of the group, in place: %s\n", strings.Join(a.Changed, ", "))
	}
}

// missingGrant returns the grant without which the pool may not adopt the group that it asks for; nil if there is none.
func (p Plan) missingGrant(f preview.Look) *musterv1.AdoptionGrant {
	if f.Observed.Unowned == nil {
		return nil
	}
	missing := f.Observed.Unowned.MissingGrant(f.Desired.Adopt)
	if missing == nil {
		return nil
	}
	grant := &musterv1.AdoptionGrant{ObjectMeta: metav1.ObjectMeta{Name: p.Namespace + "-" + p.Name}}
	grant.SetGroupVersionKind(musterv1.GroupVersion.WithKind(musterv1.AdoptionGrantKind))
	grant.Spec.Namespaces = &common.AllowedNamespaces{List: []string{p.Namespace}}
	for _, account := range missing.Accounts {
		grant.Spec.Accounts = append(grant.Spec.Accounts, musterv1.Account(account))
	}
	for _, pattern := range missing.Groups {
		grant.Spec.Groups = append(grant.Spec.Groups, musterv1.GroupPattern(pattern))
	}
	return grant
}

// textGrant writes the manifest of the grant that is missing.
func (p Plan) textGrant(b *strings.Builder) {
	if p.MissingGrant == nil {
		return
	}
	manifest, err := yaml.Marshal(p.MissingGrant)
	if err != nil {
		return
	}
	fmt.Fprintf(b, "This grant would allow the adoption, applied by an operator of the management cluster:\n\n%s", manifest)
}
