package manager

import (
	"context"
	"fmt"
	"sync"

	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/muster-project/muster/kube/metrics"
	"github.com/muster-project/muster/kube/policy/gates/address"
	"github.com/muster-project/muster/kube/policy/gates/ask"
	"github.com/muster-project/muster/kube/policy/gates/asker"
	"github.com/muster-project/muster/kube/policy/gates/health"
)

// PolicyGates are what the gates of rollout policies may ask. The zero value allows neither a query nor a condition.
type PolicyGates struct {
	// Addresses of Prometheus.
	Addresses address.List
	// Kinds whose condition may be read.
	Kinds health.Kinds
}

// NewPolicyGates returns what the values of the flags address.Flag and health.Flag allow.
func NewPolicyGates(addresses, kinds []string) (PolicyGates, error) {
	list, err := address.Parse(addresses)
	if err != nil {
		return PolicyGates{}, err
	}
	of, err := health.Parse(kinds)
	return PolicyGates{Addresses: list, Kinds: of}, err
}

// gateMetrics are registered once for the process, however many managers it makes.
var gateMetrics = sync.OnceValues(func() (*metrics.Gates, error) { return metrics.NewGates(ctrlmetrics.Registry) })

// addGates has the gates asked that pools need, on the leader alone.
func (m *Manager) addGates(_ context.Context, o Options) error {
	counters, err := gateMetrics()
	if err != nil {
		return err
	}
	one := ask.Asker{Live: m.GetAPIReader(), Mapper: m.GetRESTMapper(), SecretNamespace: o.IdentityNamespace,
		Addresses: o.PolicyGates.Addresses, Kinds: o.PolicyGates.Kinds}
	m.gates = asker.New(one.Ask, counters)
	if err := m.Add(m.gates); err != nil {
		return fmt.Errorf("ask the gates of rollout policies: %w", err)
	}
	return nil
}
