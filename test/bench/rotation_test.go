package bench

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/test/testrun"
)

const (
	// rotationPools share an account whose tokens are rotated together.
	rotationPools = 300
	// rotationTakes bounds the rotation of all of them, operationBegins the time until what a user asks for meanwhile has begun.
	rotationTakes, operationBegins = 3 * time.Minute, 10 * time.Second
)

// rotationLife holds the measurements of a token rotation in one account during which the process is killed.
type rotationLife struct {
	// took is the time until the tokens of all pools were rotated. begun holds the delay of each operation that a user requested meanwhile.
	took  time.Duration
	begun map[string]time.Duration
	// failed counts looks after which a pool was Unknown, made the machines that were launched meanwhile.
	failed, made int
}

// BenchmarkRotation rotates the tokens of all pools of one account at once and kills the process in the middle of it, in virtual time.
func BenchmarkRotation(b *testing.B) {
	name := fmt.Sprintf("AWSMachinePool/pools=%d", rotationPools)
	b.Run(name, func(b *testing.B) {
		var is rotationLife
		for b.Loop() {
			is = inBubble(b, name, func(t *testing.T) rotationLife { return rotate(t, rotationPools) })
		}
		b.ReportMetric(is.took.Seconds(), "rotation_s")
		b.ReportMetric(float64(is.failed), "failed_looks")
		for what, wait := range is.begun {
			b.ReportMetric(wait.Seconds(), what+"_begun_s")
		}
		for _, fault := range is.faults() {
			b.Error(fault)
		}
	})
}

// TestLongRotation holds what BenchmarkRotation measures: while the tokens of all pools of an account are rotated and the process is killed
// in the middle of it, what users ask for begins at once, no pool turns unknown, and no machine is replaced.
func TestLongRotation(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	is := rotate(t, rotationPools)
	t.Logf("rotated in %s, begun %v", is.took, is.begun)
	for _, fault := range is.faults() {
		t.Error(fault)
	}
}

// faults lists the violations of a rotation.
func (r rotationLife) faults() (list []string) {
	for what, wait := range r.begun {
		if wait <= 0 || wait > operationBegins {
			list = append(list, fmt.Sprintf("%s: want what the user asked for begun within %s, got %s", what, operationBegins, wait))
		}
	}
	if r.took > rotationTakes || r.failed > 0 {
		list = append(list, fmt.Sprintf("want the rotation done within %s and no pool unknown, got %s and %d looks that failed", rotationTakes,
			r.took, r.failed))
	}
	if r.made != 1 {
		list = append(list, fmt.Sprintf("want one machine made, for the user who scaled out, got %d", r.made))
	}
	return list
}

// rotate makes so many pools of two machines, rotates their tokens and kills the process; three users change their pools then.
func rotate(t *testing.T, pools int) (is rotationLife) {
	l := lab[*awsv1.MachinePoolSource]{cloud: amazon, driver: groups,
		spec: func(change string) *awsv1.MachinePoolSource { return source(instanceType(change), size) }}
	is.begun = map[string]time.Duration{}
	inFleet(t, l, pools, func(f *fleet[*awsv1.MachinePoolSource]) {
		f.ask("create", f.members, func(m *member[*awsv1.MachinePoolSource]) { m.replicas = 2 })
		_ = f.idle(fleetSettle)
		machines := f.nodes.made()
		f.mu.Lock()
		for k, m := range f.members {
			m.failed = 0
			m.target.Bootstrap = cloud.NewBootstrap(fmt.Appendf(nil, "#cloud-config\n# %d\n", k), "cloud-config")
		}
		f.mu.Unlock()
		began := time.Now()
		f.wakeAll()
		time.Sleep(5 * time.Second)
		f.kill()
		users := map[string]*member[*awsv1.MachinePoolSource]{"scalein": f.members[pools-1], "delete": f.members[pools/2],
			"scaleout": f.members[0]}
		f.ask("users", slices.Collect(maps.Values(users)), func(m *member[*awsv1.MachinePoolSource]) {
			switch m {
			case users["scalein"]:
				m.replicas = 1
			case users["delete"]:
				m.deleting = true
			default:
				m.replicas = 3
			}
		})
		for what, m := range users {
			is.begun[what] = m.begun.Sub(m.requested)
		}
		for f.behind() > 0 && time.Since(began) < time.Hour {
			time.Sleep(time.Second)
		}
		is.took, is.made = time.Since(began), f.nodes.made()-machines
		for _, m := range f.members {
			is.failed += m.failed
		}
	})
	return is
}

// wakeAll has all pools looked at, as a start of the process does.
func (f *fleet[S]) wakeAll() {
	for _, m := range f.members {
		f.queue.Add(m)
	}
}

// kill replaces the process: all that it remembers is lost, and all pools are looked at.
func (f *fleet[S]) kill() {
	d, err := f.lab.driver(f.way)
	if err != nil {
		f.t.Fatal(err)
	}
	f.mu.Lock()
	f.engine = engine.New(d, engine.Options{})
	f.mu.Unlock()
	f.wakeAll()
}

// behind counts the pools that launch from other bootstrap data than they should.
func (f *fleet[S]) behind() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if m.deleting {
			continue
		}
		if from := m.last.Observed.LaunchesFrom(); len(from) == 0 || from[0].Data != m.target.Bootstrap.Hash() {
			n++
		}
	}
	return n
}
