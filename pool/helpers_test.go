package pool

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain keeps rapid from writing files into the source tree: the seed that it prints replays a failure as well.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// now is the moment of every table.
var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// It is a cloud of no special gifts.
var traits = Traits{Group: "Auto Scaling group", Template: "launch template", RemoveBatch: 3, CanCancelRollout: true,
	ReplaceKeepsSize: true, RecordsSurge: true}

// version is the template version of a number.
func version(n int, content, data string) Template {
	return Template{Ref: fmt.Sprintf("lt:%d", n), Content: "v1:" + content, Data: data}
}

// wants is a pool of so many machines within 0 and 10.
func wants(n int, change ...func(*Desired)) Desired {
	d := Desired{Replicas: n, Max: 10, MinField: "spec.minSize", MaxField: "spec.maxSize", DeletePolicy: Oldest}
	for _, c := range change {
		c(&d)
	}
	return d
}

// fleet is a group that is as its specification asks for, with the given machines.
func fleet(list []Instance, change ...func(*Observed)) Observed {
	v := version(1, "a", "d")
	o := Observed{
		Wanted: Template{Content: v.Content, Data: v.Data}, Versions: []Template{v}, Instances: list,
		Group: &Group{ID: "arn", Size: len(list), Max: 10, Template: v.Ref},
	}
	for _, c := range change {
		c(&o)
	}
	return o
}

// machine runs and is Ready; its age is in hours, so that a higher one is older.
func machine(id string, age int, change ...func(*Instance)) Instance {
	i := Instance{
		ID: id, ProviderID: "aws:///a/" + id, Zone: "a", Template: version(1, "a", "d"), State: Running,
		Created: now.Add(-time.Duration(age) * time.Hour),
		Node:    &Node{Name: "node-" + id, Ready: true, Joined: now.Add(-time.Duration(age) * time.Hour)},
	}
	for _, c := range change {
		c(&i)
	}
	return i
}

// serving are n machines i-1, i-2 ..., the first one the oldest.
func serving(n int, change ...func(*Instance)) []Instance {
	var list []Instance
	for k := range n {
		list = append(list, machine(fmt.Sprintf("i-%d", k+1), n-k, change...))
	}
	return list
}

// The changes of one machine, named as a person would say them.
func marked(i *Instance)    { i.Marked = true }
func failed(i *Instance)    { i.State = Failed }
func leaving(i *Instance)   { i.State = Terminating }
func unready(i *Instance)   { i.Node.Ready = false }
func notJoined(i *Instance) { i.Node = nil }
func beingBorn(i *Instance) { i.State, i.Node = Pending, nil }

// drainAge sets how long ago the drain has started.
func drainAge(d time.Duration) func(*Instance) {
	return func(i *Instance) { i.Node.DrainStarted = now.Add(-d) }
}

func drainedNode(i *Instance) { i.Node.Cordoned, i.Node.DrainStarted = true, now.Add(-time.Minute) }
func drainingNode(i *Instance) {
	drainedNode(i)
	i.Node.Remaining = 2
}
func detachingNode(i *Instance)      { i.Node.Detaching = 1 }
func in(zone string) func(*Instance) { return func(i *Instance) { i.Zone = zone } }
func from(v Template) func(*Instance) {
	return func(i *Instance) { i.Template = v }
}

// say puts a plan into one line that a table can hold.
func say(p Plan) string {
	var parts []string
	if s := p.Step; s != nil {
		text := string(s.Kind)
		if s.Kind == CreateGroup || s.Kind == Resize {
			text += fmt.Sprintf(" to %d", s.Size)
		}
		if s.Template != "" && len(s.Fields) == 0 {
			text += " of " + s.Template
		}
		for _, part := range [][2]string{{"after", s.Base}, {"fields", strings.Join(s.Fields, " ")}, {"refs", strings.Join(s.Refs, " ")}} {
			if part[1] != "" {
				text += " " + part[0] + " " + part[1]
			}
		}
		if s.ReplaceMatching {
			text += " every"
		}
		for _, t := range s.Targets {
			text += " " + t.ID
		}
		parts = append(parts, text+" ("+s.Cause.Reason+")")
	}
	if p.Refused != nil {
		parts = append(parts, "refused "+p.Refused.Reason)
	}
	for _, w := range p.Waiting {
		parts = append(parts, "waiting "+w.Reason)
	}
	if p.Quiescent {
		parts = append(parts, "settled")
	}
	if p.DeletionComplete {
		parts = append(parts, "gone")
	}
	return strings.Join(parts, ", ")
}

// alive are the instances that are not on their way out.
func alive(o Observed) []Instance {
	return slices.DeleteFunc(slices.Clone(o.Instances), func(i Instance) bool { return i.State == Terminating })
}

// chosen returns the selection of a decision.
func chosen(d Desired, o Observed) *selection {
	return newSelection(newBudget(newRollout(classifyInstances(newInputs(d, o, traits, now)))))
}

// victims are the first n that would go, by ID.
func victims(d Desired, o Observed, n int) []string {
	v := emptySelection(newBudget(newRollout(classifyInstances(newInputs(d, o, traits, now)))))
	v.queue = v.ordered()
	var ids []string
	for _, m := range v.firstCounted(n) {
		ids = append(ids, m.ID)
	}
	return ids
}

// surged has so many of its size added for a rollout.
func surged(n int) func(*Observed) { return func(o *Observed) { o.Group.Surge = n } }

// unlimited is a pool whose groups have no limits of their own.
func unlimited(d *Desired) { d.Min, d.Max, d.MinField, d.MaxField = 0, 0, "", "" }

func percent(n int) IntOrPercent { return IntOrPercent{Value: n, Percent: true} }

// by is a pool whose strategy allows so much.
func by(surge, unavailable IntOrPercent) func(*Desired) {
	return func(d *Desired) {
		d.Strategy = &Strategy{MaxSurge: surge, MaxUnavailable: unavailable, SurgeField: "spec.strategy.rollingUpdate.maxSurge",
			UnavailableField: "spec.strategy.rollingUpdate.maxUnavailable"}
	}
}

// rolls allows so many machines more and less than wanted.
func rolls(surge, unavailable int) func(*Desired) {
	return by(IntOrPercent{Value: surge}, IntOrPercent{Value: unavailable})
}

func rolling25(d *Desired) { by(percent(25), IntOrPercent{Value: 1})(d) }

// newTemplate has had the group pointed at a template of another content.
func newTemplate(o *Observed) {
	o.Versions = append([]Template{version(2, "b", "d")}, o.Versions...)
	o.Wanted.Content, o.Group.Template = "v1:b", "lt:2"
}

// current instances are of the new template.
func current(i *Instance) { i.Template = version(2, "b", "d") }

// plannedSurge is the account of a surge that the next size brings.
func plannedSurge(surge, size int) func(*Observed) {
	return func(o *Observed) { o.Group.SurgePlanned = PlannedSurge{Surge: surge, Size: size} }
}
