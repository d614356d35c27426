package manager

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/muster-project/muster/kube/definitions"
	"github.com/muster-project/muster/providers/all"
)

// definitionPeriod is the time between two looks at the definitions of the kinds.
const definitionPeriod = 30 * time.Second

var definitionMetric = sync.OnceValues(func() (*definitions.Metric, error) { return definitions.NewMetric(ctrlmetrics.Registry) })

// kinds are the definitions that decide what this manager runs, as they were when it was set up.
type kinds struct {
	*definitions.Checker
	// run are the kinds whose controllers were added, waiting those whose version is not served.
	run, waiting []schema.GroupVersionKind
	// elsewhere are the definitions that another provider's webhook converts: their authority is not Muster's to write.
	elsewhere []string
}

// addDefinitions prepares the comparison of definitions.
func (m *Manager) addDefinitions(ctx context.Context, o Options) error {
	metric, err := definitionMetric()
	if err != nil {
		return err
	}
	conversion := definitions.Conversion{Converted: all.Converted()}
	if o.Certificates != nil {
		conversion.Service = o.Certificates.DNSName
	}
	m.kinds = kinds{Checker: &definitions.Checker{Cached: m.GetClient(), Live: m.GetAPIReader(), Conversion: conversion, Metric: metric}}
	for _, name := range conversion.Converted {
		is, err := m.kinds.Look(ctx, name)
		if err != nil {
			return err
		}
		if is.ConvertedElsewhere {
			m.kinds.elsewhere = append(m.kinds.elsewhere, name)
		}
	}
	if err := m.Add(everywhere{m.watchDefinitions}); err != nil {
		return fmt.Errorf("add the watch of definitions: %w", err)
	}
	return nil
}

// serves reports whether a kind can be watched. One whose version is not served is noted.
func (m *Manager) serves(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	if kind.Empty() {
		return true, nil
	}
	is, err := m.kinds.LookAt(ctx, kind.GroupKind())
	if err != nil {
		return false, err
	}
	if !is.Serves(kind.Version) {
		ctrl.Log.Info("the controller is not set up, because its kind is not served", "kind", kind)
		m.kinds.waiting = append(m.kinds.waiting, kind)
		return false, nil
	}
	m.kinds.run = append(m.kinds.run, kind)
	return true, nil
}

// watchDefinitions compares the definitions again and again. It ends the manager when one that decided what was set up has changed: the
// process that is started in its place sets up what is served now.
func (m *Manager) watchDefinitions(ctx context.Context) error {
	if !m.GetCache().WaitForCacheSync(ctx) {
		return nil
	}
	tick := time.NewTicker(definitionPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := m.kinds.changed(ctx); err != nil {
			return err
		}
	}
}

// changed returns an error that names a definition whose change asks for another setup. What can't be read has not changed.
func (k kinds) changed(ctx context.Context) error {
	for _, kind := range slices.Concat(k.run, k.waiting) {
		is, err := k.Check(ctx, kind.GroupKind())
		if err != nil {
			ctrl.Log.Error(err, "compare the definition", "kind", kind)
			continue
		}
		if slices.Contains(k.waiting, kind) && is.Serves(kind.Version) {
			return fmt.Errorf("%s is served now: the manager ends, so that it is set up with the next start", kind)
		}
		if slices.Contains(k.Conversion.Converted, is.Name) && is.ConvertedElsewhere != slices.Contains(k.elsewhere, is.Name) {
			return fmt.Errorf("CustomResourceDefinition %s is converted by another service than before: the manager ends, so that it is set up "+
				"with the next start", is.Name)
		}
	}
	return nil
}
