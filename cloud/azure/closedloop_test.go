package azure_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/azure"
	"github.com/muster-project/muster/pool"
)

var update = flag.Bool("update", false, "write the table in docs/azure-rollouts.md anew")

// rollout is one row of the table that was made by running the algorithm in use today against a toy scale set.
type rollout struct {
	name, today string
	n           int
	d           pool.Desired
	change      func(*azurev1.AzureMachinePoolSpec)
	// bad is true if machines of the change never join; then is a further change, of which they do.
	bad  bool
	then func(*azurev1.AzureMachinePoolSpec)
	// want is the expected result, in both modes: created and deleted machines, the minimum that serve and the maximum that exist, the
	// requests that change the scale set, the requests that remove machines, and the final state.
	want string
}

func desired(n int, surge, unavailable pool.IntOrPercent, changes ...func(*pool.Desired)) pool.Desired {
	d := pool.Desired{
		Replicas: n, Max: 1000, DeletePolicy: pool.Oldest, Seed: "0f6f8d5e-owner", MinField: "min", MaxField: "max",
		Strategy: &pool.Strategy{MaxSurge: surge, MaxUnavailable: unavailable, SurgeField: "spec.strategy.rollingUpdate.maxSurge",
			UnavailableField: "spec.strategy.rollingUpdate.maxUnavailable"},
	}
	for _, change := range changes {
		change(&d)
	}
	return d
}

func number(n int) pool.IntOrPercent  { return pool.IntOrPercent{Value: n} }
func percent(n int) pool.IntOrPercent { return pool.IntOrPercent{Value: n, Percent: true} }

// The changes that are rolled out.
func otherImage(s *azurev1.AzureMachinePoolSpec) {
	s.Template.Image = &azurev1.Image{ComputeGallery: &azurev1.AzureComputeGalleryImage{
		Gallery: "ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019", Name: "capi-ubun2-2404", Version: "1.34.2",
	}}
}

func thirdImage(s *azurev1.AzureMachinePoolSpec) {
	otherImage(s)
	s.Template.Image.ComputeGallery.Version = "1.34.3"
}

func otherSize(s *azurev1.AzureMachinePoolSpec) { s.Template.VMSize = "Standard_D4s_v3" }

