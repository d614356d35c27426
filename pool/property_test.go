package pool

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// aTemplate is one of a few versions, or one that nobody knows.
func aTemplate() *rapid.Generator[Template] {
	return rapid.Custom(func(t *rapid.T) Template {
		if rapid.IntRange(0, 9).Draw(t, "unknown") == 0 {
			return Template{}
		}
		n := rapid.IntRange(1, 6).Draw(t, "version")
		return Template{Ref: fmt.Sprintf("lt:%d", n), Content: fmt.Sprintf("v1:%d", n/2), Data: fmt.Sprintf("d%d", n)}
	})
}

func aNode(id string) *rapid.Generator[*Node] {
	return rapid.Custom(func(t *rapid.T) *Node {
		n := &Node{Name: "node-" + id, Ready: rapid.Bool().Draw(t, "ready"), Cordoned: rapid.Bool().Draw(t, "cordoned"),
			Joined: now.Add(-time.Duration(rapid.IntRange(0, 9).Draw(t, "age")) * time.Hour)}
		if rapid.Bool().Draw(t, "draining") {
			n.Cordoned, n.DrainStarted = true, now.Add(-time.Duration(rapid.IntRange(0, 120).Draw(t, "drains"))*time.Second)
			n.Remaining = rapid.IntRange(0, 2).Draw(t, "remaining")
		}
		return n
	})
}

func anInstance(id string) *rapid.Generator[Instance] {
	return rapid.Custom(func(t *rapid.T) Instance {
		i := Instance{
			ID: id, ProviderID: "aws:///x/" + id, Zone: rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "zone"),
			Template: aTemplate().Draw(t, "template"), Marked: rapid.IntRange(0, 5).Draw(t, "marked") == 0,
			State: rapid.SampledFrom([]InstanceState{Running, Running, Running, Running, Pending, Failed, Terminating}).Draw(t, "state"),
		}
		if rapid.Bool().Draw(t, "born") {
			i.Created = now.Add(-time.Duration(rapid.IntRange(0, 5).Draw(t, "age")) * time.Hour)
		}
		if rapid.IntRange(0, 3).Draw(t, "joined") > 0 {
			i.Node = aNode(id).Draw(t, "node")
		}
		return i
	})
}

// aFleet is any observation that a cloud may give, sensible or not.
func aFleet() *rapid.Generator[Observed] {
	return rapid.Custom(func(t *rapid.T) Observed {
		o := Observed{Wanted: aTemplate().Draw(t, "wanted"), NodesUnknown: rapid.IntRange(0, 4).Draw(t, "away") == 0}
		o.Wanted.Ref = ""
		for k := range rapid.IntRange(0, 5).Draw(t, "versions") {
			v := aTemplate().Draw(t, "version")
			v.Ref, v.Fixed = fmt.Sprintf("lt:%d", 6-k), rapid.IntRange(0, 4).Draw(t, "fixed") == 0
			o.Versions = append(o.Versions, v)
		}
		if rapid.IntRange(0, 9).Draw(t, "group") == 0 {
			return o
		}
		for k := range rapid.IntRange(0, 12).Draw(t, "instances") {
			id := fmt.Sprintf("i-%d", k)
			o.Instances = append(o.Instances, anInstance(id).Draw(t, id))
			if o.NodesUnknown {
				o.Instances[k].Node = nil
			}
		}
		o.Group = &Group{
			ID: "arn", Size: max(0, len(o.Instances)+rapid.IntRange(-3, 3).Draw(t, "more")), Max: 10, Template: aTemplate().Draw(t, "launches").Ref,
			Drift:    rapid.SampledFrom([][]string{nil, nil, {"tags"}, {"spec.maxSize"}, {"spec.maxSize", "tags"}}).Draw(t, "drift"),
			Deleting: rapid.IntRange(0, 19).Draw(t, "deleting") == 0,
		}
		return o
	})
}

