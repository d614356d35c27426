package azure

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/driverkit"
)

// former looks for scale sets of other names that could be the pool's, if one is about to be created. The ecosystem's provider gives its
// own the name that Muster does.
func (r *reader) former(ctx context.Context) error {
	if r.memory.set.is != nil || !r.t.Search.Tagged {
		return nil
	}
	list, err := r.c.SetsOf(ctx, r.t.cluster.ResourceGroup, driverkit.SearchAge(r.t.Search, r.now))
	if err != nil {
		return err
	}
	var found []driverkit.Candidate
	for _, is := range list {
		if name := ptr.Deref(is.Name, ""); !strings.EqualFold(name, r.t.name) {
			found = append(found, driverkit.Candidate{
				Name: name, Group: fmt.Sprintf("scale set %s of resource group %s", name, r.t.cluster.ResourceGroup), Claim: r.t.claim(is.Tags),
				Deleting: stateOf(is) == stateDeleting,
			})
		}
	}
	r.memory.set.former = driverkit.Former(r.t.Owner, found, func(o cloud.Owner) string {
		name, _ := model.Name(o, r.t.pool.Template.OSDisk.OSType) // An owner without a name for a scale set has none of its own.
		return name
	})
	return nil
}