func rollouts() []rollout {
	newest := func(d *pool.Desired) { d.DeletePolicy = pool.Newest }
	skip := func(d *pool.Desired) { d.SkipModel = true }
	external := func(d *pool.Desired) { d.ReplicasManagedExternally = true }
	return []rollout{
		{"Uniform, 3 replicas, surge 1, unavailable 0, Oldest", "done: 3 PUT, 3 made, 3 gone, 3 to 4", 3, desired(3, number(1), number(0)),
			otherImage, false, nil, "3 made, 3 gone, 3 to 4, 4 PATCH, 3 removals, Done"},
		{"Uniform, 3 replicas, surge 1, unavailable 0, Newest", "done: 3 PUT, 3 made, 3 gone, 3 to 4", 3,
			desired(3, number(1), number(0), newest), otherImage, false, nil, "3 made, 3 gone, 3 to 4, 4 PATCH, 3 removals, Done"},
		{"Uniform, surge 0, unavailable 1", "done: 4 PUT, 2 to 3", 3, desired(3, number(0), number(1)), otherImage, false, nil,
			"3 made, 3 gone, 2 to 3, 4 PATCH, 3 removals, Done"},
		{"Uniform, 10 replicas, surge 25 %, unavailable 1", "done: 7 PUT, **12 made, 12 gone** (2 brand-new ones wasted), 9 to 13", 10,
			desired(10, percent(25), number(1)), otherImage, false, nil, "10 made, 10 gone, 9 to 13, 7 PATCH, 7 removals, Done"},
		{"Uniform, 10, surge 100 %", "done: 1 PUT, 10 to 20", 10, desired(10, percent(100), number(0)), otherImage, false, nil,
			"10 made, 10 gone, 10 to 20, 2 PATCH, 2 removals, Done"},
		{"unavailable 5 > desired 3, surge 0", "all three gone at once, 0 serve", 3, desired(3, number(0), number(5)), otherImage, false, nil,
			"3 made, 3 gone, 0 to 3, 2 PATCH, 1 removals, Done"},
		{"surge \"0%\", unavailable 0", "taken, and **never rolls**; PUT once", 3, desired(3, percent(0), percent(0)), otherImage, false, nil,
			"0 made, 0 gone, 3 to 3, 1 PATCH, 0 removals, None: StrategyInvalid"},
		{"bad image, surge 1, unavailable 0", "stops at 3 old and 1 new, **for ever and without a word**", 3, desired(3, number(1), number(0)),
			otherImage, true, thirdImage, "1 made, 0 gone, 3 to 4, 2 PATCH, 0 removals, Halted: RolloutHalted; then good: Done"},
		{"bad image, surge 1, unavailable 1", "stops at 2 old and 2 new", 3, desired(3, number(1), number(1)), otherImage, true, thirdImage,
			"2 made, 1 gone, 2 to 4, 3 PATCH, 1 removals, Halted: RolloutHalted; then good: Done"},
		{"bad image, surge 0, unavailable 1", "stops at 2 old and 1 new; a third, good image does **not** recover", 3,
			desired(3, number(0), number(1)), otherImage, true, thirdImage,
			"1 made, 1 gone, 2 to 3, 2 PATCH, 1 removals, Halted: RolloutHalted; then good: Done"},
		{"Flexible, list with images, surge 1, unavailable 0", "**stalls** at 2 old and 1 new", 3, desired(3, number(1), number(0)), otherImage,
			false, nil, "3 made, 3 gone, 3 to 4, 4 PATCH, 3 removals, Done"},
		{"Flexible, list with images, surge 1, unavailable 1", "done; surplus comes back by a plain scale-up alone", 3,
			desired(3, number(1), number(1)), otherImage, false, nil, "3 made, 3 gone, 2 to 4, 4 PATCH, 3 removals, Done"},
		{"Flexible, list without images, unavailable 0", "the replacement is removed: **0 of 3 rolled**, for ever", 3,
			desired(3, number(1), number(0)), otherImage, false, nil, "3 made, 3 gone, 3 to 4, 4 PATCH, 3 removals, Done"},
		{"Flexible, list without images, unavailable 1", "**endless**: 20 PUT, 20 made, 21 gone in 60 rounds", 3,
			desired(3, number(1), number(1)), otherImage, false, nil, "3 made, 3 gone, 2 to 4, 4 PATCH, 3 removals, Done"},
		{"GATE Uniform Oldest surge 1", "**everything replaced** in spite of the gate", 3, desired(3, number(1), number(0), skip), otherImage,
			false, nil, "0 made, 0 gone, 3 to 3, 1 PATCH, 0 removals, Done"},
		{"GATE Uniform Newest surge 1", "**endless**: 20 made, 20 gone, no progress", 3, desired(3, number(1), number(0), skip, newest),
			otherImage, false, nil, "0 made, 0 gone, 3 to 3, 1 PATCH, 0 removals, Done"},
		{"GATE Uniform surge 0 unavailable 1", "stale ones stay", 3, desired(3, number(0), number(1), skip), otherImage, false, nil,
			"0 made, 0 gone, 3 to 3, 1 PATCH, 0 removals, Done"},
		{"image change + 5→3", "done; one machine removed by Azure **without a drain**", 5, desired(3, number(1), number(0)), otherImage, false,
			nil, "3 made, 5 gone, 3 to 5, 4 PATCH, 4 removals, Done"},
		{"image change + 3→5", "done, at most 6", 3, desired(5, number(1), number(0)), otherImage, false, nil,
			"5 made, 3 gone, 3 to 6, 4 PATCH, 3 removals, Done"},
		{"image change, externally managed, 5 machines, MachinePool still 3",
			"**PUT with a capacity of 3: two gone without a drain**; nothing rolls", 5, desired(3, number(1), number(0), external), otherImage,
			false, nil, "5 made, 5 gone, 5 to 6, 12 PATCH, 5 removals, Done"},
		{"vmSize changed, surge 1", "1 new machine; **the others keep the old size for ever**", 3, desired(3, number(1), number(0)), otherSize,
			false, nil, "3 made, 3 gone, 3 to 4, 4 PATCH, 3 removals, Done"},
	}
}