func aDesired() *rapid.Generator[Desired] {
	return rapid.Custom(func(t *rapid.T) Desired {
		d := wants(rapid.IntRange(0, 12).Draw(t, "replicas"))
		d.Min, d.Max = rapid.IntRange(0, 2).Draw(t, "min"), rapid.IntRange(2, 12).Draw(t, "max")
		d.External = rapid.IntRange(0, 5).Draw(t, "external") == 0
		d.Deleting = rapid.IntRange(0, 3).Draw(t, "deleting") == 0
		d.DeletePolicy = rapid.SampledFrom([]DeletePolicy{Oldest, Newest, Random, ""}).Draw(t, "policy")
		d.DrainTimeout = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "timeout")
		if rapid.IntRange(0, 5).Draw(t, "no drain") == 0 {
			d.NoDrain = &Cause{"ClusterDeleted", "x"}
		}
		if rapid.IntRange(0, 5).Draw(t, "held") == 0 {
			held(&d)
		}
		kinds := []StepKind{PutTemplate, CreateGroup, UpdateGroup, Resize, Drain, Undrain, Remove, PruneTemplates, DeleteGroup, DeleteTemplates}
		if rapid.Bool().Draw(t, "refusals") {
			refused(rapid.SliceOfNDistinct(rapid.SampledFrom(kinds), 1, 4, rapid.ID).Draw(t, "refused")...)(&d)
		}
		return d
	})
}

func copied(o Observed) Observed {
	o.Versions, o.Instances = slices.Clone(o.Versions), slices.Clone(o.Instances)
	for k, i := range o.Instances {
		if i.Node != nil {
			node := *i.Node
			o.Instances[k].Node = &node
		}
	}
	if o.Group != nil {
		group := *o.Group
		group.Drift = slices.Clone(group.Drift)
		o.Group = &group
	}
	return o
}

// Equal inputs give equal plans, and neither is changed by deciding.
func TestDecideIsPure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := aDesired().Draw(t, "desired"), aFleet().Draw(t, "observed")
		before := copied(o)
		first := Decide(d, o, traits, now)
		if !reflect.DeepEqual(o, before) {
			t.Fatalf("want the observation unchanged:\n%+v\n%+v", before, o)
		}
		if again := Decide(d, copied(before), traits, now); !reflect.DeepEqual(first, again) {
			t.Fatalf("want equal plans, got %s and %s", say(first), say(again))
		}
	})
}

// What no step of any plan ever does.
func TestStepsAreSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := aDesired().Draw(t, "desired"), aFleet().Draw(t, "observed")
		p := Decide(d, o, traits, now)
		if p.Step != nil {
			if fault := unsafeStep(d, o, traits, now, *p.Step); fault != "" {
				t.Fatalf("%s: %s", say(p), fault)
			}
		}
		if p.Gone && (o.Group != nil || len(o.Versions) > 0 || !d.Deleting) {
			t.Fatalf("want nothing said to be gone that is there, got %s", say(p))
		}
		if p.Step == nil && !p.Settled && !p.Gone && p.Refused == nil && len(p.Waiting) == 0 && waitsForNothing(o) {
			t.Fatalf("want to be told what is waited for, got nothing")
		}
	})
}

// waitsForNothing says that the group holds exactly what it should.
func waitsForNothing(o Observed) bool {
	return o.Group != nil && !slices.ContainsFunc(o.Instances, func(i Instance) bool { return i.State != Running }) && len(o.Instances) == o.Group.Size
}

// unsafeStep says what is wrong with a step, if anything.
func unsafeStep(d Desired, o Observed, tr Traits, now time.Time, s Step) string {
	if _, avoid := d.Avoid[s.Kind]; avoid {
		return "it was refused a moment ago"
	}
	if s.Cause.Reason == "" || s.Cause.Message == "" {
		return "it has no cause"
	}
	if o.Foreign != nil {
		return "the group is not ours"
	}
	there := map[string]Instance{}
	for _, i := range o.Instances {
		there[i.ID] = i
	}
	seen := map[string]bool{}
	for _, target := range s.Targets {
		i, ok := there[target.ID]
		switch {
		case !ok:
			return "it names " + target.ID + ", which does not exist"
		case seen[target.ID]:
			return "it names " + target.ID + " twice"
		case i.State == Terminating:
			return "it names " + target.ID + ", which goes anyway"
		case target.ProviderID != i.ProviderID || (i.Node == nil) != (target.Node == "") || i.Node != nil && i.Node.Name != target.Node:
			return "it says wrong things about " + target.ID
		case target.Cause.Reason == "":
			return "nothing says why " + target.ID
		}
		seen[target.ID] = true
	}
	return cmp.Or(unsafeRemoval(d, o, tr, now, s, there), unsafeSize(d, o, s), unsafePrune(o, s))
}

