// Package gather reads the installation that package doctor examines from a management cluster. It writes nothing, except reviews of
// access, which the API server answers and does not keep.
package gather

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/kube/infrapool/identity"
	"github.com/muster-project/muster/providers"
	"github.com/muster-project/muster/view/doctor"
)

// Options holds the parameters of the comparison.
type Options struct {
	// Client of the management cluster, whose scheme has Kubernetes' and Cluster API's kinds.
	Client client.Client
	// Providers of this build.
	Providers []providers.Provider
	// Release is the version of this build; empty if it is no release. Local is true in a world of "muster up".
	Release string
	Local   bool
	// IdentityNamespace holds the secrets of identities that lie in no namespace; empty takes the manager's namespace.
	IdentityNamespace string
	Now               time.Time
}

// gatherer reads into its Installation. Managers come first, because they say where the rest is.
type gatherer struct {
	Options
	found doctor.Installation
}

// Installation reads all that there is. What the user may not read is in its Unread; an error means that the API server does not answer.
func Installation(ctx context.Context, o Options) (doctor.Installation, error) {
	g := &gatherer{Options: o, found: doctor.Installation{
		Now: o.Now, Local: o.Local, Release: o.Release, Unread: map[string]string{}, Services: map[string]doctor.Service{},
	}}
	for _, p := range o.Providers {
		g.found.Providers = append(g.found.Providers, described(p))
	}
	if err := g.definitions(ctx); err != nil {
		return g.found, fmt.Errorf("read the management cluster: %w", err)
	}
	for _, step := range []struct {
		read   func(context.Context) error
		checks []string
	}{
		{g.managers, []string{doctor.CheckManager, doctor.CheckControllers, doctor.CheckGates}},
		{g.conversions, []string{doctor.CheckDefinitions}},
		{g.webhooks, []string{doctor.CheckWebhooks}},
		{g.rights, []string{doctor.CheckRights}},
		{g.pools, []string{doctor.CheckPools, doctor.CheckPermissions}},
		{g.policies, []string{doctor.CheckPolicies}},
		{g.identities, []string{doctor.CheckCredentials}},
	} {
		err := step.read(ctx)
		if ctx.Err() != nil {
			return g.found, fmt.Errorf("read the management cluster: %w", errors.Join(err, context.Cause(ctx)))
		}
		if err == nil {
			continue
		}
		for _, name := range step.checks {
			g.found.Unread[name] = err.Error()
		}
	}
	return g.found, nil
}

// described returns the properties of a provider that the checks use.
func described(p providers.Provider) doctor.Provider {
	d := doctor.Provider{Title: p.Title, Existing: doctor.Existing(p.Existing)}
	for _, c := range p.Controllers {
		if c.Kind.Empty() {
			continue
		}
		k := doctor.Kind{GroupKind: c.Kind.GroupKind(), Controller: c.Name}
		if c.Gate != nil {
			k.Gate, k.GateDefault = string(c.Gate.Feature), c.Gate.Spec.Default
		}
		d.Kinds = append(d.Kinds, k)
	}
	return d
}

// musterNamespace is where Muster's manager runs, or would.
func (g *gatherer) musterNamespace() string {
	if m := g.muster(); m != nil {
		return m.Namespace
	}
	return identity.DefaultNamespace
}

// muster returns the first manager of Muster; nil if there is none.
func (g *gatherer) muster() *doctor.Manager {
	for i := range g.found.Managers {
		if g.found.Managers[i].Provider == doctor.MusterProvider {
			return &g.found.Managers[i]
		}
	}
	return nil
}