// play is a rollout as it goes on: the planner with the real driver against the simulated Azure, and nodes that are made up.
type play struct {
	w      *world
	target azure.Target
	d      pool.Desired
	// bad are contents whose machines never join.
	bad map[string]bool
	// known are the machines that were seen, served those whose node was Ready, left those that are on their way out or gone; drains
	// says when each was begun to be drained.
	known, served, left map[string]bool
	drains              map[string]time.Time
	// keeps is true if the object keeps what an observation says is to be remembered.
	keeps bool
	// tolerant is true if looks and steps may be refused.
	tolerant bool
	// lowest and highest are the least machines that served and the most that existed.
	lowest, highest int
}

const (
	passEvery = 30 * time.Second
	joinsIn   = 3 * time.Minute
	// maxPasses is more than any row takes.
	maxPasses = 500
	// quietPasses in a row without a step are rest.
	quietPasses = 10
)

// look observes, counts, and gives machines their nodes.
func (p *play) look() pool.Observed {
	p.w.t.Helper()
	o := p.w.observe(p.target)
	p.count(&o)
	return o
}

// count counts, and gives machines their nodes.
func (p *play) count(o *pool.Observed) {
	p.w.t.Helper()
	if p.keeps {
		p.target = kept(p.target, *o)
	}
	now, there := time.Now(), map[string]bool{}
	serving, exist := 0, 0
	for k := range o.Instances {
		i := &o.Instances[k]
		there[i.ID] = true
		p.known[i.ID] = true
		if i.State == pool.Terminating {
			p.goes(i.ID)
			continue
		}
		exist++
		joined := i.Created.Add(joinsIn)
		if i.State != pool.Running || p.bad[i.Template.Content] || now.Before(joined) {
			continue
		}
		p.served[i.ID] = true
		i.Node = &pool.Node{Name: "node-" + i.ID, Joined: joined, Ready: true, ReadySince: joined.Add(time.Second)}
		if at, ok := p.drains[i.ID]; ok {
			i.Node.Cordoned, i.Node.DrainStarted = true, at
			continue
		}
		serving++
	}
	for id := range p.known {
		if !there[id] {
			p.goes(id)
		}
	}
	p.lowest, p.highest = min(p.lowest, serving), max(p.highest, exist)
}

// goes notes that a machine leaves, and reports one that served and was not drained.
func (p *play) goes(id string) {
	if _, drained := p.drains[id]; !p.left[id] && !drained && p.served[id] {
		p.w.t.Errorf("machine %s has gone without a drain", id)
	}
	p.left[id] = true
}

// pass is one pass of the engine.
func (p *play) pass() pool.Plan {
	p.w.t.Helper()
	var plan pool.Plan
	o, err := p.w.driver.Observe(p.w.t.Context(), p.target)
	switch {
	case err == nil:
		p.count(&o)
		plan = pool.Decide(p.d, o, p.w.driver.Traits(), time.Now())
	case !p.tolerant:
		p.w.t.Fatalf("observe: %v", err)
	}
	if s := plan.Step; s != nil {
		p.do(*s)
	}
	<-time.After(passEvery)
	synctest.Wait()
	return plan
}

func (p *play) do(s pool.Step) {
	p.w.t.Helper()
	switch s.Kind {
	case pool.Drain:
		for _, t := range s.Targets {
			p.drains[t.ID] = time.Now()
		}
	case pool.Undrain:
		for _, t := range s.Targets {
			delete(p.drains, t.ID)
		}
	default:
		var refused *cloud.Error
		if err := p.w.driver.Start(p.w.t.Context(), p.target, s); err != nil && !p.tolerant &&
			(!errors.As(err, &refused) || refused.Kind != cloud.Conflict) {
			p.w.t.Errorf("start %s: %v", s.Kind, err)
		}
	}
}

