package driverkit_test

import (
	"strings"
	"testing"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
)

// TestFormer holds which groups of other names keep a pool's from being created, and which message each of them has.
func TestFormer(t *testing.T) {
	t.Parallel()
	spelling := cloud.Spelling{Key: func(name string) string { return "muster.dev/" + name }}
	owner := cloud.Owner{ID: "new", Cluster: "c", Namespace: "team-a", Name: "p", Kind: "awsmachinepool"}
	before := owner
	before.ID = "old"
	tagged := func(o cloud.Owner, without ...string) driverkit.Candidate {
		tags := spelling.Tags(o)
		for _, name := range without {
			delete(tags, spelling.Key(name))
		}
		return driverkit.Candidate{Name: o.ResourceName(), Group: "group " + o.ResourceName(),
			Claim: spelling.Claim(owner, func(key string) string { return tags[key] })}
	}
	of := func(change func(*cloud.Owner)) cloud.Owner {
		o := before
		change(&o)
		return o
	}
	with := func(c driverkit.Candidate, change func(*driverkit.Candidate)) driverkit.Candidate {
		change(&c)
		return c
	}
	const run = "run: kubectl annotate --overwrite --namespace team-a awsmachinepool p "
	providers := with(tagged(before, cloud.TagOwner, cloud.TagCluster, cloud.TagNamespace, cloud.TagPool), func(c *driverkit.Candidate) {
		c.Name, c.ByProvider = "p", true
	})
	for name, tc := range map[string]struct {
		why   string
		owner cloud.Owner
		found []driverkit.Candidate
		// conflict and waits are the ends of the messages; empty for none.
		conflict, waits string
	}{
		"none": {"the usual creation", owner, nil, "", ""},
		"another owner ID": {"the pool was applied again", owner, []driverkit.Candidate{tagged(before)},
			run + "muster.dev/owner-id=old", ""},
		"another owner ID and name": {"the group was adopted, or named by the user", owner,
			[]driverkit.Candidate{with(tagged(before), func(c *driverkit.Candidate) { c.Name = "theirs" })},
			run + "muster.dev/owner-id=old muster.dev/group-name=theirs", ""},
		"another owner ID, and the user names another group": {"the name that the group has counts",
			of(func(o *cloud.Owner) { o.ID, o.GroupName = "new", "mine" }), []driverkit.Candidate{tagged(before)},
			run + "muster.dev/owner-id=old muster.dev/group-name-", ""},
		"the pool's own": {"its creation was not shown yet", owner,
			[]driverkit.Candidate{tagged(of(func(o *cloud.Owner) { o.ID = "new" }))}, "", ""},
		"the pool's own under another name": {"the annotation changed", owner,
			[]driverkit.Candidate{with(tagged(of(func(o *cloud.Owner) { o.ID = "new" })), func(c *driverkit.Candidate) { c.Name = "former" })},
			run + "muster.dev/group-name=former", ""},
		"the pool's own elsewhere": {"the zones changed", owner, []driverkit.Candidate{with(tagged(of(func(o *cloud.Owner) { o.ID = "new" })),
			func(c *driverkit.Candidate) { c.Elsewhere = "ask for zone a" })}, "To take it back, ask for zone a", ""},
		"another owner ID elsewhere": {"both are to be set right", owner,
			[]driverkit.Candidate{with(tagged(before), func(c *driverkit.Candidate) { c.Elsewhere = "ask for zone a" })},
			run + "muster.dev/owner-id=old, and ask for zone a", ""},
		"no owner tag": {"it was removed by hand", owner, []driverkit.Candidate{tagged(before, cloud.TagOwner)}, "(docs/migrating.md)", ""},
		"being deleted": {"it is gone soon", owner,
			[]driverkit.Candidate{with(tagged(before), func(c *driverkit.Candidate) { c.Deleting = true })}, "", "until it is gone"},
		"one is being deleted, and one is not": {"the other one counts", owner,
			[]driverkit.Candidate{with(tagged(before), func(c *driverkit.Candidate) { c.Name, c.Deleting = "a", true }), tagged(before)},
			run + "muster.dev/owner-id=old", ""},
		"another namespace's": {"pools of two namespaces have one name", owner,
			[]driverkit.Candidate{tagged(of(func(o *cloud.Owner) { o.Namespace = "team-b" }))}, "", ""},
		"another cluster's": {"as above", owner, []driverkit.Candidate{tagged(of(func(o *cloud.Owner) { o.Cluster = "d" }))}, "", ""},
		"a tag is missing":  {"it names no object", owner, []driverkit.Candidate{tagged(before, cloud.TagNamespace)}, "", ""},
		"the provider's":    {"it has the name and the cluster", owner, []driverkit.Candidate{providers}, "muster.dev/group-name", ""},
		"the provider's name, and an owner": {"a tenant had a group of that name created for its own pool", owner,
			[]driverkit.Candidate{with(tagged(of(func(o *cloud.Owner) { o.Namespace = "team-b" })),
				func(c *driverkit.Candidate) { c.ByProvider = true })}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := driverkit.Former(tc.owner, tc.found, cloud.Owner.ResourceName)
			if got.Conflict == nil != (tc.conflict == "") || got.Conflict != nil && !strings.HasSuffix(got.Conflict.Message, tc.conflict) {
				t.Errorf("%s: want the conflict to end with %q, got %+v", tc.why, tc.conflict, got.Conflict)
			}
			if got.Deleting == nil != (tc.waits == "") || got.Deleting != nil && !strings.HasSuffix(got.Deleting.Message, tc.waits) {
				t.Errorf("%s: want the wait to end with %q, got %+v", tc.why, tc.waits, got.Deleting)
			}
		})
	}
}
