package ownership

import (
	"github.com/muster-project/muster/kube/infrapool/stored"
)

// GroupName is the name of a pool's group.
type GroupName struct {
	// Name is empty for the derived name.
	Name string
	// Requested is the name that the annotations ask for.
	Requested string
	// Keep and Drop are the values to store on the object and to drop from it.
	Keep map[string]string
	Drop []string
}

// Named holds the inputs from which a group is named.
type Named struct {
	// Requested is the name that the annotations ask for; empty for the derived one.
	Requested string
	// Claimed is true if the object may own something in the cloud already.
	Claimed bool
	// Observed is true if the object's status or deletion shows that the group under the stored name may exist, so that the cloud need not
	// be read.
	Observed bool
	// Stored are the values stored on the object.
	Stored map[string]string
}

// NameGroup returns the name of the pool's group: the one in the annotations when the group was created, which is stored. A
// group cannot be renamed, and under another name a second one would be created. A changed annotation counts as long as exists finds no
// group under the stored name.
func NameGroup(n Named, exists func(name string) (bool, error)) (GroupName, error) {
	g := GroupName{Name: n.Requested, Requested: n.Requested}
	before, known := n.Stored[stored.GroupName]
	if before != n.Requested && n.Claimed {
		g.Name = before
		if !known || !n.Observed {
			found, err := exists(before)
			if err != nil {
				return g, err
			}
			if !found {
				g.Name = n.Requested
			}
		}
	}
	switch {
	case g.Name != "" || g.Requested != "":
		g.Keep = map[string]string{stored.GroupName: g.Name}
	case known:
		g.Drop = []string{stored.GroupName}
	}
	return g, nil
}
