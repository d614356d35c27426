package bench

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
)

const (
	// fleetSettle is given to reads that follow a change, fleetRest is the time in which calls at rest are counted.
	fleetSettle, fleetRest = 10 * time.Minute, 20 * time.Minute
	// fleetShare is one of how many pools is scaled, to so many machines.
	fleetShare, fleetScaled = 5, size
	// manyPools is the number of pools in a large account, somePools that in an account of usual size. fleetWatched is the time for which
	// they are watched at rest.
	somePools, manyPools, fleetWatched = 40, 1000, time.Hour
)

// fleetSizes lists the measured numbers of pools.
var fleetSizes = []int{100, manyPools}

// fleetKinds lists the measured kinds of pools in order.
var fleetKinds = []fleetKind{
	fleetOf("AWSMachinePool", lab[*awsv1.MachinePoolSource]{cloud: amazon, driver: groups,
		spec: func(change string) *awsv1.MachinePoolSource { return source(instanceType(change), size) }}),
	fleetOf("AWSManagedMachinePool", lab[*awsv1.ManagedMachinePoolSource]{cloud: amazon, driver: plainNodegroups,
		spec:  func(change string) *awsv1.ManagedMachinePoolSource { return managed(change, true) },
		place: func(s *awsv1.ManagedMachinePoolSource, k int) { s.Cluster.EKSClusterName = eksCluster(k / eksGroups) }}),
	fleetOf("AzureMachinePool-uniform", scaleSets(azurev1.UniformOrchestrationMode, 1)),
	fleetOf("AzureMachinePool-flexible", scaleSets(azurev1.FlexibleOrchestrationMode, 1)),
	fleetOf("AzureManagedMachinePool", agentPools()),
	fleetOf("AzureASOManagedMachinePool", manifestPools()),
	fleetOf("GCPMachinePool", instanceGroups(gcpZoneA)),
	fleetOf("GCPManagedMachinePool", nodePools()),
	fleetOf("OCIMachinePool", instancePools()),
	fleetOf("OCIManagedMachinePool", okeNodePools()),
}

// fleetKind is a kind of pools of which many are measured.
type fleetKind struct {
	name string
	// inTurn is true if many pools are created in turn, and not measured in their creation.
	inTurn bool
	// life is the whole life of so many pools, rest what they cost when nothing moves.
	life func(t *testing.T, pools int) fleetLife
	rest func(t *testing.T, pools int, long time.Duration) phase
	// policed has their cost under policies.
	policed func(t *testing.T, pools int, long time.Duration, policies []client.Object) policedPhase
}

// fleetLife holds the measurements of the phases in the life of a fleet.
type fleetLife struct {
	create, rest, up, down, gone phase
}

func fleetOf[S any](name string, l lab[S]) fleetKind {
	return fleetKind{
		name: name, inTurn: l.together > 0,
		life: func(t *testing.T, pools int) (is fleetLife) {
			inFleet(t, l, pools, func(f *fleet[S]) { is = f.live() })
			return is
		},
		rest: func(t *testing.T, pools int, long time.Duration) (is phase) {
			inFleet(t, l, pools, func(f *fleet[S]) {
				f.makeInTurn()
				_ = f.idle(settle)
				is = f.idle(long)
			})
			return is
		},
		policed: func(t *testing.T, pools int, long time.Duration, policies []client.Object) (is policedPhase) {
			inFleet(t, l, pools, func(f *fleet[S]) { is = f.underPolicies(policies, long) })
			return is
		},
	}
}

// make creates all pools.
func (f *fleet[S]) make() phase {
	return f.ask("create", f.members, func(m *member[S]) { m.replicas = 1 })
}

// makeInTurn creates all pools, no more at a time than the lab has.
func (f *fleet[S]) makeInTurn() {
	for some := range slices.Chunk(f.members, cmp.Or(f.lab.together, len(f.members))) {
		f.ask("create", some, func(m *member[S]) { m.replicas = 1 })
	}
}

// live creates the pools, lets them rest, scales some of them up and down, and deletes all.
func (f *fleet[S]) live() (is fleetLife) {
	is.create = f.make()
	_ = f.idle(fleetSettle)
	is.rest = f.idle(fleetRest)
	some := f.members[:max(1, len(f.members)/fleetShare)]
	is.up = f.ask("scale up", some, func(m *member[S]) { m.replicas = fleetScaled })
	_ = f.idle(fleetSettle)
	is.down = f.ask("scale down", some, func(m *member[S]) { m.replicas = 1 })
	_ = f.idle(fleetSettle)
	is.gone = f.ask("delete", f.members, func(m *member[S]) { m.deleting = true })
	return is
}

// TestWorkersAreThoseOfAManager holds that a fleet has as many workers as a manager has by default.
func TestWorkersAreThoseOfAManager(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../manager/options.go")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("\tDefaultConcurrency = %d\n", workers); !strings.Contains(string(text), want) {
		t.Errorf("want %q in manager/options.go: a fleet has other workers than a manager", want)
	}
}

// BenchmarkFleet measures the life of many pools of one account in virtual time: the duration of each phase until the last pool has
// fulfilled its request (ready_s, scaleup_s, scaledown_s, delete_s) or lists that many machines (listed_s, scaleup_listed_s), and its cost.
// The clouds reject requests above their documented rates.
func BenchmarkFleet(b *testing.B) {
	for _, k := range fleetKinds {
		for _, pools := range fleetSizes {
			if k.inTurn && pools == manyPools {
				continue
			}
			name := fmt.Sprintf("%s/pools=%d", k.name, pools)
			b.Run(name, func(b *testing.B) {
				var is fleetLife
				for b.Loop() {
					is = inBubble(b, name, func(t *testing.T) fleetLife { return k.life(t, pools) })
				}
				is.report(b, pools)
			})
		}
	}
}

func (l fleetLife) report(b *testing.B, pools int) {
	each := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	if l.rest.writes > 0 {
		b.Errorf("want no write at rest, got %d: %v", l.rest.writes, l.rest.counts)
	}
	b.ReportMetric(each(l.rest.calls, l.rest.passes), "calls/pass")
	b.ReportMetric(float64(l.rest.calls)/l.rest.took.Minutes(), "calls/min")
	b.ReportMetric(each(l.create.calls, pools), "calls/create")
	b.ReportMetric(l.create.share(50).Seconds(), "ready_p50_s")
	b.ReportMetric(l.create.took.Seconds(), "ready_s")
	b.ReportMetric(l.create.listed.Seconds(), "listed_s")
	b.ReportMetric(l.up.took.Seconds(), "scaleup_s")
	b.ReportMetric(l.up.listed.Seconds(), "scaleup_listed_s")
	b.ReportMetric(float64(l.up.calls), "scaleup_calls")
	b.ReportMetric(l.down.took.Seconds(), "scaledown_s")
	b.ReportMetric(float64(l.down.calls), "scaledown_calls")
	b.ReportMetric(l.gone.took.Seconds(), "delete_s")
	b.ReportMetric(float64(l.gone.calls), "delete_calls")
	for name, p := range map[string]phase{"create": l.create, "rest": l.rest, "up": l.up, "down": l.down, "delete": l.gone} {
		b.Logf("%s: %s, %d passes, %d calls, %d writes, %v", name, p.took, p.passes, p.calls, p.writes, p.counts)
	}
}
