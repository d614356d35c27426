package driverkit_test

import (
	"context"
	"fmt"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/driverkit"
	"github.com/muster-project/muster/pool"
)

// group is a group of machines in a cloud that has nothing else.
type group struct {
	size int
	tags map[string]string
}

// region is the cloud: groups by their names.
type region map[string]*group

// visit is one call of the driver for one pool.
type visit struct {
	cloud region
	owner cloud.Owner
}

// groupTags spells owner tags as muster.dev/owner.
var groupTags = cloud.Spelling{Key: func(name string) string { return cloud.TagDomain + "/" + name }}

func (v visit) group() *group { return v.cloud[v.owner.ResourceName()] }

func (v visit) observe(context.Context) (pool.Observed, error) {
	is := v.group()
	if is == nil {
		return pool.Observed{}, nil
	}
	return pool.Observed{OwnershipConflict: v.ownership().Conflict(), Group: &pool.Group{ID: v.owner.ResourceName(), Size: is.size}}, nil
}

// ownership compares the tags of the group with the pool.
func (v visit) ownership() driverkit.Ownership {
	is := v.group()
	if is == nil {
		return driverkit.Ownership{}
	}
	claim := groupTags.Claim(v.owner, func(key string) string { return is.tags[key] })
	return driverkit.Ownership{Exists: true, Claim: claim, Group: "group " + v.owner.ResourceName(), Kind: "group"}
}

func (v visit) createGroup(_ context.Context, s pool.Step) error {
	v.cloud[v.owner.ResourceName()] = &group{size: s.Size, tags: groupTags.Tags(v.owner)}
	return nil
}

func (v visit) resize(_ context.Context, s pool.Step) error {
	v.group().size = s.Size
	return nil
}

// A driver is a table: the traits of its cloud, a function that observes, and a function for each step that the cloud supports. The frame
// checks the owner of the group before each step.
func ExampleOver() {
	groups := region{}
	kind := driverkit.Kind[visit]{
		Group:     "a group",
		Traits:    pool.Traits{Group: "group", ReplaceKeepsSize: true, RemoveBatch: 10},
		Observe:   visit.observe,
		Look:      func(visit, context.Context, pool.Step) error { return nil },
		Ownership: visit.ownership,
		Steps:     driverkit.Steps[visit]{pool.CreateGroup: visit.createGroup, pool.Resize: visit.resize},
		Touch:     func(visit) {},
		Forget:    func(visit) {},
	}
	begin := func(_ context.Context, t cloud.Target[string], from *driverkit.Memories[int]) (visit, error) {
		from.Of(time.Now(), "account 1", t.Owner.ResourceName()) // what earlier calls remembered of the pool
		return visit{cloud: groups, owner: t.Owner}, nil
	}
	driver := driverkit.Over(kind, begin, func() {})

	ctx := context.Background()
	workers := cloud.Target[string]{Owner: cloud.Owner{ID: "1f0c", Cluster: "prod", Namespace: "team-a", Name: "workers"}}
	for _, step := range []pool.Step{{Kind: pool.CreateGroup, Size: 2}, {Kind: pool.Resize, Size: 3}} {
		if err := driver.Start(ctx, workers, step); err != nil {
			fmt.Println(err)
		}
		observed, _ := driver.Observe(ctx, workers)
		fmt.Println(step.Kind, "->", observed.Group.ID, observed.Group.Size)
	}

	// The owner ID is an annotation that users can copy. The other tags of the group still name the object of team-a.
	copied := workers
	copied.Owner.Namespace = "team-b"
	err := driver.Start(ctx, copied, pool.Step{Kind: pool.Resize, Size: 0})
	fmt.Println(cloud.KindOf(err), cloud.CodeOf(err))
	fmt.Println("size", groups[workers.Owner.ResourceName()].size)

	// Output:
	// CreateGroup -> workers-30e676d282 2
	// Resize -> workers-30e676d282 3
	// Conflict OwnershipConflict
	// size 3
}
