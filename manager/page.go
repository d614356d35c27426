package manager

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/muster-project/muster/kube/infrapool/preview"
	"github.com/muster-project/muster/kube/metrics"
	"github.com/muster-project/muster/manager/page"
	"github.com/muster-project/muster/providers/all"
	"github.com/muster-project/muster/view/memory"
	viewpage "github.com/muster-project/muster/view/page"
	"github.com/muster-project/muster/view/plan"
)

// addPage adds the web page, which shows what the passes of this process have seen.
func (m *Manager) addPage(_ context.Context, o Options) error {
	if o.Page.BindAddress == "" {
		return nil
	}
	seen := memory.New()
	key := func(p metrics.Pool) memory.Key { return memory.Key{Kind: p.Kind, Namespace: p.Namespace, Name: p.Name} }
	m.pools.Follow(metrics.Follower{
		Observe: func(p metrics.Pass) { seen.Observe(key(p.Pool), p.Outcome, p.Now) },
		Forget:  func(p metrics.Pool) { seen.Forget(key(p)) },
	})
	server, err := page.New(page.Options{Settings: o.Page, Config: m.GetConfig(), Client: m.GetClient(), Scheme: m.GetScheme(),
		CloudOf: cloudTitles(), Memory: seen, Metrics: ctrlmetrics.Registry,
		Plan: func(ctx context.Context, c client.Client, r viewpage.PlanRequest) ([]plan.Plan, error) {
			return planAs(ctx, c, r, o)
		}})
	if err != nil {
		return err
	}
	if err := m.Add(server); err != nil {
		return fmt.Errorf("add the page: %w", err)
	}
	return nil
}

// planAs makes plans as the user of a client: also Secrets, which name credentials of clouds, are read as that user.
func planAs(ctx context.Context, c client.Client, r viewpage.PlanRequest, o Options) ([]plan.Plan, error) {
	once := preview.ReadOnce(c)
	planners, err := Planners(once, preview.NewClusters(preview.ConnectBySecret(once)), o)
	if err != nil {
		return nil, err
	}
	return plan.Build(ctx, plan.Request{Client: c, Hub: Hub(once), Planners: planners, Namespace: r.Namespace, Manifests: r.Manifests,
		Kind: r.Kind, Name: r.Name, Set: r.Set})
}

// cloudTitles returns the titles of the clouds by the kinds of their pools.
func cloudTitles() func(kind string) string {
	titles := map[string]string{}
	for _, p := range all.Providers() {
		for _, c := range p.Controllers {
			titles[c.Kind.Kind] = p.Title
		}
	}
	return func(kind string) string { return titles[kind] }
}