// unsafeRemoval holds what a removal and the deletion of a group may not do.
func unsafeRemoval(d Desired, o Observed, tr Traits, now time.Time, s Step, there map[string]Instance) string {
	if s.Kind != Remove && s.Kind != DeleteGroup {
		return ""
	}
	list := s.Targets
	if s.Kind == DeleteGroup {
		list = nil
		for _, i := range alive(o) {
			list = append(list, Target{ID: i.ID})
		}
	}
	for _, target := range list {
		node := there[target.ID].Node
		switch {
		case d.NoDrain != nil:
		case o.NodesUnknown:
			return "nobody knows what runs on " + target.ID
		case node == nil:
		case node.DrainStarted.IsZero():
			return target.ID + " is not drained"
		case node.Remaining > 0 && (d.DrainTimeout == 0 || now.Sub(node.DrainStarted) < d.DrainTimeout):
			return target.ID + " is not drained, and its time is not up"
		}
	}
	switch {
	case s.Kind == DeleteGroup && !d.Deleting:
		return "the pool stays"
	case s.Kind == Remove && d.External:
		return "somebody else sizes the group"
	case s.Kind == Remove && o.Group.Size-len(s.Targets) < d.Replicas:
		return "the group would be smaller than wanted"
	case s.Kind == Remove && len(s.Targets) > tr.RemoveBatch:
		return "it is more than the cloud takes"
	case s.Kind == Remove && len(s.Targets) == 0:
		return "it removes nothing"
	}
	return ""
}

// unsafeSize holds what a resize and an update may not do.
func unsafeSize(d Desired, o Observed, s Step) string {
	switch {
	case s.Kind == UpdateGroup && slices.Contains(s.Fields, d.MaxField) && d.Max < o.Group.Size:
		return "the cloud would choose machines by itself"
	case s.Kind != Resize:
		return ""
	case d.External:
		return "somebody else sizes the group"
	case s.Size < len(alive(o)) && s.Size < d.Max:
		return "the cloud would choose machines by itself"
	case s.Size < d.Replicas || s.Size > d.Max && s.Size >= o.Group.Size || s.Size == o.Group.Size:
		return fmt.Sprintf("a size of %d is not on the way from %d to %d", s.Size, o.Group.Size, d.Replicas)
	}
	return ""
}

// unsafePrune holds what must be kept.
func unsafePrune(o Observed, s Step) string {
	if s.Kind != PruneTemplates {
		return ""
	}
	kept := map[string]string{o.Group.Template: "the group launches from it", o.Latest().Ref: "it is the newest"}
	for _, i := range o.Instances {
		kept[i.Template.Ref] = "a machine was launched from it"
	}
	exists := map[string]bool{}
	for _, v := range o.Versions {
		exists[v.Ref] = true
		if v.Fixed {
			kept[v.Ref] = "it is fixed"
		}
	}
	for _, ref := range s.Refs {
		if why := kept[ref]; why != "" || !exists[ref] {
			return ref + " stays: " + cmp.Or(why, "it does not exist")
		}
	}
	return ""
}

// The choice is the one that is made one by one: each time the best of those that are left.
func TestVictimsAreChosenOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, o := aDesired().Draw(t, "desired"), aFleet().Draw(t, "observed")
		n := rapid.IntRange(0, len(alive(o))).Draw(t, "n")
		v := look(d, o, traits, now)
		_ = v.ordered()
		list, zones := slices.Clone(v.members), map[string]int{}
		for _, m := range list {
			zones[m.Zone]++
		}
		var want []string
		for range n {
			best := slices.MinFunc(list, func(a, b *member) int {
				return cmp.Or(cmp.Compare(v.rank(a), v.rank(b)), cmp.Compare(zones[b.Zone], zones[a.Zone]), byPolicy(d.DeletePolicy, a, b), cmp.Compare(a.ID, b.ID))
			})
			want = append(want, best.ID)
			zones[best.Zone]--
			list = slices.DeleteFunc(list, func(m *member) bool { return m == best })
		}
		if got := victims(d, o, n); !slices.Equal(got, want) {
			t.Fatalf("want %v, got %v", want, got)
		}
	})
}
