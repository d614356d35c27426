package manager

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/muster-project/muster/cloud"
	cloudmetrics "github.com/muster-project/muster/cloud/metrics"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/definitions"
	"github.com/muster-project/muster/kube/metrics"
	"github.com/muster-project/muster/pool"
)

// refused is a driver whose cloud refuses everything.
type refused struct{ cloud.Driver[int] }

func (refused) Observe(context.Context, cloud.Target[int]) (pool.Observed, error) {
	return pool.Observed{}, &cloud.Error{Kind: cloud.Throttled}
}

// everythingMeasured has a sample of each metric in the process's registry.
func everythingMeasured(t *testing.T) {
	t.Helper()
	drivers, err1 := driverMetrics()
	pools, err2 := poolMetrics()
	machinePools, err3 := machinePoolMetrics()
	compared, err4 := definitionMetric()
	gates, err5 := gateMetrics()
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		t.Fatal(err)
	}
	gates.Asked("prometheus", "Passed")
	gates.Count("Passed", 1)
	_, _ = cloudmetrics.Measured[int](refused{}, drivers, "Fake").Observe(t.Context(), cloud.Target[int]{})
	drivers.Done(wire.Call{}, wire.Result{Status: 200, Budgets: []wire.BudgetState{{Label: "reads"}}})
	drivers.Throttled(wire.Call{}, wire.Result{Status: 400})
	drivers.Done(wire.Call{}, wire.Result{Limited: true})
	now := time.Now()
	gone := pool.Instance{ID: "1", State: pool.Running, Node: &pool.Node{DrainStarted: now}}
	of := metrics.Pool{Kind: "Fake", Name: "p"}
	pools.Observe(metrics.Pass{Pool: of, Now: now, TokensEnd: now, Outcome: engine.Outcome{Seen: true, Started: true,
		Observed: pool.Observed{Instances: []pool.Instance{gone}},
		Plan:     pool.Plan{Step: &pool.Step{Kind: pool.Remove, Targets: []pool.InstanceRef{{ID: "1"}}}}}})
	t.Cleanup(func() { pools.Forget(of) })
	scheme, err := NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	n := ptr.To(int32(1))
	mp := &clusterv1.MachinePool{Spec: clusterv1.MachinePoolSpec{Replicas: n},
		Status: clusterv1.MachinePoolStatus{Replicas: n, ReadyReplicas: n, AvailableReplicas: n, UpToDateReplicas: n}}
	mp.Namespace, mp.Name = "default", "p"
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(mp).Build()
	t.Cleanup(machinePools.Serve(server))
	if _, err := (&definitions.Checker{Live: server, Metric: compared}).Look(t.Context(),
		"awsmachinepools.infrastructure.cluster.x-k8s.io"); err != nil {
		t.Fatal(err)
	}
}

// What a manager serves is named as Prometheus' own linter asks for, and what is ours is in the document, each with its
// labels: a metric that cannot be looked up is none.
func TestMetrics(t *testing.T) {
	everythingMeasured(t)
	problems, err := testutil.GatherAndLint(ctrlmetrics.Registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	text, err := os.ReadFile(filepath.Join("..", "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	served := map[string][]string{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "muster_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+l.GetName()+"`")
			for _, suffix := range []string{"", "_bucket", "_count", "_sum"} {
				served[f.GetName()+suffix] = append(served[f.GetName()+suffix], l.GetName())
			}
		}
		slices.Sort(labels)
		row := "| `" + f.GetName() + "` | " + strings.ToLower(f.GetType().String()) + " | " + strings.Join(labels, " ") + " |"
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/metrics.md: want a row that begins with %s", row)
		}
		ours = append(ours, f.GetName())
	}
	if rows := strings.Count(string(text), "\n| `muster_"); rows != len(ours) {
		t.Errorf("docs/metrics.md: want a row for each of %d metrics, got %d: %v", len(ours), rows, ours)
	}
	for _, file := range []string{"dashboard.json", "prometheusrule.yaml"} {
		queried(t, filepath.Join("..", "config", "metrics", "operator", file), served)
	}
}

// queried holds that the metrics and labels that a file's expressions select are served: served has the labels of each metric.
func queried(t *testing.T, file string, served map[string][]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	selectors := regexp.MustCompile(`(muster_[a-z_]+)(?:\{([^}]*)\})?`).FindAllStringSubmatch(strings.ReplaceAll(string(text), `\"`, `"`), -1)
	if len(selectors) < 10 {
		t.Errorf("%s: want expressions, got %v", file, selectors)
	}
	for _, s := range selectors {
		has, is := served[s[1]]
		if !is {
			t.Errorf("%s: %s is not served", file, s[1])
		}
		for _, l := range regexp.MustCompile(`([a-z_]+)[=!]`).FindAllStringSubmatch(s[2], -1) {
			if is && !slices.Contains(has, l[1]) {
				t.Errorf("%s: %s has no label %s, but %v", file, s[1], l[1], has)
			}
		}
	}
}
