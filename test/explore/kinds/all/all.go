// Package all lists the kinds of pools that are explored. A new kind is one line here.
package all

import (
	"slices"

	"github.com/muster-project/muster/test/explore/kinds/agentpool"
	"github.com/muster-project/muster/test/explore/kinds/asg"
	"github.com/muster-project/muster/test/explore/kinds/gkenodepool"
	"github.com/muster-project/muster/test/explore/kinds/instancegroup"
	"github.com/muster-project/muster/test/explore/kinds/nodegroup"
	"github.com/muster-project/muster/test/explore/kinds/ociinstancepool"
	"github.com/muster-project/muster/test/explore/kinds/okenodepool"
	"github.com/muster-project/muster/test/explore/kinds/scaleset"
	"github.com/muster-project/muster/test/explore/kinds/scaleway"
	"github.com/muster-project/muster/test/explore/kinds/toy"
	"github.com/muster-project/muster/test/explore/script"
	"github.com/muster-project/muster/test/explore/world"
)

// Kinds returns all kinds, in the order in which they claim seeds: the last one takes what no other claims.
func Kinds() []*world.Kind {
	return []*world.Kind{
		agentpool.Kind,
		instancegroup.Kind,
		gkenodepool.Kind,
		nodegroup.Kind,
		ociinstancepool.Kind,
		okenodepool.Kind,
		scaleset.Kind,
		scaleway.Kind,
		toy.Kind,
		asg.Kind,
	}
}

// Named returns the kind of that name, nil when there is none.
func Named(name string) *world.Kind {
	for _, k := range Kinds() {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// Claiming returns the kind that claims a seed.
func Claiming(seed uint64) *world.Kind {
	kinds := Kinds()
	return kinds[slices.IndexFunc(kinds, func(k *world.Kind) bool { return k.Claims != nil && k.Claims(seed) })]
}

// Golden returns the golden scenarios of all kinds.
func Golden() []script.Scenario {
	var list []script.Scenario
	for _, k := range Kinds() {
		list = append(list, k.Goldens()...)
	}
	return list
}
