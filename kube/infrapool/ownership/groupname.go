package ownership

import (
	"github.com/muster-project/muster/kube/infrapool/stored"
)

// GroupName is the name of a pool's group.
type GroupName struct {
	// Name is empty for the derived name.
	Name string
	// Asked is the name that the annotations ask for.
	Asked string
	// Keep and Drop are the values to store on the object and to drop from it.
	Keep map[string]string
	Drop []string
}

// Named is what the name of a group depends on.
type Named struct {
	// Asked is the name that the annotations ask for; empty for the derived one.
	Asked string
	// Claimed is true if the object may own something in the cloud already.
	Claimed bool
	// Observed is true if the object's status or deletion shows that the group under the stored name may exist, so that the cloud need not
	// be asked.
	Observed bool
	// Stored are the values stored on the object.
	Stored map[string]string
}

// NameGroup returns the name of the pool's group: the one that the annotations asked for when the group was created, which is stored. A
// group cannot be renamed, and under another name a second one would be created. A changed annotation counts as long as exists finds no
// group under the stored name.
func NameGroup(n Named, exists func(name string) (bool, error)) (GroupName, error) {
	g := GroupName{Name: n.Asked, Asked: n.Asked}
	before, known := n.Stored[stored.GroupName]
	if before != n.Asked && n.Claimed {
		g.Name = before
		if !known || !n.Observed {
			found, err := exists(before)
			if err != nil {
				return g, err
			}
			if !found {
				g.Name = n.Asked
			}
		}
	}
	switch {
	case g.Name != "" || g.Asked != "":
		g.Keep = map[string]string{stored.GroupName: g.Name}
	case known:
		g.Drop = []string{stored.GroupName}
	}
	return g, nil
}