// run makes passes until nothing happens any more.
func (p *play) run() pool.Plan {
	p.w.t.Helper()
	var plan pool.Plan
	quiet := 0
	for range maxPasses {
		plan = p.pass()
		if plan.Step != nil || plan.Rollout.State == pool.RolloutInProgress || !plan.Next.IsZero() {
			quiet = 0
			continue
		}
		if quiet++; quiet >= quietPasses {
			return plan
		}
	}
	p.w.t.Errorf("want rest after %d passes, got %+v", maxPasses, plan)
	return plan
}

func newPlay(w *world, target azure.Target, d pool.Desired) *play {
	return &play{
		w: w, target: target, d: d, bad: map[string]bool{}, known: map[string]bool{}, served: map[string]bool{}, left: map[string]bool{},
		drains: map[string]time.Time{}, lowest: d.Replicas,
	}
}

// of plays a rollout and returns its result.
func (r rollout) of(w *world) string {
	w.t.Helper()
	p := newPlay(w, w.aTarget(), r.d)
	w.create(p.target, r.n)
	// Everybody joins, and is protected.
	p.d.Replicas = r.n
	p.run()
	p.d.Replicas, p.lowest, p.highest = r.d.Replicas, r.n, r.n
	before := len(p.known)
	p.target = with(p.target, r.change)
	if r.bad {
		p.bad[w.observe(p.target).Wanted.Content] = true
	}
	var plan pool.Plan
	calls := w.wire.during(func() { plan = p.run() })
	text := fmt.Sprintf("%d made, %d gone, %d to %d, %d PATCH, %d removals, %s", len(p.known)-before, len(p.left), p.lowest, p.highest,
		count(calls, "VirtualMachineScaleSets.Update"), count(calls, "VirtualMachineScaleSets.DeleteInstances"), plan.Rollout.State)
	if reason := plan.Rollout.Cause.Reason; reason != "" {
		text += ": " + reason
	}
	if r.then != nil {
		p.target = with(p.target, r.then)
		text += "; then good: " + string(p.run().Rollout.State)
	}
	return text
}

func count(calls []string, of string) int {
	n := 0
	for _, c := range calls {
		if strings.HasSuffix(c, ":"+of) {
			n++
		}
	}
	return n
}

// The rows of the table of what is known of the algorithm in use today, each with what becomes of it here, in both modes. The table is
// in docs/azure-rollouts.md.
func TestClosedLoop(t *testing.T) {
	if testing.Short() {
		t.Skip("rolls whole scale sets: left out with -short")
	}
	for _, r := range rollouts() {
		t.Run(r.name, func(t *testing.T) {
			inModes(t, func(t *testing.T, w *world) {
				if got := r.of(w); got != r.want {
					t.Errorf("want %s, got %s", r.want, got)
				}
			})
		})
	}
}

// The table in the document is the one that the test above holds.
func TestClosedLoopTable(t *testing.T) {
	const file, begins, ends = "../../docs/azure-rollouts.md", "<!-- closed loops -->\n", "<!-- end of closed loops -->\n"
	var table strings.Builder
	table.WriteString(begins + "\n| Setting (all on a change of the image, unless it says another) | Today | Muster, Uniform and Flexible " +
		"|\n| --- | --- | --- |\n")
	for _, r := range rollouts() {
		fmt.Fprintf(&table, "| %s | %s | %s |\n", r.name, r.today, r.want)
	}
	table.WriteString("\n" + ends)
	t.Log("\n" + table.String())
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begins)
	_, tail, end := strings.Cut(rest, ends)
	if !ok || !end {
		t.Fatalf("want the table between %q and %q", begins, ends)
	}
	want := head + table.String() + tail
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != want {
		t.Errorf("the table of %s is not what the rollouts are: run go test ./cloud/azure -run TestClosedLoopTable -args -update", file)
	}
}
