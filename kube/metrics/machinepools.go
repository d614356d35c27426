package metrics

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// collectTimeout is the time limit for a read from the cache; one that is not synchronized yet does not respond until then.
const collectTimeout = 2 * time.Second

// phases are all phases of a MachinePool.
var phases = []clusterv1.MachinePoolPhase{
	clusterv1.MachinePoolPhasePending, clusterv1.MachinePoolPhaseProvisioning, clusterv1.MachinePoolPhaseProvisioned,
	clusterv1.MachinePoolPhaseRunning,
	clusterv1.MachinePoolPhaseScalingUp, clusterv1.MachinePoolPhaseScalingDown, clusterv1.MachinePoolPhaseScaling,
	clusterv1.MachinePoolPhaseDeleting,
	clusterv1.MachinePoolPhaseFailed, clusterv1.MachinePoolPhaseUnknown,
}

// MachinePools exposes the status of MachinePools, read from the cache of the manager that runs their controller.
type MachinePools struct {
	mu      sync.Mutex
	readers map[int]client.Reader
	next    int
}

// NewMachinePools returns registered MachinePools. They expose nothing until Serve is called.
func NewMachinePools(r prometheus.Registerer) (*MachinePools, error) {
	m := &MachinePools{readers: map[int]client.Reader{}}
	if err := r.Register(m); err != nil {
		return nil, fmt.Errorf("register the metrics of MachinePools: %w", err)
	}
	return m, nil
}

// Serve exposes what the reader returns until the returned function is called.
func (m *MachinePools) Serve(r client.Reader) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	id := m.next
	m.readers[id] = r
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.readers, id)
	}
}

func replicasOf(what, help string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "machinepool", what+"_replicas"), help,
		[]string{"namespace", "cluster", "name"}, nil)
}

var (
	inPhase         = prometheus.NewDesc(namespace+"_machinepools", "MachinePools by phase.", []string{"phase"}, nil)
	wantedReplicas  = replicasOf("desired", "Desired machines of the MachinePool.")
	currentReplicas = replicasOf("current", "Machines that the MachinePool's infrastructure has.")
	readyReplicas   = replicasOf("ready", "Machines whose node is Ready.")
	availReplicas   = replicasOf("available", "Machines whose node has been Ready for minReadySeconds.")
	freshReplicas   = replicasOf("up_to_date", "Machines that are up to date: a rollout is complete when as many are as desired.")
)

// Describe sends the descriptions of the metrics.
func (m *MachinePools) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{inPhase, wantedReplicas, currentReplicas, readyReplicas, availReplicas, freshReplicas} {
		ch <- d
	}
}

// Collect sends the current status of the MachinePools. If the cache cannot be read, nothing is sent, which does not affect other metrics.
func (m *MachinePools) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	for _, r := range m.serving() {
		list := &clusterv1.MachinePoolList{}
		if err := r.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			continue
		}
		tellPools(ch, list.Items)
	}
}

func (m *MachinePools) serving() []client.Reader {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]client.Reader, 0, len(m.readers))
	for _, r := range m.readers {
		all = append(all, r)
	}
	return all
}

func tellPools(ch chan<- prometheus.Metric, all []clusterv1.MachinePool) {
	counted := map[clusterv1.MachinePoolPhase]int{}
	for i := range all {
		p := &all[i]
		counted[phaseOf(p)]++
		for _, is := range []struct {
			desc  *prometheus.Desc
			value *int32
		}{
			{wantedReplicas, p.Spec.Replicas}, {currentReplicas, p.Status.Replicas}, {readyReplicas, p.Status.ReadyReplicas},
			{availReplicas, p.Status.AvailableReplicas}, {freshReplicas, p.Status.UpToDateReplicas},
		} {
			// An unknown count is not sent: 0 would be another statement.
			if is.value != nil {
				ch <- prometheus.MustNewConstMetric(is.desc, prometheus.GaugeValue, float64(*is.value), p.Namespace, p.Spec.ClusterName, p.Name)
			}
		}
	}
	for _, phase := range phases {
		ch <- prometheus.MustNewConstMetric(inPhase, prometheus.GaugeValue, float64(counted[phase]), string(phase))
	}
}

// phaseOf returns the phase of a MachinePool, Pending before the first pass.
func phaseOf(p *clusterv1.MachinePool) clusterv1.MachinePoolPhase {
	if p.Status.Phase == "" {
		return clusterv1.MachinePoolPhasePending
	}
	return p.Status.GetTypedPhase()
}
