package engine

import (
	"context"
	"time"

	"github.com/muster-project/muster/cloud"
)

// searchAge is the maximum age of the group's reads while other groups are searched: those of the same pass.
const searchAge = 10 * time.Second

// searched returns the outcome of a look, or, if the pool's group is to be created next, that of another look that searches the cloud for
// groups that could be the pool's, beside what the first look has read. The looks of the pass that follow search too.
func (e *Engine[S]) searched(ctx context.Context, f *Input[S], n Nodes, m *record, out Outcome) Outcome {
	if f.Target.Search.Tagged || !out.Seen || !out.Plan.CreatesGroup(f.Desired, out.Observed) {
		return out
	}
	f.Target.Search = f.search()
	same, first := *f, out.Observed
	same.Target.Cache.MaxAge = searchAge
	out = e.look(ctx, same, n, m)
	out.Observed.Cache.Fresh = out.Observed.Cache.Fresh || first.Cache.Fresh
	out.Observed.Cache.GroupFresh = out.Observed.Cache.GroupFresh || first.Cache.GroupFresh
	return out
}

// search returns for which groups the cloud is searched. One of the ecosystem's provider has nothing that names the object but its name: it
// does not count where the object names a group, or where other Clusters have the name of the pool's.
func (f Input[S]) search() cloud.Search {
	named := f.Target.GroupID != "" || f.Target.Owner.GroupName != ""
	return cloud.Search{Tagged: true, Provider: !named && len(f.Desired.Adopt.SameNamed) == 0, Since: f.Created}
}
